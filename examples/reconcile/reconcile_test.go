package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestDemonstration(t *testing.T) {
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	require.Zero(t, run(t.Context(), time.Now(), []string{"-dir", dir}, &stdout, &stderr), stdout.String()+stderr.String())
	require.Empty(t, stderr.String())
	expected, err := os.ReadFile("expect.txt")
	require.NoError(t, err)
	for pattern := range strings.Lines(string(expected)) {
		require.Regexp(t, "(?m)"+strings.TrimRight(pattern, "\n"), stdout.String())
	}
	var o outcome
	o.read(t, dir)
	require.Contains(t, stdout.String(), fmt.Sprintf("Accounts 33, transactions %d,", len(o.rows)))
}

// history has a transaction at each edge of October 2026 in Sydney, where clocks change on the 4th.
const history = `{"accounts": [{"account_id": "EA1", "transactions": [
	{"type": "2950", "amount": 100, "occurred_at": "2026-09-01T00:00:00Z", "reference": "for Ada"},
	{"type": "1118", "amount": -10, "occurred_at": "2026-09-30T13:59:59Z"},
	{"type": "2950", "amount": 50.25, "occurred_at": "2026-09-30T14:00:00Z", "reference": "for Ada", "card_acceptor_id": "ADASHOP"},
	{"type": "1141", "amount": -20, "fee_amount": 2.5, "occurred_at": "2026-10-15T00:00:00Z"},
	{"type": "1118", "amount": -0.75, "occurred_at": "2026-10-31T12:59:59Z"},
	{"type": "1118", "amount": -7, "fee_amount": 0.5, "occurred_at": "2026-10-31T13:00:00Z"},
	{"type": "1118", "amount": -1, "occurred_at": "2026-11-02T00:00:00Z"}],
	"display_name": "Ada's card", "name_on_card": "ADA-EXAMPLE"}]}`

func october(t *testing.T, f *front, args ...string) outcome {
	t.Helper()
	f.load(t, history)
	return runIn(t, t.TempDir(), append([]string{"-from", "2026-10-01", "-to", "2026-10-31", "-zone", "Australia/Sydney"}, args...)...)
}

// atNovember is the emulator's time.
func atNovember(pages prepaidtest.PageSizes) prepaidtest.Options {
	return prepaidtest.Options{PageSizes: pages, StartAt: time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)}
}

func TestWindow(t *testing.T) {
	f := service(t, atNovember(prepaidtest.PageSizes{}))
	o := october(t, f)
	require.Zero(t, o.code, o.out+o.errOut)
	require.Len(t, o.rows, 3)
	for i, want := range []string{
		"2026-09-30T14:00:00Z,2950,50.25,0.00,140.25,AUD", "2026-10-15T00:00:00Z,1141,-20.00,2.50,117.75,AUD",
		"2026-10-31T12:59:59Z,1118,-0.75,0.00,117.00,AUD",
	} {
		require.Equal(t, "EA1", o.rows[i][0])
		require.Equal(t, want, strings.Join(o.rows[i][3:], ","))
	}
	require.Contains(t, o.out, `Company 42, 2026-10-01 to 2026-10-31 (Australia/Sydney)

  Accounts 1, transactions 3, amounts in AUD

  Opening balance               90.00
  Credits                       50.25
  Debits                       -20.75
  Fees                          -2.50
  Closing balance              117.00
  Not explained                  0.00

Every account reconciles: 1.
`)
	all := fmt.Sprint(o.rows)
	for _, private := range []string{"Ada", "ADA", "EXAMPLE"} {
		require.NotContains(t, all, private)
	}
}

// Pages of two: reading an account takes several. All transactions appear once and in order.
func TestPages(t *testing.T) {
	f := service(t, atNovember(prepaidtest.PageSizes{Least: 1, Normal: 1, Most: 2}))
	for range 3 {
		f.AddAccount(prepaidtest.SeedAccount{Balance: "5"})
	}
	o := october(t, f, "-from", "2026-09-01", "-to", "2026-11-30")
	require.Zero(t, o.code, o.out+o.errOut)
	require.Len(t, o.rows, 10)
	var want []string
	for _, id := range f.AccountIDs() {
		for _, item := range f.Transactions(id) {
			want = append(want, string(item.ID))
		}
	}
	require.Equal(t, want, o.ids())
	require.Contains(t, o.out, "Every account reconciles: 4.")
}

func TestClient(t *testing.T) {
	f := service(t, atNovember(prepaidtest.PageSizes{}))
	o := october(t, f, "-client", "other")
	require.Equal(t, 1, o.code)
	require.Equal(t, "reconcile: no accounts found\n", o.errOut)
	require.Empty(t, o.rows)
}

// An account that changes while it is read is read again if needed. Each transaction is in the file once.
func TestMoves(t *testing.T) {
	const again = "Readings repeated because the account changed: 1"
	for name, c := range map[string]struct {
		when func(r *http.Request) bool
		want string
	}{
		"while the last page is read": {func(r *http.Request) bool { return r.URL.Query().Get("page_number") == "3" }, "account reconciles: 1."},
		"before the balance":          {func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/status") }, again},
		"after the balance": {func(r *http.Request) bool {
			return !r.URL.Query().Has("end_date") && strings.HasPrefix(r.URL.Query().Get("start_date"), "2026-09-29")
		}, again},
	} {
		t.Run(name, func(t *testing.T) {
			f := service(t, atNovember(prepaidtest.PageSizes{Least: 1, Normal: 2, Most: 2}))
			var once sync.Once
			moved := false
			f.before = func(r *http.Request) {
				if c.when(r) {
					once.Do(func() { f.Adjust("EA1", "3.00"); moved = true })
				}
			}
			o := october(t, f, "-from", "2026-09-30", "-to", "2026-11-30")
			require.Zero(t, o.code, o.out+o.errOut)
			require.True(t, moved)
			require.Contains(t, o.out, c.want)
			require.Equal(t, c.want == again, strings.Contains(o.out, again))
			require.Len(t, o.rows, 7)
			require.Equal(t, "3.00", o.rows[6][5])
			require.Equal(t, f.Balance("EA1"), o.rows[6][7])
		})
	}
}

// Movements after the window do no harm and are not taken for missing ones.
func TestMovesAfterTheWindow(t *testing.T) {
	f := service(t, atNovember(prepaidtest.PageSizes{}))
	var once sync.Once
	f.before = func(r *http.Request) {
		if !r.URL.Query().Has("end_date") && strings.HasPrefix(r.URL.Query().Get("start_date"), "2026-09-30") {
			once.Do(func() { f.Adjust("EA1", "3.00") })
		}
	}
	o := october(t, f)
	require.Zero(t, o.code, o.out+o.errOut)
	require.Contains(t, o.out, "Readings repeated because the account changed: 1")
	require.Len(t, o.rows, 3)
	require.Contains(t, o.out, "Closing balance              117.00")
}

func TestNeverAtRest(t *testing.T) {
	f := service(t, atNovember(prepaidtest.PageSizes{}))
	f.before = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/EA1/transactions") {
			f.Adjust("EA1", "1.00")
		}
	}
	still := f.AddAccount(prepaidtest.SeedAccount{Balance: "5"})
	o := october(t, f, "-to", "2026-11-30")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.out, "Not reconciled: 1 of 2 accounts.\n  EA1: changed during each of 3 readings")
	require.Contains(t, o.out, "Accounts that could not be read and are not in the sums: 1\n")
	require.Len(t, o.rows, 1, "what is not of one moment is not in the file")
	require.Equal(t, string(still), o.rows[0][0])
}

func TestDoesNotReconcile(t *testing.T) {
	window := func(r *http.Request) bool { return r.URL.Query().Get("end_date") == "2026-10-31T13:00:00Z" }
	opening := func(r *http.Request) bool { return r.URL.Query().Get("end_date") == "2026-09-30T14:00:00Z" }
	later := func(r *http.Request) bool { return r.URL.Query().Get("start_date") == "2026-10-31T13:00:00Z" }
	status := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/status") }
	for name, c := range map[string]struct {
		where    func(r *http.Request) bool
		old, new string
		args     []string
		want     string
		off      string // of the whole
	}{
		"amount":   {where: window, old: `"amount":-20.00`, new: `"amount":-21.00`, want: `EA1: the balance is 1.00 too high with transaction \d+`, off: "1.00"},
		"fee":      {where: window, old: `"fee_amount":2.50`, new: `"fee_amount":2.00`, want: `EA1: the balance is 0.50 too low with transaction \d+`, off: "-0.50"},
		"running":  {where: window, old: `:117.00`, new: `:118.00`, want: `EA1: the balance is 1.00 too high with transaction \d+`},
		"opening":  {where: opening, old: `:90.00`, new: `:91.00`, want: `EA1: the balance is 1.00 too low with transaction \d+`, off: "-1.00"},
		"later":    {where: later, old: `:109.50`, new: `:110.50`, want: `EA1: the balance is 1.00 too high after the last transaction`, off: "1.00"},
		"balance":  {where: status, old: `:108.50`, new: `:107.50`, args: []string{"-to", "2026-11-30"}, want: `EA1: the balance is 1.00 too low after the last transaction`, off: "-1.00"},
		"order":    {where: window, old: `2026-10-15`, new: `2026-09-15`, want: `EA1: transaction \d+ is listed after a later one`},
		"currency": {where: window, old: `"fee_amount_currency":"AUD"`, new: `"fee_amount_currency":"NZD"`, want: `EA1: transaction \d+ is in another currency`},
	} {
		t.Run(name, func(t *testing.T) {
			f := service(t, atNovember(prepaidtest.PageSizes{}))
			f.change = func(r *http.Request, body string) string {
				if c.where(r) {
					return strings.Replace(body, c.old, c.new, 1)
				}
				return body
			}
			o := october(t, f, c.args...)
			require.Equal(t, 1, o.code, o.errOut)
			require.Regexp(t, c.want, o.out)
			require.Contains(t, o.out, "Not reconciled: 1 of 1 accounts")
			require.Empty(t, o.errOut)
			require.Regexp(t, "Not explained +"+cmp.Or(c.off, "0.00")+"\n", o.out)
		})
	}
}

// A transaction that the service counts but omits is missed.
func TestNotListed(t *testing.T) {
	f := service(t, atNovember(prepaidtest.PageSizes{}))
	f.change = func(r *http.Request, body string) string {
		if r.URL.Query().Get("end_date") != "2026-10-31T13:00:00Z" {
			return body
		}
		items := regexp.MustCompile(`\{[^}]*\}`).FindAllString(body, -1)
		return "[" + strings.Join(items[1:], ",") + "]"
	}
	o := october(t, f)
	require.Equal(t, 1, o.code)
	require.Contains(t, o.out, "EA1: changed during each of 3 readings, or not all of its transactions are listed")
	require.Empty(t, o.rows)
}

// An unreadable account does not prevent the check of others.
func TestUnreadable(t *testing.T) {
	f := service(t, atNovember(prepaidtest.PageSizes{}))
	f.AddAccount(prepaidtest.SeedAccount{Balance: "5"})
	f.Inject("GET /accounts/{id}/transactions", prepaidtest.Respond(404, "account_not_found"))
	o := october(t, f)
	require.Equal(t, 1, o.code)
	require.Contains(t, o.out, "Not reconciled: 1 of 2 accounts")
	require.Contains(t, o.out, "cannot be read: prepaid: Accounts.Transactions: rejected: status 404 (account_not_found)")
	require.Len(t, o.rows, 3)
}

// An incomplete run leaves the files of the previous run.
func TestCutShort(t *testing.T) {
	dir := t.TempDir()
	f := service(t, atNovember(prepaidtest.PageSizes{}))
	f.load(t, history)
	first := runIn(t, dir, "-from", "2026-09-01", "-to", "2026-11-30")
	require.Zero(t, first.code, first.errOut)

	f.Inject("GET /accounts/company/{companyid}", prepaidtest.Respond(403, "forbidden"))
	refused := runIn(t, dir)
	require.Equal(t, 1, refused.code)
	require.Contains(t, refused.errOut, "status 403 (forbidden)")
	require.NotContains(t, refused.out, "reconcile.")
	require.Equal(t, first.rows, refused.rows)

	ctx, interrupt := context.WithCancel(t.Context())
	f.before = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/status") {
			interrupt()
		}
	}
	var stdout, stderr bytes.Buffer
	require.Equal(t, 1, run(ctx, lastOfNovember(), []string{"-company", "42", "-dir", dir, "-to", "2026-11-30"}, &stdout, &stderr))
	require.Contains(t, stderr.String(), "canceled")
	var after outcome
	after.read(t, dir)
	require.Equal(t, first.rows, after.rows)
}

func TestCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		base string
		code int
		want string
	}{
		"help":              {args: []string{"-h"}, want: "PREPAID_CLIENT_SECRET_FILE"},
		"unknown flag":      {args: []string{"-nonsense"}, code: 2, want: "not defined"},
		"no flag":           {args: []string{"now"}, code: 2, want: "flags only"},
		"date":              {args: []string{"-from", "1/7/2026"}, code: 2, want: "invalid value"},
		"order":             {args: []string{"-from", "2026-07-02", "-to", "2026-07-01"}, code: 2, want: "-to is before -from"},
		"future":            {args: []string{"-to", "9999-12-31"}, code: 2, want: "-to is after today in -zone"},
		"zone":              {args: []string{"-zone", "Mars/Tharsis"}, code: 2, want: "not a time zone"},
		"emulator, company": {args: []string{"-company", "7"}, code: 2, want: "need PREPAID_BASE_URL"},
		"no company":        {base: "https://service.example.com/3.0/", code: 2, want: "-company is required"},
		"bad company":       {args: []string{"-company", "7x"}, code: 2, want: "company"},
		"incomplete":        {args: []string{"-company", "7"}, base: "https://service.example.com/3.0/", code: 2, want: "PREPAID_VENDOR"},
		"no directory":      {args: []string{"-dir", filepath.Join("file", "x")}, code: 1, want: "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PREPAID_BASE_URL", c.base)
			t.Chdir(t.TempDir())
			require.NoError(t, os.WriteFile("file", nil, 0o600))
			var out, errOut bytes.Buffer
			require.Equal(t, c.code, run(t.Context(), time.Now(), c.args, &out, &errOut), errOut.String())
			require.Contains(t, errOut.String(), c.want)
			require.True(t, c.code == 0 || strings.Count(errOut.String(), "\n") == 1, errOut.String())
			require.Empty(t, out.String())
			require.NoDirExists(t, "out")
		})
	}
}
