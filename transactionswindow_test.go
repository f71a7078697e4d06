package prepaid_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// history is a page of transactions at the given moments, whose ids begin with the first of them.
func history(headers []string, moments ...string) harness.Step {
	var rows []string
	for i, moment := range moments {
		rows = append(rows, fmt.Sprintf(`{"id":"t-%s-%d","account_id":"acc-1","type":"1118","amount":-5,"fee_amount":0,`+
			`"running_balance_amount":1,"occurred_at":%q,"reference":"ref"}`, moments[0], i, moment))
	}
	return harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]", headers...)
}

func windowOf(t *testing.T, target string) (start, end string) {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	return u.Query().Get("start_date"), u.Query().Get("end_date")
}

// Windows are sent in UTC in whole seconds, rounded outwards; an open end is not sent: the service's clock may be ahead.
func TestTransactionWindow(t *testing.T) {
	t.Parallel()
	sydney := time.FixedZone("AEST", 10*60*60)
	at := func(hour int) time.Time { return time.Date(2000, 1, 1, hour, 30, 15, 999, sydney) }
	for name, tc := range map[string]struct {
		params     prepaid.ListTransactionsParams
		start, end string
	}{
		"open":   {prepaid.ListTransactionsParams{}, "", ""},
		"from":   {prepaid.ListTransactionsParams{From: at(5)}, "1999-12-31T19:30:15Z", ""},
		"to":     {prepaid.ListTransactionsParams{To: at(12)}, "", "2000-01-01T02:30:16Z"}, // up to the next whole second
		"before": {prepaid.ListTransactionsParams{From: at(5), Before: at(12)}, "1999-12-31T19:30:15Z", "2000-01-01T02:30:16Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slow := func(day string) harness.Step {
					return harness.After(5*time.Second, history([]string{"X-TotalPages: 3"}, "1999-12-31T20:00:"+day+"Z"))
				}
				service := harness.NewScript(slow("01"), slow("02"), slow("03"))
				client := harness.NewClient(t, harness.ClockConfig(service))
				items, err := prepaid.Collect(client.Accounts.Transactions(t.Context(), "acc-1", tc.params), 10)
				require.NoError(t, err)
				require.Len(t, items, 3)
				for _, request := range service.Requests() {
					start, end := windowOf(t, request.Target)
					require.Equal(t, tc.start, start)
					require.Equal(t, tc.end, end)
				}
			})
		})
	}
}

// Before drops what the service's inclusive end lets in, and does not take the shorter page for the last.
func TestTransactionsBefore(t *testing.T) {
	t.Parallel()
	month := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	service := harness.NewScript(
		history(nil, "2026-12-01T00:00:00Z", "2026-12-01T00:00:00.5Z"),
		history(nil, "2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00Z"),
		history(nil, "2026-11-01T00:00:00+10:00"),
		history(nil, "2026-12-01T00:00:00Z", "2026-11-30T23:59:59Z"),
	)
	config := harness.Config("https://cards.example")
	config.Transport = service
	client := harness.NewClient(t, config)
	items, err := prepaid.Collect(client.Accounts.Transactions(t.Context(), "acc-1", prepaid.ListTransactionsParams{Before: month}), 10)
	require.NoError(t, err)
	var seen []string
	for _, item := range items {
		seen = append(seen, item.OccurredAt.Format(time.RFC3339Nano))
	}
	require.Equal(t, []string{"2026-11-30T23:59:59.999Z", "2026-10-31T14:00:00Z"}, seen)
	require.Len(t, service.Requests(), 3)

	page, err := client.Accounts.TransactionsPage(t.Context(), "acc-1", prepaid.ListTransactionsParams{Before: month})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.False(t, page.Last(), "the service sent more than was kept")
}

// Two ends are a mistake.
func TestTransactionsWithTwoEnds(t *testing.T) {
	t.Parallel()
	service := harness.NewScript(history(nil))
	config := harness.Config("https://cards.example")
	config.Transport = service
	client := harness.NewClient(t, config)
	_, err := prepaid.Collect(client.Accounts.Transactions(t.Context(), "acc-1",
		prepaid.ListTransactionsParams{To: time.Now(), Before: time.Now()}), 1)
	invalid, ok := errors.AsType[*prepaid.ValidationError](err)
	require.True(t, ok)
	require.Equal(t, "before", invalid.Faults[0].Field)
	require.Empty(t, service.Requests())
}
