package privacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// Every text of every exported struct type holds a canary of its own, and the types are printed in every way. No canary
// may be seen but those of shownFields: a new field fails here until it redacts itself or is listed there with a
// reason.

// canaryType is an exported struct type, filled with canaries.
type canaryType struct {
	name   string
	values map[string]any  // the value, its pointer, and both inside other things
	direct []string        // those of values that are the value itself or its pointer
	hidden any             // a caller's struct that holds the value in an unexported field
	fields map[string]bool // that hold a canary
}

// sampleOf fills a T.
func sampleOf[T any]() canaryType {
	v, fields := new(T), map[string]bool{}
	name, _, _ := strings.Cut(reflect.TypeFor[T]().Name(), "[")
	fillCanaries(reflect.ValueOf(v).Elem(), name, "", fields)
	type holder struct {
		Value   T
		Pointer *T
		Any     any
	}
	type pointerHolder struct{ pointer *T }
	type hidden struct {
		value   T
		pointer *T
		list    []T
	}
	s := canaryType{name: name, fields: fields, direct: []string{"value", "pointer"}, hidden: hidden{*v, v, []T{*v}}}
	s.values = map[string]any{
		"value": *v, "pointer": v, "list": []T{*v}, "pointers": []*T{v}, "array": [1]T{*v}, "any": []any{*v, v},
		"map": map[string]T{"k": *v}, "pointer map": map[string]*T{"k": v}, "holder": holder{*v, v, *v},
		"holder pointer": &holder{*v, v, v}, "hidden pointer": pointerHolder{v}, "error": fmt.Errorf("%v %+v %#v", *v, v, *v),
	}
	return s
}

// pointerTo takes a value that cannot be copied, or has unexported fields only.
func pointerTo[T any](v *T) canaryType {
	type holder struct {
		Pointer *T
		pointer *T
	}
	name := reflect.TypeFor[T]().Name()
	return canaryType{
		name: name, direct: []string{"pointer"}, hidden: holder{pointer: v},
		values: map[string]any{"pointer": v, "pointers": []*T{v}, "any": []any{v}, "map": map[string]*T{"k": v}, "holder": holder{v, v}},
	}
}

// canaryTypes is every exported struct type that can hold a text. TestCanaryTypesAreComplete keeps it so.
func canaryTypes(t *testing.T) []canaryType {
	t.Helper()
	return []canaryType{
		sampleOf[prepaid.APIError](), sampleOf[prepaid.Account](), sampleOf[prepaid.AccountSummary](), sampleOf[prepaid.Address](), sampleOf[prepaid.AlternateAddress](),
		sampleOf[prepaid.Attempt](), sampleOf[prepaid.BankAccount](), sampleOf[prepaid.CallError](), sampleOf[prepaid.CallSummary](), sampleOf[prepaid.Cardholder](),
		sampleOf[prepaid.CategoryRule](), sampleOf[prepaid.ChangeCategoriesParams](), sampleOf[prepaid.ChangeMerchantsParams](), sampleOf[prepaid.ChangeTerminalsParams](),
		sampleOf[prepaid.CheckResult](), sampleOf[prepaid.Config](), sampleOf[prepaid.CreateAccountParams](), sampleOf[prepaid.CreateHookParams](), sampleOf[prepaid.CreatedHook](), sampleOf[prepaid.EnsureCategoriesParams](),
		sampleOf[prepaid.EnsureMerchantsParams](), sampleOf[prepaid.EnsureTerminalsParams](), sampleOf[prepaid.EnsuredRules[prepaid.MerchantRule]](),
		sampleOf[prepaid.Credentials](), sampleOf[prepaid.DecodeError](), sampleOf[prepaid.DirectEntryOutParams](), sampleOf[prepaid.ExchangeKeyParams](), sampleOf[prepaid.Fault](),
		sampleOf[prepaid.FindCreatedParams](), sampleOf[prepaid.Finding](), sampleOf[prepaid.FreeText](), sampleOf[prepaid.FundingResult](), sampleOf[prepaid.Hook](),
		sampleOf[prepaid.InitiatePINParams](), sampleOf[prepaid.IssueParams](), sampleOf[prepaid.Issued](), sampleOf[prepaid.KeyExchange](), sampleOf[prepaid.MerchantCategory](),
		sampleOf[prepaid.MerchantKey](), sampleOf[prepaid.MerchantRule](), sampleOf[prepaid.Message](), sampleOf[prepaid.FindMovementParams](), sampleOf[prepaid.Operation](),
		sampleOf[prepaid.PINEnvelope](), sampleOf[prepaid.PINKeyOptions](), sampleOf[prepaid.PINResponse](), sampleOf[prepaid.PINSecret](), sampleOf[prepaid.Page[prepaid.Account]](),
		sampleOf[prepaid.Passport](), sampleOf[prepaid.Policy](), sampleOf[prepaid.PortalIdentifier](), sampleOf[prepaid.ProvisionWalletParams](), sampleOf[prepaid.RawRequest](), sampleOf[prepaid.RedeemFundingParams](),
		sampleOf[prepaid.RefundFundingParams](), sampleOf[prepaid.Report](), sampleOf[prepaid.ReportError](), sampleOf[prepaid.ReportRun](), sampleOf[prepaid.ReportRunError](), sampleOf[prepaid.TransferDiagnosis](), sampleOf[prepaid.Response](),
		sampleOf[prepaid.RestrictionCategoryRule](), sampleOf[prepaid.RestrictionTerminalRule](), sampleOf[prepaid.Restrictions](), sampleOf[prepaid.ReverseFundingParams](),
		sampleOf[prepaid.SealedPINParams](), sampleOf[prepaid.SearchAccountsParams](), sampleOf[prepaid.SearchCompanyParams](), sampleOf[prepaid.SetPlasticEnabledParams](), sampleOf[prepaid.SetStatusParams](),
		sampleOf[prepaid.SimulateParams](), sampleOf[prepaid.SimulationResult](), sampleOf[prepaid.TerminalKey](), sampleOf[prepaid.TerminalRule](), sampleOf[prepaid.TokenError](),
		sampleOf[prepaid.Transaction](), sampleOf[prepaid.TransferFailedError](), sampleOf[prepaid.TransferParams](), sampleOf[prepaid.TransferResult](), sampleOf[prepaid.TransportError](),
		sampleOf[prepaid.UpdateAccountParams](), sampleOf[prepaid.UpdateHookParams](), sampleOf[prepaid.ValidationError](), sampleOf[prepaid.WalletDevice](),
		sampleOf[prepaid.WalletProvisioning](), sampleOf[prepaid.WalletToken](),
		pointerTo(canaryReader(t)), pointerTo(canaryPINKey(t)), pointerTo(new(prepaid.NewSecret(canaryOf("Secret", "value")))),
		pointerTo(new(canaryEphemeralKey(t))),
	}
}

// textless are the exported struct types that no text of a caller or the service can get into, with the reason.
var textless = map[string]string{
	"Amount": "a number; balances are not personal by themselves", "Date": "redacted by the fields that hold one",
	"IncompleteListError": "numbers", "ListHooksParams": "numbers", "ListMerchantCategoryCodesParams": "numbers", "ListTransactionsParams": "times and numbers",
	"ListUndeliverableParams": "numbers", "Overrides": "numbers and code", "Paging": "numbers", "ReportProgress": "numbers", "RetryPolicy": "numbers",
	"RunReportParams": "flags and functions", "StartReportParams": "a flag", "Trace": "functions",
	"WaitOptions": "a time and a function",
	"Client":      "TestCanaryClient", "AccountsService": "TestCanaryClient", "FundingService": "TestCanaryClient", "HooksService": "TestCanaryClient",
	"PINService": "TestCanaryClient", "PolicyService": "TestCanaryClient", "ReportingService": "TestCanaryClient", "SimulationService": "TestCanaryClient",
}

func canaryEphemeralKey(t *testing.T) prepaid.EphemeralKey {
	t.Helper()
	key, err := prepaid.EphemeralKeyFrom([]byte(canaryOf("Key", "bytes") + strings.Repeat("x", 32))[:32])
	require.NoError(t, err)
	return key
}

func TestCanaryTypesAreComplete(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, sample := range canaryTypes(t) {
		require.False(t, covered[sample.name], "%s twice", sample.name)
		covered[sample.name] = true
	}
	declared := exportedStructs(t)
	require.Greater(t, len(declared), 90, "the source was read")
	for _, name := range declared {
		_, exempt := textless[name]
		require.True(t, covered[name] != exempt, "%s: cover it in canaryTypes, or give a reason in textless", name)
	}
	for name := range textless {
		require.Contains(t, declared, name)
	}
}

// exportedStructs reads the names of the package's exported struct types from its source.
func exportedStructs(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, file := range tree.Source(t) {
		for _, declaration := range file.Decls {
			types, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range types.Specs {
				if named, ok := spec.(*ast.TypeSpec); ok && named.Name.IsExported() {
					if _, isStruct := named.Type.(*ast.StructType); isStruct {
						names = append(names, named.Name.Name)
					}
				}
			}
		}
	}
	return names
}

// requireNoCanaries fails when text shows a field that shownFields does not list.
func requireNoCanaries(t *testing.T, what, text string) {
	t.Helper()
	shown := shownFields()
	for _, field := range canariesIn(text) {
		require.NotEmpty(t, shown[field], "%s shows %s", what, field)
	}
}

func TestCanariesDoNotPrint(t *testing.T) {
	t.Parallel()
	for _, sample := range canaryTypes(t) {
		t.Run(sample.name, func(t *testing.T) {
			t.Parallel()
			for form, value := range sample.values {
				// For %w with a value that is no error, and %s with some pointers, fmt prints an error text and calls no method; go vet
				// finds both.
				verbs := []string{"%v", "%+v", "%#v", "%10v", "%s", "%q", "%d"}
				if form == "hidden pointer" {
					verbs = verbs[:4]
				}
				for _, verb := range verbs {
					requireNoCanaries(t, form+" "+verb, fmt.Sprintf(verb, value))
				}
				requireNoCanaries(t, form+" error", fmt.Errorf("call: %v %+v", value, value).Error())
				var text, asJSON bytes.Buffer
				logAll(slog.New(slog.NewTextHandler(&text, nil)), value)
				requireNoCanaries(t, form+" slog text", text.String())
				// Inside another value slog's JSON handler leaves everything to encoding/json, where personal data is by design
				// not redacted: a queue between two services would write the mask back as the name. Log the value itself, or
				// its pointer. Secrets and errors are safe either way.
				logAll(slog.New(slog.NewJSONHandler(&asJSON, nil)), value)
				if slices.Contains(sample.direct, form) || form == "error" {
					requireNoCanaries(t, form+" slog JSON", asJSON.String())
				}
				response := []string{"apierror.description", "apierror.header", "apierror.headerkey", "apierror.body"}
				requireNoSecrets(t, form+" slog JSON", asJSON.String(), response...)
				data, err := json.Marshal(value)
				requireNoSecrets(t, form+" JSON", fmt.Sprint(string(data), err), response...)
			}
			// fmt cannot call methods of the value of an unexported field, and reads plain texts there. A caller that keeps
			// personal data in one keeps it by pointer ("hidden pointer" above). Secrets are safe either way.
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
				requireNoSecrets(t, "hidden "+verb, fmt.Sprintf(verb, sample.hidden))
			}
		})
	}
}

// logAll logs value in each way that a caller may.
func logAll(log *slog.Logger, value any) {
	log.Info("m", "value", value)
	log.With("with", value).WithGroup("g").Info("m", slog.Group("h", slog.Any("value", value)))
	if err, ok := value.(error); ok {
		log.Error(err.Error(), "error", err)
	}
}

// secretFields are the fields of type Secret.
var secretFields = sync.OnceValue(func() map[string]bool {
	secret := map[string]bool{"secret.value": true}
	for _, sample := range []reflect.Type{
		reflect.TypeFor[prepaid.Credentials](), reflect.TypeFor[prepaid.PINSecret](), reflect.TypeFor[prepaid.ExchangeKeyParams](),
		reflect.TypeFor[prepaid.CreateHookParams](), reflect.TypeFor[prepaid.UpdateHookParams](),
	} {
		for field := range sample.Fields() {
			if field.Type == reflect.TypeFor[prepaid.Secret]() {
				secret[strings.ToLower(sample.Name()+"."+field.Name)] = true
			}
		}
	}
	return secret
})

// requireNoSecrets fails when text shows a Secret or one of the fields named.
func requireNoSecrets(t *testing.T, what, text string, named ...string) {
	t.Helper()
	for _, field := range canariesIn(text) {
		require.False(t, secretFields()[field] || slices.Contains(named, field), "%s shows %s", what, field)
	}
}
