package prepaid_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// entriesOf is a page of a history with the items first to last, and headers as of pageOf.
func entriesOf(first, last int, headers string) harness.Step {
	var rows []string
	for number := first; number <= last; number++ {
		rows = append(rows, fmt.Sprintf(`{"id":"t-%d","account_id":"acc-1","type":"1118","amount":-5,"fee_amount":0,`+
			`"running_balance_amount":1,"occurred_at":"2026-11-01T00:00:00Z"}`, number))
	}
	return harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]", pagingHeaders(headers)...)
}

// The service promises 3 pages with 6 items and breaks the promise: the iteration ends with an error, unless all items
// were seen. What was received is delivered before it.
func TestHistoryIncomplete(t *testing.T) {
	t.Parallel()
	const told = "2 3 6"
	first, second, third := entriesOf(1, 2, told), entriesOf(3, 4, told), entriesOf(5, 6, told)
	html := harness.Respond(400, "text/html", "<html><body>400 Bad Request</body></html>")
	for name, tc := range map[string]struct {
		pages []harness.Step
		seen  int
		is    error // nil for a complete list
	}{
		"complete":                      {[]harness.Step{first, second, third}, 6, nil},
		"page 2 is a 204":               {[]harness.Step{first, harness.Respond(204, "", ""), third}, 2, prepaid.ErrListIncomplete},
		"page 2 is a 204 with headers":  {[]harness.Step{first, harness.Respond(204, "", "", pagingHeaders(told)...), third}, 2, prepaid.ErrListIncomplete},
		"page 2 is empty":               {[]harness.Step{first, harness.Respond(200, harness.VendorJSON, "[]"), third}, 2, prepaid.ErrListIncomplete},
		"page 3 is empty":               {[]harness.Step{first, second, harness.Respond(200, harness.VendorJSON, "[]")}, 4, prepaid.ErrListIncomplete},
		"page 1 is empty":               {[]harness.Step{harness.Respond(204, "", "", pagingHeaders(told)...), second, third}, 0, prepaid.ErrListIncomplete},
		"page 2 lacks the headers":      {[]harness.Step{first, entriesOf(3, 4, ""), third}, 6, nil},
		"pages 2 and 3 lack them":       {[]harness.Step{first, entriesOf(3, 4, ""), entriesOf(5, 6, "")}, 6, nil},
		"short page without headers":    {[]harness.Step{first, entriesOf(3, 3, ""), third}, 5, prepaid.ErrListIncomplete},
		"the pages become fewer":        {[]harness.Step{first, entriesOf(3, 4, "2 2 4"), third}, 4, prepaid.ErrListIncomplete},
		"the pages become none":         {[]harness.Step{first, entriesOf(3, 4, "2 0 0"), third}, 4, prepaid.ErrListIncomplete},
		"only the items become fewer":   {[]harness.Step{first, entriesOf(3, 4, "2 3 4"), third}, 6, nil},
		"page 2 is an HTML 400":         {[]harness.Step{first, html, third}, 2, prepaid.ErrBadRequest},
		"page 2 is refused":             {[]harness.Step{first, harness.ServiceError(400, "invalid_request"), third}, 2, prepaid.ErrBadRequest},
		"the last page is cut":          {[]harness.Step{first, second, entriesOf(5, 5, told)}, 5, prepaid.ErrListIncomplete},
		"growing, page 4 is a 204":      {[]harness.Step{first, entriesOf(7, 8, "2 4 8"), entriesOf(9, 10, "2 5 10"), harness.Respond(204, "", "")}, 6, prepaid.ErrListIncomplete},
		"growing, page 4 is refused":    {[]harness.Step{first, entriesOf(7, 8, "2 4 8"), entriesOf(9, 10, "2 5 10"), harness.ServiceError(400, "invalid_request")}, 6, prepaid.ErrBadRequest},
		"growing, page 2 is cut":        {[]harness.Step{first, entriesOf(3, 3, "2 4 7"), entriesOf(5, 6, "2 4 7"), entriesOf(7, 7, "2 4 7")}, 6, prepaid.ErrListIncomplete},
		"growing, complete":             {[]harness.Step{first, entriesOf(2, 3, "2 4 7"), entriesOf(4, 5, "2 4 7"), entriesOf(6, 6, "2 4 7")}, 6, nil},
		"an item is listed twice":       {[]harness.Step{first, entriesOf(2, 3, told), entriesOf(5, 6, told)}, 5, prepaid.ErrListIncomplete},
		"uncounted, page 2 is a 204":    {[]harness.Step{entriesOf(1, 2, "2 3 -"), harness.Respond(204, "", "")}, 2, prepaid.ErrListIncomplete},
		"uncounted, fewer pages":        {[]harness.Step{entriesOf(1, 2, "2 3 -"), entriesOf(3, 4, "2 2 -")}, 4, prepaid.ErrListIncomplete},
		"uncounted, page 2 is refused":  {[]harness.Step{entriesOf(1, 2, "2 3 -"), harness.ServiceError(400, "invalid_request")}, 2, prepaid.ErrBadRequest},
		"counted only, cut":             {[]harness.Step{entriesOf(1, 2, "2 - 5"), entriesOf(3, 3, "2 - 5"), harness.Respond(204, "", "")}, 3, prepaid.ErrListIncomplete},
		"counted only, short in middle": {[]harness.Step{entriesOf(1, 2, "2 - 5"), entriesOf(3, 3, "2 - 5"), entriesOf(4, 5, "2 - 5"), harness.Respond(204, "", "")}, 5, nil},
		"untold, HTML 400":              {[]harness.Step{entriesOf(1, 2, ""), html}, 2, prepaid.ErrBadRequest},
		"untold, refused":               {[]harness.Step{entriesOf(1, 2, ""), harness.ServiceError(400, "invalid_request")}, 2, nil},
		"a missing id":                  {[]harness.Step{first, harness.Respond(200, harness.VendorJSON, `[{"amount":1}]`, pagingHeaders(told)...), third}, 2, errAny},
	} {
		for _, prefetch := range []int{0, 2} {
			t.Run(fmt.Sprint(name, " ", prefetch), func(t *testing.T) {
				t.Parallel()
				client, _ := pagedClient(t, tc.pages...)
				params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 2, Prefetch: prefetch}}
				items, err := prepaid.Collect(client.Accounts.Transactions(t.Context(), "acc-1", params), 100)
				require.Len(t, items, tc.seen)
				switch {
				case tc.is == nil:
					require.NoError(t, err)
				case tc.is == errAny:
					require.Error(t, err)
				default:
					require.ErrorIs(t, err, tc.is)
					require.NotEqual(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome)
				}
				if incomplete, ok := errors.AsType[*prepaid.IncompleteListError](err); ok {
					require.Equal(t, tc.seen, incomplete.Seen)
				}
			})
		}
	}
}

var errAny = errors.New("any")

// An iteration that starts later is owed what follows.
func TestHistoryIncompleteFromPage(t *testing.T) {
	t.Parallel()
	list := []harness.Step{entriesOf(1, 2, "2 3 6"), entriesOf(3, 4, "2 3 6"), harness.Respond(204, "", "")}
	client, _ := pagedClient(t, list...)
	params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 2, Page: 2}}
	items, err := prepaid.Collect(client.Accounts.Transactions(t.Context(), "acc-1", params), 100)
	require.Len(t, items, 2)
	incomplete, ok := errors.AsType[*prepaid.IncompleteListError](err)
	require.True(t, ok)
	require.Equal(t, prepaid.IncompleteListError{Seen: 2, Total: 4}, *incomplete)
	require.EqualError(t, err, "prepaid: Accounts.Transactions: not processed: list incomplete: 2 of 4 items seen")
	require.EqualError(t, &prepaid.IncompleteListError{Seen: 1}, "prepaid: list incomplete: 1 items seen, and a page is missing")
}

// A list that items leave while it is read delivers all it can and then says what it is short of; one whose hook is gone
// fails with that.
func TestListThatItemsLeave(t *testing.T) {
	t.Parallel()
	row := `{"id":"m-%d","hook_id":"h-1","type":"transaction"}`
	messages := func(first int, headers string) harness.Step {
		return harness.Respond(200, harness.VendorJSON, "["+fmt.Sprintf(row+","+row, first, first+1)+"]", pagingHeaders(headers)...)
	}
	for name, tc := range map[string]struct {
		second harness.Step
		is     error
	}{
		"gone":        {harness.ServiceError(400, "invalid_request"), prepaid.ErrListIncomplete},
		"204":         {harness.Respond(204, "", ""), prepaid.ErrListIncomplete},
		"fewer":       {messages(3, "2 2 4"), prepaid.ErrListIncomplete},
		"no hook":     {harness.ServiceError(400, "invalid_hook_id"), prepaid.CodeInvalidHookID},
		"a proxy 400": {harness.Respond(400, "text/html", "<html>"), prepaid.ErrBadRequest},
	} {
		client, _ := pagedClient(t, messages(1, "2 3 6"), tc.second)
		seen := 0
		var failures []error
		for _, err := range client.Hooks.Undeliverable(t.Context(), "h-1", prepaid.ListUndeliverableParams{}) {
			if err != nil {
				failures = append(failures, err)
				continue
			}
			require.Empty(t, failures, "items come first")
			seen++
		}
		require.Len(t, failures, 1, name)
		require.ErrorIs(t, failures[0], tc.is, name)
		require.GreaterOrEqual(t, seen, 2)
	}
}

// A service that ignores page_number ends the iteration, though each of its pages has another text.
func TestPageNumberIgnored(t *testing.T) {
	t.Parallel()
	for _, headers := range []string{"", "5 50 -", "5 50 250", "5 - 250"} {
		for _, grows := range []bool{false, true} {
			for _, prefetch := range []int{0, 3} {
				var count atomic.Int64
				service := harness.NewScript(func(r *http.Request) (*http.Response, error) {
					calls := int(count.Add(1))
					var rows []string
					for n := range 5 {
						if n == 0 && grows { // newest first, and a new one at each call
							n = 10 * calls
						}
						rows = append(rows, fmt.Sprintf(`{"account_id":"acc-%d","company_id":7,"balance":%d,"status":"active"}`, n, calls))
					}
					return harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]", pagingHeaders(headers)...)(r)
				})
				config := harness.Config("https://cards.example")
				config.Transport = service
				got, err := collected(searchCompany(t.Context(), harness.NewClient(t, config), prepaid.Paging{Size: 5, Prefetch: prefetch}))
				require.True(t, errors.Is(err, prepaid.ErrPageRepeated) || errors.Is(err, prepaid.ErrListIncomplete),
					"%q %v: %v", headers, grows, err)
				require.LessOrEqual(t, len(got), 60)
				require.LessOrEqual(t, len(service.Requests()), 60)
			}
		}
	}
}

// An iteration that reads a company of 100 accounts from a service whose pages never end is not longer than the company.
func TestPageNumberIgnoredWhileBalancesChange(t *testing.T) {
	t.Parallel()
	calls := 0
	service := harness.NewScript(func(r *http.Request) (*http.Response, error) {
		calls++
		var rows []string
		for n := range 100 {
			rows = append(rows, `{"account_id":"acc-`+strconv.Itoa(n)+`","company_id":7,"balance":`+strconv.Itoa(calls)+`,"status":"active"}`)
		}
		return harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]")(r)
	})
	config := harness.Config("https://cards.example")
	config.Transport = service
	got, err := collected(searchCompany(t.Context(), harness.NewClient(t, config), prepaid.Paging{}))
	require.ErrorIs(t, err, prepaid.ErrPageRepeated)
	require.Len(t, got, 100)
	require.Len(t, service.Requests(), 2)
}
