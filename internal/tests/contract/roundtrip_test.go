package contract

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// tripCase is an exported struct that partners may keep in a queue, a journal or a file.
type tripCase struct {
	name   string
	secret bool // has a Secret, which JSON redacts: reading it back is an error
	trip   func(t *testing.T, c tripCase)
}

func trip[T any]() tripCase { return tripCase{reflect.TypeFor[T]().Name(), false, makeTrip[T]} }

func secretTrip[T any]() tripCase { return tripCase{reflect.TypeFor[T]().Name(), true, makeTrip[T]} }

// options are the options that go-json-experiment needs: it needs an option to marshal a time.Duration in nanoseconds,
// as encoding/json does.
func (c tripCase) options() jsonv2.Options {
	return jsonv1.FormatDurationAsNano(c.name == "Config" || c.name == "RetryPolicy")
}

func tripCases() []tripCase {
	return []tripCase{
		trip[prepaid.Account](), trip[prepaid.AccountSummary](), trip[prepaid.Address](), trip[prepaid.AlternateAddress](), trip[prepaid.BankAccount](),
		trip[prepaid.Cardholder](), trip[prepaid.CategoryRule](), secretTrip[prepaid.Config](), trip[prepaid.CreateAccountParams](),
		secretTrip[prepaid.CreateHookParams](), trip[prepaid.CreatedHook](), secretTrip[prepaid.Credentials](), trip[prepaid.DirectEntryOutParams](),
		secretTrip[prepaid.ExchangeKeyParams](), trip[prepaid.FreeText](), trip[prepaid.FundingResult](), trip[prepaid.Hook](),
		trip[prepaid.InitiatePINParams](), trip[prepaid.MerchantCategory](), trip[prepaid.MerchantKey](), trip[prepaid.MerchantRule](),
		trip[prepaid.PINEnvelope](), trip[prepaid.Passport](), trip[prepaid.Policy](), trip[prepaid.PortalIdentifier](), trip[prepaid.ProvisionWalletParams](),
		trip[prepaid.RedeemFundingParams](), trip[prepaid.RefundFundingParams](), trip[prepaid.Report](), trip[prepaid.ReportRun](),
		trip[prepaid.RestrictionCategoryRule](), trip[prepaid.RestrictionTerminalRule](), trip[prepaid.Restrictions](), trip[prepaid.RetryPolicy](),
		trip[prepaid.ReverseFundingParams](), trip[prepaid.SealedPINParams](), trip[prepaid.SetPlasticEnabledParams](), trip[prepaid.SetStatusParams](), trip[prepaid.SimulateParams](),
		trip[prepaid.SimulationResult](), trip[prepaid.TerminalKey](), trip[prepaid.TerminalRule](), trip[prepaid.Transaction](), trip[prepaid.TransferParams](),
		trip[prepaid.TransferResult](), trip[prepaid.UpdateAccountParams](), secretTrip[prepaid.UpdateHookParams](), trip[prepaid.WalletDevice](),
		trip[prepaid.WalletProvisioning](), trip[prepaid.WalletToken](),
	}
}

// TestRoundTrip writes and reads every exported struct with JSON names, full and empty, with both JSON packages and
// across them.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range append(tripCases(), trip[prepaid.Message]()) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.trip(t, c)
		})
	}
}

// TestRoundTripKnowsEveryStruct finds the types in the source: the list above must have them all.
func TestRoundTripKnowsEveryStruct(t *testing.T) {
	t.Parallel()
	var listed, found []string
	for _, c := range tripCases() {
		listed = append(listed, c.name)
	}
	for _, file := range tree.Source(t) {
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() && hasJSONNames(spec) {
					found = append(found, spec.Name.Name)
				}
			}
		}
	}
	require.ElementsMatch(t, listed, found)
}

func hasJSONNames(spec *ast.TypeSpec) bool {
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return false
	}
	for _, field := range structure.Fields.List {
		if field.Tag != nil && strings.Contains(field.Tag.Value, `json:"`) {
			return true
		}
	}
	return false
}

type jsonPackage struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

func jsonPackages(options jsonv2.Options) []jsonPackage {
	return []jsonPackage{
		{"encoding/json", json.Marshal, json.Unmarshal},
		{
			"go-json-experiment/json",
			func(v any) ([]byte, error) { return jsonv2.Marshal(v, options) },
			func(data []byte, v any) error { return jsonv2.Unmarshal(data, v, options) },
		},
	}
}

func makeTrip[T any](t *testing.T, c tripCase) {
	var full, empty T
	serial := 0
	fill(reflect.ValueOf(&full).Elem(), &serial)
	for _, writer := range jsonPackages(c.options()) {
		for _, reader := range jsonPackages(c.options()) {
			name := writer.name + " to " + reader.name
			data, err := writer.marshal(full)
			require.NoError(t, err, name)
			require.NotContains(t, string(data), "canary", name)
			var back T
			err = reader.unmarshal(data, &back)
			if c.secret {
				require.ErrorIs(t, err, prepaid.ErrRedactedSecret, name)
				continue
			}
			require.NoError(t, err, "%s: %s", name, data)
			require.Equal(t, full, back, "%s: %s", name, data)

			data, err = writer.marshal(empty)
			require.NoError(t, err, name)
			var emptyBack T
			require.NoError(t, reader.unmarshal(data, &emptyBack), "%s: %s", name, data)
			again, err := writer.marshal(emptyBack)
			require.NoError(t, err, name)
			require.Equal(t, string(data), string(again), name)
		}
	}
}

// fill sets every field with a JSON name to a different value.
func fill(value reflect.Value, serial *int) {
	*serial++
	n := *serial
	switch into := value.Addr().Interface().(type) {
	case *prepaid.Amount:
		*into = prepaid.Cents(int64(100*n + 1))
		return
	case *prepaid.Date:
		*into = prepaid.Date{Year: 1900 + n, Month: time.March, Day: 4}
		return
	case *prepaid.Secret:
		*into = prepaid.NewSecret("canary")
		return
	case *prepaid.MCC:
		*into = prepaid.MCC(fmt.Sprintf("%04d", n))
		return
	case *prepaid.TransactionID:
		*into = prepaid.TransactionID(strconv.FormatInt(9007199254740993+int64(n), 10))
		return
	case *time.Time:
		*into = time.Date(2026, time.November, 20, 1, 2, n, 123456789, time.UTC)
		return
	case *prepaid.Message:
		*into = prepaid.Message{
			ID: "m", HookID: "h", Timestamp: time.Date(2026, time.November, 20, 1, 2, 3, 0, time.UTC), Type: "transaction",
			Raw: json.RawMessage(`{"id":"m","hook_id":"h","timestamp":"2026-11-20T01:02:03Z","type":"transaction","amount":1.50}`),
		}
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(fmt.Sprintf("text <%d> é", n))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int64:
		value.SetInt(int64(n))
	case reflect.Float64:
		value.SetFloat(float64(n) / 4)
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), serial)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		for i := range 2 {
			fill(value.Index(i), serial)
		}
	case reflect.Struct:
		for field, content := range value.Fields() {
			if name := field.Tag.Get("json"); name != "" && name != "-" {
				fill(content, serial)
			}
		}
	default:
		panic("no example of " + value.Type().String())
	}
}
