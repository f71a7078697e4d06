package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
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
// were seen. The items received are delivered before it.
func TestHistoryIncomplete(t *testing.T) {
	t.Parallel()
	const reported = "2 3 6"
	first, second, third := entriesOf(1, 2, reported), entriesOf(3, 4, reported), entriesOf(5, 6, reported)
	html := harness.Respond(400, "text/html", "<html><body>400 Bad Request</body></html>")
	for name, tc := range map[string]struct {
		pages []harness.Step
		seen  int
		is    error // nil for a complete list
	}{
		"complete":                      {[]harness.Step{first, second, third}, 6, nil},
		"page 2 is a 204":               {[]harness.Step{first, harness.Respond(204, "", ""), third}, 2, errIncomplete},
		"page 2 is a 204 with headers":  {[]harness.Step{first, harness.Respond(204, "", "", pagingHeaders(reported)...), third}, 2, errIncomplete},
		"page 2 is empty":               {[]harness.Step{first, harness.Respond(200, harness.VendorJSON, "[]"), third}, 2, errIncomplete},
		"page 3 is empty":               {[]harness.Step{first, second, harness.Respond(200, harness.VendorJSON, "[]")}, 4, errIncomplete},
		"page 1 is empty":               {[]harness.Step{harness.Respond(204, "", "", pagingHeaders(reported)...), second, third}, 0, errIncomplete},
		"page 2 lacks the headers":      {[]harness.Step{first, entriesOf(3, 4, ""), third}, 6, nil},
		"pages 2 and 3 lack them":       {[]harness.Step{first, entriesOf(3, 4, ""), entriesOf(5, 6, "")}, 6, nil},
		"short page without headers":    {[]harness.Step{first, entriesOf(3, 3, ""), third}, 5, errIncomplete},
		"the pages become fewer":        {[]harness.Step{first, entriesOf(3, 4, "2 2 4"), third}, 4, errIncomplete},
		"the pages become none":         {[]harness.Step{first, entriesOf(3, 4, "2 0 0"), third}, 4, errIncomplete},
		"only the items become fewer":   {[]harness.Step{first, entriesOf(3, 4, "2 3 4"), third}, 6, nil},
		"page 2 is an HTML 400":         {[]harness.Step{first, html, third}, 2, prepaid.ErrBadRequest},
		"page 2 is refused":             {[]harness.Step{first, harness.ServiceError(400, "invalid_request"), third}, 2, errRefused},
		"the last page is cut":          {[]harness.Step{first, second, entriesOf(5, 5, reported)}, 5, errIncomplete},
		"growing, page 4 is a 204":      {[]harness.Step{first, entriesOf(7, 8, "2 4 8"), entriesOf(9, 10, "2 5 10"), harness.Respond(204, "", "")}, 6, errIncomplete},
		"growing, page 4 is refused":    {[]harness.Step{first, entriesOf(7, 8, "2 4 8"), entriesOf(9, 10, "2 5 10"), harness.ServiceError(400, "invalid_request")}, 6, errRefused},
		"growing, page 2 is cut":        {[]harness.Step{first, entriesOf(3, 3, "2 4 7"), entriesOf(5, 6, "2 4 7"), entriesOf(7, 7, "2 4 7")}, 6, errIncomplete},
		"growing, complete":             {[]harness.Step{first, entriesOf(2, 3, "2 4 7"), entriesOf(4, 5, "2 4 7"), entriesOf(6, 6, "2 4 7")}, 6, nil},
		"an item is listed twice":       {[]harness.Step{first, entriesOf(2, 3, reported), entriesOf(5, 6, reported)}, 5, errIncomplete},
		"uncounted, page 2 is a 204":    {[]harness.Step{entriesOf(1, 2, "2 3 -"), harness.Respond(204, "", "")}, 2, errIncomplete},
		"uncounted, fewer pages":        {[]harness.Step{entriesOf(1, 2, "2 3 -"), entriesOf(3, 4, "2 2 -")}, 4, errIncomplete},
		"uncounted, page 2 is refused":  {[]harness.Step{entriesOf(1, 2, "2 3 -"), harness.ServiceError(400, "invalid_request")}, 2, errRefused},
		"counted only, cut":             {[]harness.Step{entriesOf(1, 2, "2 - 5"), entriesOf(3, 3, "2 - 5"), harness.Respond(204, "", "")}, 3, errIncomplete},
		"counted only, short in middle": {[]harness.Step{entriesOf(1, 2, "2 - 5"), entriesOf(3, 3, "2 - 5"), entriesOf(4, 5, "2 - 5"), harness.Respond(204, "", "")}, 5, nil},
		"untold, HTML 400":              {[]harness.Step{entriesOf(1, 2, ""), html}, 2, prepaid.ErrBadRequest},
		"untold, refused":               {[]harness.Step{entriesOf(1, 2, ""), harness.ServiceError(400, "invalid_request")}, 2, nil},
		"a missing id":                  {[]harness.Step{first, harness.Respond(200, harness.VendorJSON, `[{"amount":1}]`, pagingHeaders(reported)...), third}, 2, errAny},
		"an ID has another amount": {[]harness.Step{first, second, harness.Respond(200, harness.VendorJSON,
			`[{"id":"t-4","type":"1118","amount":-9000,"fee_amount":0,"running_balance_amount":1,"occurred_at":"2026-11-01T00:00:00Z"},`+
				`{"id":"t-4","type":"1120","amount":-5,"fee_amount":0,"running_balance_amount":1,"occurred_at":"2026-11-01T00:00:00Z"}]`,
			pagingHeaders(reported)...)}, 6, nil},
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
				case tc.is == errIncomplete:
					require.True(t, isIncomplete(err), "%v", err)
				case tc.is == errRefused:
					require.True(t, isIncomplete(err), "%v", err)
					require.ErrorIs(t, err, prepaid.ErrBadRequest)
				default:
					require.ErrorIs(t, err, tc.is)
				}
				if err != nil && tc.is != errAny {
					require.NotEqual(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome)
				}
				if incomplete, ok := errors.AsType[*prepaid.IncompleteListError](err); ok {
					require.Equal(t, tc.seen, incomplete.Seen)
				}
			})
		}
	}
}

var errAny, errIncomplete, errRefused = errors.New("any"), errors.New("incomplete"), errors.New("incomplete, with the refusal")

func isIncomplete(err error) bool {
	_, ok := errors.AsType[*prepaid.IncompleteListError](err)
	return ok
}

// An iteration from a later page must get the items from there.
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
	require.EqualError(t, err, "prepaid: Accounts.Transactions: not_processed: list incomplete: 2 of 4 items seen")
	require.EqualError(t, &prepaid.IncompleteListError{Seen: 1}, "prepaid: list incomplete: 1 items seen, and a page is missing")
}

// A list that items leave while it is read delivers all it can and then reports the missing ones. If its hook is gone,
// it fails with that error.
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
		"gone":        {harness.ServiceError(400, "invalid_request"), errIncomplete},
		"204":         {harness.Respond(204, "", ""), errIncomplete},
		"fewer":       {messages(3, "2 2 4"), errIncomplete},
		"no hook":     {harness.ServiceError(400, "invalid_hook_id"), prepaid.CodeInvalidHookID},
		"a proxy 400": {harness.Respond(400, "text/html", "<html>"), prepaid.ErrBadRequest},
	} {
		client, _ := pagedClient(t, messages(1, "2 3 6"), tc.second)
		seen := 0
		var failures []error
		for _, err := range client.Hooks.Undeliverable(t.Context(), "h-1", prepaid.Paging{}) {
			if err != nil {
				failures = append(failures, err)
				continue
			}
			require.Empty(t, failures, "items come first")
			seen++
		}
		require.Len(t, failures, 1, name)
		require.True(t, tc.is == errIncomplete && isIncomplete(failures[0]) || errors.Is(failures[0], tc.is), name)
		require.GreaterOrEqual(t, seen, 2)
	}
}

// A service that ignores page_number ends the iteration, though each of its pages has another text.
func TestPageNumberIgnored(t *testing.T) {
	t.Parallel()
	for _, headers := range []string{"", "5 50 -", "5 50 250", "5 - 250", "5 50 counted"} {
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
					told := strings.ReplaceAll(headers, "counted", strconv.Itoa(249+calls))
					return harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]", pagingHeaders(told)...)(r)
				})
				got, err := collected(searchCompany(t.Context(), harness.NewClient(t, scripted(service)), prepaid.Paging{Size: 5, Prefetch: prefetch}))
				require.True(t, isIncomplete(err), "%q %v: %v", headers, grows, err)
				if headers == "" && !grows && prefetch == 0 { // the balances alone differ
					require.ErrorContains(t, err, "prepaid: Accounts.SearchCompany: not_processed: list incomplete: 5 items seen, and a page repeats")
					require.Len(t, service.Requests(), 2)
				}
				require.LessOrEqual(t, len(got), 60)
				require.LessOrEqual(t, len(service.Requests()), 60)
			}
		}
	}
}

// countedPages responds with count pages of one account each, each page faster than the last, so that later ones
// overtake earlier ones.
func countedPages(count int) harness.Step {
	var list []harness.Step
	for number := 1; number <= count; number++ {
		list = append(list, harness.After(time.Duration(1000-10*number)*time.Millisecond, pageOf(number, number, fmt.Sprint("1 ", count, " ", count))))
	}
	return pages(list...)
}

// lanes is a limiter that records the lane of each attempt.
type lanes struct {
	mu   sync.Mutex
	seen []ratelimit.Lane
}

func (l *lanes) Acquire(_ context.Context, lane ratelimit.Lane) (ratelimit.Slot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, lane)
	return nil, nil //nolint:nilnil // a limiter may give no slot
}

// Pages fetched ahead come in order. Prefetch pages wait from the first page on, and none after the last.
func TestPrefetchWindow(t *testing.T) {
	t.Parallel()
	for _, prefetch := range []int{1, 2, 4, 8, 100} {
		bubble(t, fmt.Sprint(prefetch), func(t *testing.T) {
			const count = 20
			service := harness.NewScript(countedPages(count))
			config := harness.ClockConfig(service)
			limiter := &lanes{}
			config.Limiter = limiter
			client := harness.NewClient(t, config)
			var ahead []int
			got, taken := []string{}, 0
			for account, err := range searchCompany(t.Context(), client, prepaid.Paging{Prefetch: prefetch}) {
				require.NoError(t, err)
				synctest.Wait()
				got = append(got, string(account.ID))
				taken++
				ahead = append(ahead, len(service.Requests())-taken)
			}
			require.Equal(t, ids(1, count), got)
			require.Len(t, service.Requests(), count, "each page once, and none beyond the last")
			for i, pages := range ahead {
				require.Equal(t, min(prefetch, count-i-1), pages, "ahead after page %d", i+1)
			}
			require.LessOrEqual(t, service.Most, prefetch+1)
			require.Equal(t, ratelimit.Call, limiter.seen[0], "what the caller waits for")
			require.Contains(t, limiter.seen, ratelimit.Bulk, "what is fetched ahead stands back")
		})
	}
}

// stingyLimiter admits calls, but no bulk requests: they wait or, if refuses is set, are refused.
type stingyLimiter struct{ refuses bool }

func (l stingyLimiter) Acquire(ctx context.Context, lane ratelimit.Lane) (ratelimit.Slot, error) {
	switch {
	case lane != ratelimit.Bulk:
		return nil, ctx.Err()
	case l.refuses:
		return nil, &ratelimit.RefusedError{Wait: time.Hour}
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// A page that the caller waits for leaves the Bulk lane, even if it was requested before.
func TestPrefetchedPageIsAwaited(t *testing.T) {
	t.Parallel()
	for _, refuses := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			service := harness.NewScript(countedPages(10))
			config := harness.ClockConfig(service)
			config.Limiter = stingyLimiter{refuses}
			client := harness.NewClient(t, config)
			taken := 0
			for _, err := range searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 4}) {
				require.NoError(t, err)
				taken++
				time.Sleep(time.Minute)
				require.Len(t, service.Requests(), taken, "those that nobody waits for stand back")
			}
			require.Equal(t, 10, taken)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			_, err := collected(searchCompany(ctx, client, prepaid.Paging{Prefetch: 4}))
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}

// Without a reported end nothing is fetched ahead: the page may not exist.
func TestPrefetchWithoutEnd(t *testing.T) {
	t.Parallel()
	client, service := pagedClient(t, pageOf(1, 2, ""), pageOf(3, 4, ""), pageOf(5, 5, ""))
	got, err := collected(searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 8}))
	require.NoError(t, err)
	require.Equal(t, ids(1, 5), got)
	require.Len(t, asked(service), 4)
	require.Equal(t, 1, service.Most)
}

// Leaving early, or a context that ends, cancels requests in progress and leaves no goroutine: the bubble would not end.
func TestPrefetchLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(countedPages(50))
		client := harness.NewClient(t, harness.ClockConfig(service))
		began, seen := time.Now(), 0
		for range searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 16}) {
			if seen++; seen == 8 {
				break
			}
		}
		require.Less(t, time.Since(began), 2*time.Second)
		require.Equal(t, 0, service.Open, "nothing is under way once the loop is left")
		require.LessOrEqual(t, len(service.Requests()), seen+16, "no more is requested for nothing than Prefetch pages")
	})
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(countedPages(50))
		client := harness.NewClient(t, harness.ClockConfig(service))
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		_, err := collected(searchCompany(ctx, client, prepaid.Paging{Prefetch: 16}))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 0, service.Open)
	})
	synctest.Test(t, func(t *testing.T) { // a panic of the loop's body
		service := harness.NewScript(countedPages(50))
		client := harness.NewClient(t, harness.ClockConfig(service))
		require.Panics(t, func() {
			for range searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 16}) {
				panic("in the loop")
			}
		})
		require.Equal(t, 0, service.Open)
	})
}

// The error of a page is delivered in its place: items before it are delivered, items after it are not.
func TestPrefetchErrorInItsPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var list []harness.Step
		for number := 1; number <= 9; number++ {
			list = append(list, harness.After(time.Second, pageOf(number, number, "1 9 9")))
		}
		list[5] = func(r *http.Request) (*http.Response, error) { return harness.ServiceError(403, "forbidden")(r) } // at once
		client := harness.NewClient(t, harness.ClockConfig(harness.NewScript(pages(list...))))
		got, err := collected(searchCompany(t.Context(), client, prepaid.Paging{Prefetch: 4}))
		require.Equal(t, ids(1, 5), got)
		require.ErrorIs(t, err, prepaid.ErrForbidden)
	})
}

// rudeLimiter misbehaves after its first slot.
type rudeLimiter struct {
	misbehaves func()
	slots      atomic.Int32
}

func (l *rudeLimiter) Acquire(context.Context, ratelimit.Lane) (ratelimit.Slot, error) {
	if l.slots.Add(1) > 1 {
		l.misbehaves()
	}
	return nil, nil //nolint:nilnil // a limiter may give no slot
}

// Code of the caller that panics or ends its goroutine while pages are read ahead ends neither the process nor the loop.
func TestPrefetchMisbehaves(t *testing.T) {
	t.Parallel()
	for name, misbehaves := range map[string]func(){"panic": func() { panic("CANARY") }, "Goexit": runtime.Goexit} {
		bubble(t, name, func(t *testing.T) {
			config := harness.ClockConfig(harness.NewScript(countedPages(9)))
			config.Limiter = &rudeLimiter{misbehaves: misbehaves}
			got, err := collected(searchCompany(t.Context(), harness.NewClient(t, config), prepaid.Paging{Prefetch: 1}))
			require.Equal(t, ids(1, 1), got)
			failed, ok := errors.AsType[*prepaid.CallError](err)
			require.True(t, ok, err)
			require.Equal(t, prepaid.OutcomeNotProcessed, failed.Outcome)
			require.NotContains(t, err.Error(), "CANARY")
		})
	}
}
