package contract

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// pathCall is an operation that puts a text into its path. Each call passes id to one parameter.
type pathCall struct {
	name, field string
	path        string // the text before and after the id
	values      func(id string) []any
}

func (p pathCall) call(id string) func(context.Context, *prepaid.Client) error {
	return harness.Calling(p.name, p.values(id)...)
}

// Sections 4.2, 4.4 and 4.8: every path parameter that is a text. Operations that take only an ID follow from the table.
func pathCalls() []pathCall {
	first := func(values ...any) func(string) []any { // the id, and then values
		return func(id string) []any { return append([]any{id}, values...) }
	}
	run := func(change func(run *prepaid.ReportRun, id string), values ...any) func(string) []any {
		return func(id string) []any {
			r := prepaid.ReportRun{Template: "t", ID: "1"}
			change(&r, id)
			return append([]any{r}, values...)
		}
	}
	template := func(r *prepaid.ReportRun, id string) { r.Template = id }
	runID := func(r *prepaid.ReportRun, id string) { r.ID = id }
	prefetch := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Prefetch: 3}}
	calls := []pathCall{
		{"Accounts.Get", "id", "/accounts/{}", first(prepaid.IncludeCardholder)},
		{"Accounts.SetStatus", "id", "/accounts/{}/status", first(prepaid.SetStatusParams{Status: prepaid.AccountStatusActive})},
		{"Accounts.SetPlasticEnabled", "id", "/accounts/{}/plastic", first(prepaid.SetPlasticEnabledParams{})},
		{"Accounts.Update", "id", "/accounts/{}", first(prepaid.UpdateAccountParams{Cardholder: validCardholder()})},
		{"Accounts.Transactions", "id", "/accounts/{}/transactions", first(prefetch)},
		{"Accounts.TransactionsPage", "id", "/accounts/{}/transactions", first(prepaid.ListTransactionsParams{})},
		{"Accounts.ProvisionWallet", "id", "/accounts/{}/wallet/p", first("p", prepaid.ProvisionWalletParams{})},
		{"Accounts.ProvisionWallet", "provider", "/accounts/eaid/wallet/{}", func(id string) []any {
			return []any{"eaid", id, prepaid.ProvisionWalletParams{}}
		}},
		{"Accounts.ExchangeKey", "id", "/accounts/{}/dip", first(harness.ValidExchangeKey())},
		{"Accounts.Transfer", "id", "/accounts/{}/transfer", first(harness.ValidTransfer())},
		{"Accounts.DirectEntryOut", "id", "/accounts/{}/directentryout", first(harness.ValidDirectEntry())},
		{"Accounts.FindMovement", "account_id", "/accounts/{}/transactions", func(id string) []any {
			day := prepaid.Date{Year: 2026, Month: 1, Day: 1}.Time(nil)
			return []any{prepaid.FindMovementParams{AccountID: prepaid.AccountID(id), Amount: prepaid.Cents(1), From: day, To: day}}
		}},
		{"Reporting.Start", "template", "/reporting/templates/{}", first(prepaid.StartReportParams{})},
		{"Reporting.Run", "template", "/reporting/templates/{}", first(prepaid.RunReportParams{})},
		{"Reporting.Result", "template", "/reporting/templates/{}/reports/1", run(template)},
		{"Reporting.Result", "id", "/reporting/templates/t/reports/{}", run(runID)},
		{"Reporting.Open", "template", "/reporting/templates/{}/reports/1", run(template, prepaid.WaitOptions{})},
		{"Reporting.Open", "id", "/reporting/templates/t/reports/{}", run(runID, prepaid.WaitOptions{})},
		{"Hooks.Update", "id", "/hooks/{}", first(prepaid.UpdateHookParams{})},
		{"Hooks.Undeliverable", "id", "/hooks/{}/undeliverable", first(prepaid.Paging{})},
		{"Hooks.UndeliverablePage", "id", "/hooks/{}/undeliverable", first(prepaid.Paging{})},
		{"Hooks.Dismiss", "id", "/hooks/{}/undeliverable/dismiss", first("m")},
	}
	for _, o := range operations.All() {
		if harness.OnlyID(o.Name, prepaid.AccountID(""), prepaid.HookID("")) != nil {
			calls = append(calls, pathCall{o.Name, "id", strings.Replace(o.Path, "{id}", "{}", 1), first()})
		}
	}
	return calls
}

// operation returns the operation that a call sends first.
func (p pathCall) operation(t *testing.T) operations.Operation {
	t.Helper()
	of := map[string]string{
		"Accounts.FindMovement": "Accounts.Transactions", "Reporting.Run": "Reporting.Start", "Reporting.Open": "Reporting.Result",
	}
	name := cmp.Or(of[p.name], strings.TrimSuffix(p.name, "Page"))
	all := operations.All()
	i := slices.IndexFunc(all, func(o operations.Operation) bool { return o.Name == name })
	require.NotEqual(t, -1, i, name)
	return all[i]
}

// Each text of a path has a call. A number needs none.
func TestPathCallsAreComplete(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, o := range operations.All() {
		for part := range strings.SplitSeq(o.Path, "/") {
			if strings.HasPrefix(part, "{") && part != "{companyid}" && !strings.HasPrefix(o.Path, "/policy/") {
				want = append(want, o.Name)
			}
		}
	}
	for _, p := range pathCalls() {
		if o := p.operation(t); o.Name == p.name {
			got = append(got, o.Name)
		}
	}
	require.ElementsMatch(t, want, got)
}

// An id that could climb out of its segment, or leave it empty, would call another operation. Reads escape all that cannot.
func TestValidationPathIDs(t *testing.T) {
	t.Parallel()
	const rule, climbs = `must not be "." or ".." or contain a slash, a percent sign or a control character`, `must not be or contain a segment "." or ".."`
	for _, p := range pathCalls() {
		t.Run(p.name+" "+p.field, func(t *testing.T) {
			t.Parallel()
			refused := map[string]string{
				"": "is required", ".": rule, "..": rule, "../token": rule, "qZ7x/../..": rule, `qZ7x\..`: rule, `..\token`: rule,
				"qZ7x\xff": "must be valid UTF-8",
			}
			sent := []string{"a", "...", "a b", "a?b#c", "é😀", ";a=b", "a:b@c", "~", "+", "&", "null", strings.Repeat("x", 500)}
			special := []string{
				"/", "%2e%2e", "%2F", "50%", "qZ7x/b?c", "qZ7x\ny", "qZ7x\r\nHost: evil", "qZ7x\x00", "\t", "qZ7x\x7f", "qZ7x/", "//qZ7x", `qZ7x\y`,
			}
			if p.operation(t).Safety == "read" { // it escapes the id
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
