package internal_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/hooks"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
	"github.com/cardprograms/prepaid/prepaidtest/internal/simulator"
)

// If you add a field, save and restore it, and raise the number of its type here. A type that is not listed
// has no saved state: the options define it, or it is a log.
func TestSave_NoFieldIsForgotten(t *testing.T) {
	t.Parallel()
	const internal = "/prepaidtest/internal/"
	fields := make(map[string]int)
	var walk func(reflect.Type)
	walk = func(kind reflect.Type) {
		switch kind.Kind() {
		case reflect.Map:
			walk(kind.Key())
			walk(kind.Elem())
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(kind.Elem())
		case reflect.Struct:
			name := kind.String()
			if _, seen := fields[name]; seen || !strings.Contains(kind.PkgPath(), internal) {
				return
			}
			fields[name] = kind.NumField()
			for field := range kind.Fields() {
				walk(field.Type)
			}
		}
	}
	for _, kind := range []reflect.Type{reflect.TypeFor[service.Service](), reflect.TypeFor[hooks.Task](), reflect.TypeFor[simulator.Task]()} {
		walk(kind)
	}
	for name, want := range map[string]int{
		"ledger.books":   7,                      // three from the options
		"ledger.Company": 2, "ledger.Account": 8, // the last two are found again
		"ledger.Item": 5, "ledger.Entry": 6, "ledger.Merchant": 4,
		"policy.Policies": 3, "policy.Policy": 4,
		"transfers.Transfers": 9, "transfers.cachedTransfer": 3, // running ones are lost; serial: a restored one was cached before
		"simulator.Simulator": 6, "simulator.Authorisation": 7, "simulator.Task": 3, "simulator.Input": 6, // the place is only checked
		"funding.Funding": 3, "funding.Redemption": 7,
		"reports.Reports": 7, "reports.Template": 2, "reports.run": 8,
		"accounts.Accounts": 4, "accounts.KeyExchange": 4, "accounts.Key": 2,
		"pin.PINs": 7, "pin.Identity": 2,
		"hooks.Config": 7, "hooks.Hook": 8, "hooks.Task": 4,
		"gate.Tokens": 5,
		"ids.Source":  4,
	} {
		require.Equal(t, want, fields[name], "%s: save and restore the new field, or do without", name)
	}
}
