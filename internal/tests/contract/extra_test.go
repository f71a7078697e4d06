package contract

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Further members are sent after all others, and never replace one.
func TestExtraMembers(t *testing.T) {
	t.Parallel()
	met := 0
	for _, o := range reference.Read().Operations {
		if o.Lane != "money" && o.Section != "4.6" {
			continue
		}
		met++
		with := func(extra string) []any { // the arguments with further members
			return changed(t, o, func(params reflect.Value) { params.FieldByName("Extra").SetString(extra) })
		}
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			plain, _ := strings.CutSuffix(sends(t, "plain", harness.Calling(o.Name, with("")...)).body, "}")
			sent := sends(t, "extra", harness.Calling(o.Name, with(` {"z":{"b": 1.10, "a":[2, 1]}, "A-9":12345678901234567890, "m":"\u00e9\/" }`)...)).body
			require.Equal(t, plain+`,"A-9":12345678901234567890,"m":"é/","z":{"a":[2,1],"b":1.10}}`, sent)
			refuses := func(field, rule, extra string) {
				fault := harness.Fault{Field: field, Rule: rule}
				requireRefusal(t, sendsNothing(t, harness.Calling(o.Name, with(extra)...)), "q7Zx", fault)
				requireRefusal(t, sendsNothingWith(t, skipping(), harness.Calling(o.Name, with(extra)...)), "q7Zx", fault)
				values := with(extra)
				if payment, ok := values[len(values)-1].(prepaid.PaymentParams); ok {
					harness.RequireFaults(t, payment.Validate(), "q7Zx", fault)
				}
			}
			names := []string{}
			for _, member := range o.Request.JSON().Properties {
				names = append(names, member.Name)
			}
			if o.Safety == "keyed" {
				names = append(names, "id", "account_id")
			}
			for _, name := range names {
				careless := strings.ReplaceAll(strings.ToUpper(name), "_", "-")
				for _, spelled := range []string{name, fmt.Sprintf(`\u%04x`, careless[0]) + careless[1:], strings.ReplaceAll(name, "_", "")} {
					refuses("extra."+name, "is a member of the request already", `{"q7Zx":"q7Zx","`+spelled+`":"q7Zx"}`)
				}
				sends(t, "another name", harness.Calling(o.Name, with(`{"new_`+name+`":"q7Zx"}`)...))
			}
			for _, bad := range []string{
				"q7Zx", `"q7Zx"`, `["q7Zx"]`, `{"q7Zx":1`, `{"q7Zx":1}{}`, "{\"q7Zx\":\"\xff\"}", "null", "{}", " ",
				`{"q7Zx":1,"q7Zx":1}`, `{"a":{"q7Zx":1,"q7Zx":1}}`, `{"a":"` + strings.Repeat("q7Zx", 1022) + `x"}`,
			} {
				refuses("extra", "must be a JSON object with members, none of them twice, of at most 4096 bytes", bad)
			}
			sends(t, "4096 bytes", harness.Calling(o.Name, with(`{"a":"`+strings.Repeat("q7Zx", 1022)+`"}`)...))
			for _, bad := range []string{`{"":1}`, `{"_":1}`, `{"q7Zx q7Zx":1}`, `{"q7Zx.a":1}`, `{"q7Zx\u017f":1}`, `{"q_7zx":1,"q7Zx":1}`} {
				refuses("extra", "must have names of letters, digits, '_' and '-' that differ in more than case, '_' and '-'", bad)
			}
			sends(t, "names", harness.Calling(o.Name, with(`{"A-z_0":null}`)...))
		})
	}
	require.Equal(t, 10, met)
}

// Values that SkipValueChecks admits are sent as they are; TestLimits shows the members of bodies.
func TestSkipValueChecksSendsTheValues(t *testing.T) {
	t.Parallel()
	sent := sendsWith(t, skipping(), "search", harness.Calling("Accounts.SearchCompanyPage", 7, prepaid.SearchCompanyParams{Status: "frozen", Include: []prepaid.Include{prepaid.IncludeBPay}}))
	require.Contains(t, sent.query, "status=frozen&with_bpay=1")
	sent = sendsWith(t, skipping(), "policy change", harness.Calling("Policy.ChangeCategories", 7, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"12345"}}))
	require.JSONEq(t, `{"add":[12345]}`, sent.body)
}
