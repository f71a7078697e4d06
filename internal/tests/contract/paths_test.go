package contract

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
)

// pathCall puts an id into a path.
type pathCall struct {
	operation, field string
	path             string // the text before and after the id
	call             func(id string) func(context.Context, *prepaid.Client) error
}

// pathCalls returns a call for each text in the path of each operation, and those of methods with other params.
func pathCalls() (calls []pathCall) {
	for _, o := range reference.Read().Operations {
		for _, p := range o.Params {
			if p.In != "path" || p.Schema.Type[0] == "integer" || p.Name == "companyid" {
				continue
			}
			r := sample.NewRequest(o, false)
			field := cmp.Or(map[string]string{"templatename": "template", "reportid": "id"}[p.Name], p.Name)
			template := strings.Replace(r.Target(), "/"+url.PathEscape(r.Path[p.Name]), "/{}", 1)
			calls = append(calls, pathCall{o.Name, field, template, func(id string) func(context.Context, *prepaid.Client) error {
				changed := *r
				changed.Path = maps.Clone(r.Path)
				changed.Path[p.Name] = id
				return calling(&changed)
			}})
		}
	}
	day := prepaid.Date{Year: 2026, Month: 1, Day: 1}.Time(nil)
	other := func(operation, method, field, path string, values func(id string) []any) {
		calls = append(calls, pathCall{operation, field, path, func(id string) func(context.Context, *prepaid.Client) error {
			return harness.Calling(method, values(id)...)
		}})
	}
	other("Accounts.Transactions", "Accounts.TransactionsPage", "id", "/accounts/{}/transactions", func(id string) []any { return []any{id, prepaid.ListTransactionsParams{}} })
	other("Accounts.Transactions", "Accounts.FindMovement", "account_id", "/accounts/{}/transactions", func(id string) []any {
		return []any{prepaid.FindMovementParams{AccountID: prepaid.AccountID(id), Amount: prepaid.Cents(1), From: day, To: day}}
	})
	other("Reporting.Start", "Reporting.Run", "template", "/reporting/templates/{}", func(id string) []any { return []any{id, prepaid.RunReportParams{}} })
	other("Reporting.Result", "Reporting.Open", "id", "/reporting/templates/t/reports/{}", func(id string) []any {
		return []any{prepaid.ReportRun{Template: "t", ID: id}, prepaid.RunReportParams{}}
	})
	return calls
}

// An id that could climb out of its segment, or leave it empty, would call another operation. Reads escape all that cannot.
func TestPathValues(t *testing.T) {
	t.Parallel()
	const rule, climbs = `must not be "." or ".." or contain a slash, a percent sign or a control character`, `must not be or contain a segment "." or ".."`
	for _, p := range pathCalls() {
		t.Run(p.operation+" "+p.path, func(t *testing.T) {
			t.Parallel()
			refused := map[string]string{
				"": "is required", ".": rule, "..": rule, "../token": rule, "qZ7x/../..": rule, `qZ7x\..`: rule, `..\token`: rule,
				"qZ7x\xff": "must be valid UTF-8",
			}
			sent := []string{"a", "...", "a b", "a?b#c", "é😀", ";a=b", "a:b@c", "~", "+", "&", "null", strings.Repeat("x", 500)}
			special := []string{
				"/", "%2e%2e", "%2F", "50%", "qZ7x/b?c", "qZ7x\ny", "qZ7x\r\nHost: evil", "qZ7x\x00", "\t", "qZ7x\x7f", "qZ7x/", "//qZ7x", `qZ7x\y`,
			}
			if reference.Read().Operation(p.operation).Safety == "read" { // it escapes the id
				for id, want := range refused {
					if want == rule {
						refused[id] = climbs
					}
				}
				sent = append(sent, special...)
			} else {
				for _, id := range special {
					refused[id] = rule
				}
			}
			for id, want := range refused {
				err := sendsNothing(t, p.call(id))
				requireRefusal(t, err, "qZ7x", harness.Fault{Field: p.field, Rule: want})
				require.NotContains(t, err.Error(), "evil")
				require.NotContains(t, err.Error(), "token")
			}
			// Everything else is the operator's affair, and stays one segment.
			for _, id := range sent {
				sent := sends(t, "legal id", p.call(id))
				require.Equal(t, "/3.0"+strings.Replace(p.path, "{}", url.PathEscape(id), 1), sent.path)
				require.NotContains(t, sent.query, "b#c")
			}
		})
	}
}
