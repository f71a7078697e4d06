package prepaidtest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/pin"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
)

// fill sets every field to a different value.
func fill(v reflect.Value, n *int) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Bool:
		v.SetBool(true)
	default:
		*n++
		v.SetString(fmt.Sprint("value ", *n))
	}
}

// With shared types that have a meaning, client and emulator could share a bug. IDs have none: no code interprets them.
func TestOnlyIDsAreShared(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	shared := make(map[string]bool)
	for _, name := range files {
		if name == "client.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if from, ok := s.X.(*ast.Ident); ok && from.Name == "prepaid" {
					shared[s.Sel.Name] = true
				}
			}
			return true
		})
	}
	require.Equal(t, map[string]bool{
		"AccountID": true, "CompanyID": true, "HookID": true, "MessageID": true, "RequestID": true, "TransactionID": true,
	}, shared)
}

// Seeds and views have the same members as the ledger's types, under the same names.
func TestConversionsLoseNothing(t *testing.T) {
	t.Parallel()
	same := func(want, got any) {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		other, err := json.Marshal(got)
		require.NoError(t, err)
		require.Equal(t, string(text), string(other))
	}
	var person Cardholder
	fill(reflect.ValueOf(&person).Elem(), new(int))
	held := converter[ledger.Personal, Cardholder]()(person)
	same(person, held)
	require.Equal(t, person, converter[Cardholder, ledger.Personal]()(held))
	held.Passport.Number = "changed"
	require.NotEqual(t, "changed", person.Passport.Number, "a copy")

	var wallet WalletToken
	fill(reflect.ValueOf(&wallet).Elem(), new(int))
	same(wallet, fromWalletToken(wallet))
	require.Equal(t, wallet, converter[WalletToken, ledger.WalletToken]()(fromWalletToken(wallet)))

	require.Equal(t, person, converter[Cardholder, ledger.Personal]()(SeedAccount{Cardholder: &person}.internal().Cardholder))
}

// A field with another spelling on the other side would be omitted.
func TestFieldsHaveTheSameNames(t *testing.T) {
	t.Parallel()
	missing := func(of, in reflect.Type) []string {
		names := []string{}
		for field := range of.Fields() {
			if _, found := in.FieldByName(field.Name); !found {
				names = append(names, field.Name)
			}
		}
		return names
	}
	require.Equal(t, []string{"ClientID", "Activatable", "FirstTransaction", "LastTransaction", "Transactions", "PINSet"},
		missing(reflect.TypeFor[AccountState](), reflect.TypeFor[ledger.Account]()))
	require.Equal(t, []string{"PlasticDisabled"}, missing(reflect.TypeFor[SeedAccount](), reflect.TypeFor[ledger.AccountData]()))
	require.Equal(t, []string{"Description"}, missing(reflect.TypeFor[Transaction](), reflect.TypeFor[ledger.Item]()))
	require.Empty(t, missing(reflect.TypeFor[Authorization](), reflect.TypeFor[simulator.Authorisation]()))
	require.Empty(t, missing(reflect.TypeFor[Company](), reflect.TypeFor[ledger.CompanyData]()))
	require.Equal(t, []string{"DefaultAction"}, missing(reflect.TypeFor[Policy](), reflect.TypeFor[policy.Policy]()))
	require.Empty(t, missing(reflect.TypeFor[PolicyMerchant](), reflect.TypeFor[policy.MerchantRule]()))
	require.Empty(t, missing(reflect.TypeFor[PolicyTerminal](), reflect.TypeFor[policy.TerminalRule]()))
	require.Empty(t, missing(reflect.TypeFor[PINChange](), reflect.TypeFor[pin.Change]()))
	require.Equal(t, []string{"Queued"}, missing(reflect.TypeFor[HookState](), reflect.TypeFor[hooks.Hook]()))
	require.Empty(t, missing(reflect.TypeFor[MessageState](), reflect.TypeFor[hooks.Message]()))
	require.Empty(t, missing(reflect.TypeFor[ledger.Merchant](), reflect.TypeFor[Simulation]()))
}
