package limits

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
	call        func(ctx context.Context, c *prepaid.Client, id string) error
}

// Sections 4.2, 4.4 and 4.8: every path parameter that is a text. Operations that take only an ID follow from the table.
func pathCalls() []pathCall {
	calls := []pathCall{
		{"Accounts.Get", "id", "/accounts/{}", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Accounts.Get(ctx, prepaid.AccountID(id), prepaid.IncludeCardholder)
			return err
		}},
		{"Accounts.SetStatus", "id", "/accounts/{}/status", func(ctx context.Context, c *prepaid.Client, id string) error {
			return c.Accounts.SetStatus(ctx, prepaid.AccountID(id), prepaid.SetStatusParams{Status: prepaid.AccountStatusActive})
		}},
		{"Accounts.SetPlasticEnabled", "id", "/accounts/{}/plastic", func(ctx context.Context, c *prepaid.Client, id string) error {
			return c.Accounts.SetPlasticEnabled(ctx, prepaid.AccountID(id), prepaid.SetPlasticEnabledParams{})
		}},
		{"Accounts.Update", "id", "/accounts/{}", func(ctx context.Context, c *prepaid.Client, id string) error {
			return c.Accounts.Update(ctx, prepaid.AccountID(id), prepaid.UpdateAccountParams{Cardholder: validCardholder()})
		}},
		{"Accounts.Transactions", "id", "/accounts/{}/transactions", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := prepaid.Collect(c.Accounts.Transactions(ctx, prepaid.AccountID(id), prepaid.ListTransactionsParams{Paging: prepaid.Paging{Prefetch: 3}}), 1)
			return err
		}},
		{"Accounts.TransactionsPage", "id", "/accounts/{}/transactions", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Accounts.TransactionsPage(ctx, prepaid.AccountID(id), prepaid.ListTransactionsParams{})
			return err
		}},
		{"Accounts.ProvisionWallet", "id", "/accounts/{}/wallet/p", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Accounts.ProvisionWallet(ctx, prepaid.AccountID(id), "p", prepaid.ProvisionWalletParams{})
			return err
		}},
		{"Accounts.ProvisionWallet", "provider", "/accounts/eaid/wallet/{}", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Accounts.ProvisionWallet(ctx, "eaid", prepaid.WalletProvider(id), prepaid.ProvisionWalletParams{})
			return err
		}},
		{"Accounts.ExchangeKey", "id", "/accounts/{}/dip", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Accounts.ExchangeKey(ctx, prepaid.AccountID(id), harness.ValidExchangeKey())
			return err
		}},
		{"Accounts.Transfer", "id", "/accounts/{}/transfer", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Accounts.Transfer(ctx, prepaid.AccountID(id), harness.ValidTransfer())
			return err
		}},
		{"Accounts.DirectEntryOut", "id", "/accounts/{}/directentryout", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Accounts.DirectEntryOut(ctx, prepaid.AccountID(id), harness.ValidDirectEntry())
			return err
		}},
		{"Accounts.FindMovement", "account_id", "/accounts/{}/transactions", func(ctx context.Context, c *prepaid.Client, id string) error {
			day := prepaid.Date{Year: 2026, Month: 1, Day: 1}.Time(nil)
			_, err := c.Accounts.FindMovement(ctx, prepaid.FindMovementParams{AccountID: prepaid.AccountID(id), Amount: prepaid.Cents(1), From: day, To: day})
			return err
		}},
		{"Reporting.Start", "template", "/reporting/templates/{}", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Reporting.Start(ctx, id, prepaid.StartReportParams{})
			return err
		}},
		{"Reporting.Run", "template", "/reporting/templates/{}", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Reporting.Run(ctx, id, prepaid.RunReportParams{})
			return err
		}},
		{"Reporting.Result", "template", "/reporting/templates/{}/reports/1", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Reporting.Result(ctx, prepaid.ReportRun{Template: id, ID: "1"})
			return err
		}},
		{"Reporting.Result", "id", "/reporting/templates/t/reports/{}", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Reporting.Result(ctx, prepaid.ReportRun{Template: "t", ID: id})
			return err
		}},
		{"Reporting.Open", "template", "/reporting/templates/{}/reports/1", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Reporting.Open(ctx, prepaid.ReportRun{Template: id, ID: "1"}, prepaid.WaitOptions{})
			return err
		}},
		{"Reporting.Open", "id", "/reporting/templates/t/reports/{}", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Reporting.Open(ctx, prepaid.ReportRun{Template: "t", ID: id}, prepaid.WaitOptions{})
			return err
		}},
		{"Hooks.Update", "id", "/hooks/{}", func(ctx context.Context, c *prepaid.Client, id string) error {
			return c.Hooks.Update(ctx, prepaid.HookID(id), prepaid.UpdateHookParams{})
		}},
		{"Hooks.Undeliverable", "id", "/hooks/{}/undeliverable", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := prepaid.Collect(c.Hooks.Undeliverable(ctx, prepaid.HookID(id), prepaid.Paging{}), 1)
			return err
		}},
		{"Hooks.UndeliverablePage", "id", "/hooks/{}/undeliverable", func(ctx context.Context, c *prepaid.Client, id string) error {
			_, err := c.Hooks.UndeliverablePage(ctx, prepaid.HookID(id), prepaid.Paging{})
			return err
		}},
		{"Hooks.Dismiss", "id", "/hooks/{}/undeliverable/dismiss", func(ctx context.Context, c *prepaid.Client, id string) error {
			return c.Hooks.Dismiss(ctx, prepaid.HookID(id), "m")
		}},
	}
	for _, o := range operations.All() {
		if harness.OnlyID(o.Name, prepaid.AccountID(""), prepaid.HookID("")) != nil {
			calls = append(calls, pathCall{o.Name, "id", strings.Replace(o.Path, "{id}", "{}", 1), func(ctx context.Context, c *prepaid.Client, id string) error {
				_, err := harness.Call(ctx, c, o.Name, harness.OnlyID(o.Name, prepaid.AccountID(id), prepaid.HookID(id)))
				return err
			}})
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
				err := sendsNothing(t, func(ctx context.Context, c *prepaid.Client) error { return p.call(ctx, c, id) })
				requireRefusal(t, err, "qZ7x", harness.Fault{Field: p.field, Rule: want})
				require.NotContains(t, err.Error(), "evil")
				require.NotContains(t, err.Error(), "token")
			}
			// Everything else is the operator's affair, and stays one segment.
			for _, id := range sent {
				sent := sends(t, "legal id", func(ctx context.Context, c *prepaid.Client) error { return p.call(ctx, c, id) })
				require.Equal(t, "/3.0"+strings.Replace(p.path, "{}", url.PathEscape(id), 1), sent.path)
				require.NotContains(t, sent.query, "b#c")
			}
		})
	}
}
