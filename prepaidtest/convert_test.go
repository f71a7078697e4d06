package prepaidtest

import (
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

// A test that changes what it seeded or inspects does not change the server.
func TestAccountsAreCopied(t *testing.T) {
	t.Parallel()
	var person Cardholder
	fill(reflect.ValueOf(&person).Elem(), new(int))
	copied := person.Clone()
	require.Equal(t, person, copied)
	copied.Passport.Number, copied.AlternateAddress.City = "changed", "changed"
	require.NotEqual(t, "changed", person.Passport.Number)
	require.NotEqual(t, "changed", person.AlternateAddress.City)
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
