package prepaid_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// archive is a correct service with one history, to which items are added while it is read. Its clock, order and page
// sizes vary.
type archive struct {
	ahead       time.Duration // its clock minus the reader's
	less        func(a, b filed) int
	least, most int            // page sizes
	latency     func()         // before and after a page
	write       func(*archive) // after each page

	mu      sync.Mutex
	items   []filed
	atFirst []string // ids that were there when page 1 was served
	asked   []string
}

type filed struct {
	id string
	at time.Time
}

func (a *archive) now() time.Time { return time.Now().Add(a.ahead) }

func (a *archive) add(at time.Time) {
	a.items = append(a.items, filed{fmt.Sprint("t-", len(a.items)), at})
}

func (a *archive) RoundTrip(r *http.Request) (*http.Response, error) {
	a.latency()
	response, err := a.serve(r)
	a.latency()
	return response, err
}

func (a *archive) serve(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	query := r.URL.Query()
	a.asked = append(a.asked, r.URL.RawQuery)
	start, _ := time.Parse(time.RFC3339, query.Get("start_date"))
	end, err := time.Parse(time.RFC3339, query.Get("end_date"))
	open := err != nil
	found := slices.DeleteFunc(slices.Clone(a.items), func(f filed) bool {
		return f.at.Before(start) || !open && f.at.After(end)
	})
	slices.SortStableFunc(found, a.less)
	number, _ := strconv.Atoi(query.Get("page_number"))
	size, err := strconv.Atoi(query.Get("page_size"))
	if err != nil {
		return harness.ServiceError(400, "invalid_request")(r)
	}
	size = min(max(size, a.least), a.most)
	total := (len(found) + size - 1) / size
	if number == 1 {
		a.atFirst = nil
		for _, f := range a.items {
			a.atFirst = append(a.atFirst, f.id)
		}
	}
	headers := []string{
		fmt.Sprint("X-PageSize: ", size), fmt.Sprint("X-TotalPages: ", total), fmt.Sprint("X-TotalItems: ", len(found)),
		"Date: " + a.now().UTC().Format(http.TimeFormat),
	}
	response := harness.ServiceError(400, "invalid_request")
	if total == 0 {
		response = harness.Respond(204, "", "", headers...)
	} else if number >= 1 && number <= total {
		var rows []string
		for _, f := range found[(number-1)*size : min(number*size, len(found))] {
			rows = append(rows, fmt.Sprintf(`{"id":%q,"account_id":"acc-1","type":"1118","amount":-5,"fee_amount":0,`+
				`"running_balance_amount":1,"occurred_at":%q}`, f.id, f.at.UTC().Format(time.RFC3339)))
		}
		response = harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]", headers...)
	}
	if a.write != nil {
		a.write(a)
	}
	return response(r)
}

func oldestFirst(a, b filed) int { return a.at.Compare(b.at) }

func newestFirst(a, b filed) int { return b.at.Compare(a.at) }

// byName scatters new transactions over all pages.
func byName(a, b filed) int { return cmp.Compare(scattered(a.id), scattered(b.id)) }

func scattered(id string) uint64 {
	n, _ := strconv.ParseUint(id[2:], 10, 64)
	return (n + 1) * 0x9e3779b97f4a7c15
}

// Every item that existed when page 1 was served is yielded once, and a later one at most once, for any clocks, order,
// page sizes and prefetching.
func TestHistoryIsWhole(t *testing.T) {
	t.Parallel()
	orders := map[string]func(a, b filed) int{"oldest first": oldestFirst, "newest first": newestFirst, "scattered": byName}
	offsets := []time.Duration{
		-3 * time.Hour, -2 * time.Minute, -time.Second, -50 * time.Millisecond, 0, 50 * time.Millisecond, 500 * time.Millisecond,
		time.Second, 2 * time.Minute, time.Hour, 3 * time.Hour,
	}
	for name, less := range orders {
		for _, prefetch := range []int{0, 1, 4} {
			t.Run(fmt.Sprint(name, " prefetch ", prefetch), func(t *testing.T) {
				t.Parallel()
				for i, offset := range offsets {
					for _, sizes := range [][2]int{{1, 500}, {1, 3}, {7, 500}} {
						for _, late := range []bool{false, true} {
							random := rand.New(rand.NewPCG(uint64(i), uint64(sizes[1]))) //nolint:gosec // small and positive
							service := &archive{ahead: offset, less: less, least: sizes[0], most: sizes[1]}
							paging := prepaid.Paging{Size: 5, Prefetch: prefetch}
							synctest.Test(t, func(t *testing.T) { requireWhole(t, service, random, late, paging) })
						}
					}
				}
			})
		}
	}
}

func requireWhole(t *testing.T, service *archive, random *rand.Rand, late bool, paging prepaid.Paging) {
	t.Helper()
	var lock sync.Mutex
	service.latency = func() {
		lock.Lock()
		pause := time.Duration(random.IntN(200)) * time.Millisecond
		lock.Unlock()
		time.Sleep(pause)
	}
	time.Sleep(700 * time.Millisecond) // a moment with a fraction
	for n := range 40 {
		service.add(service.now().Add(-time.Duration(n%20) * 25 * time.Millisecond)) // some at equal times
	}
	written := 0
	service.write = func(a *archive) {
		lock.Lock()
		defer lock.Unlock()
		for range random.IntN(4) {
			if written++; written > 30 {
				return
			}
			at := a.now()
			if late { // booked now, dated earlier
				at = at.Add(-time.Duration(random.IntN(1000)) * time.Millisecond)
			}
			a.add(at)
		}
	}
	client := harness.NewClient(t, harness.ClockConfig(service))
	seen := map[string]int{}
	for item, err := range client.Accounts.Transactions(t.Context(), "acc-1", prepaid.ListTransactionsParams{Paging: paging}) {
		require.NoError(t, err)
		seen[string(item.ID)]++
	}
	require.GreaterOrEqual(t, len(service.atFirst), 40)
	for _, id := range service.atFirst {
		require.Equal(t, 1, seen[id], id)
	}
	for id, times := range seen {
		require.Equal(t, 1, times, id)
	}
	for _, query := range service.asked {
		require.NotContains(t, query, "_date")
	}
}

// Bounds are sent in UTC and whole seconds, rounded outwards, with every page; the client drops the items outside them. An open
// end is not sent: the service's clock may be ahead.
func TestHistoryBoundsWithFraction(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 20, 0, 0, 0, time.FixedZone("AEST", 10*60*60))
	half := 500 * time.Millisecond
	service := &archive{less: newestFirst, least: 1, most: 2, latency: func() {}}
	for n := range 6 {
		service.add(at.Add(time.Duration(n) * time.Second))
	}
	client := harness.NewClient(t, scripted(service))
	for _, c := range []struct {
		params prepaid.ListTransactionsParams
		want   []string
		start  string
		end    string
	}{
		{prepaid.ListTransactionsParams{From: at.Add(half)}, []string{"t-1", "t-2", "t-3", "t-4", "t-5"}, "2026-11-01T10:00:00Z", ""},
		{prepaid.ListTransactionsParams{To: at.Add(3*time.Second + half)}, []string{"t-0", "t-1", "t-2", "t-3"}, "", "2026-11-01T10:00:04Z"},
		{
			prepaid.ListTransactionsParams{From: at.Add(time.Second - 1), To: at.Add(4*time.Second + 1)},
			[]string{"t-1", "t-2", "t-3", "t-4"}, "2026-11-01T10:00:00Z", "2026-11-01T10:00:05Z",
		},
		{prepaid.ListTransactionsParams{Before: at.Add(2*time.Second + half)}, []string{"t-0", "t-1", "t-2"}, "", "2026-11-01T10:00:03Z"},
	} {
		service.asked = nil
		var got []string
		for item, err := range client.Accounts.Transactions(t.Context(), "acc-1", c.params) {
			require.NoError(t, err)
			got = append(got, string(item.ID))
		}
		require.ElementsMatch(t, c.want, got)
		require.Greater(t, len(service.asked), 1)
		for _, asked := range service.asked {
			query, err := url.ParseQuery(asked)
			require.NoError(t, err)
			require.Equal(t, []string{c.start, c.end}, []string{query.Get("start_date"), query.Get("end_date")})
		}
		page, err := client.Accounts.TransactionsPage(t.Context(), "acc-1", c.params)
		require.NoError(t, err)
		for _, item := range page.Items {
			require.Contains(t, c.want, string(item.ID))
		}
	}
}

// history is a page of transactions at the given moments, whose ids begin with the first of them.
func history(headers []string, moments ...string) harness.Step {
	var rows []string
	for i, moment := range moments {
		rows = append(rows, fmt.Sprintf(`{"id":"t-%s-%d","account_id":"acc-1","type":"1118","amount":-5,"fee_amount":0,`+
			`"running_balance_amount":1,"occurred_at":%q,"reference":"ref"}`, moments[0], i, moment))
	}
	return harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]", headers...)
}

// Before drops the transactions that the service's inclusive end admits, and does not treat the shorter page as the last.
func TestTransactionsBefore(t *testing.T) {
	t.Parallel()
	month := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	service := harness.NewScript(
		history(nil, "2026-12-01T00:00:00Z", "2026-12-01T00:00:00.5Z"),
		history(nil, "2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00Z"),
		history(nil, "2026-11-01T00:00:00+10:00"),
		harness.Respond(204, "", ""),
		history(nil, "2026-12-01T00:00:00Z", "2026-11-30T23:59:59Z"),
	)
	client := harness.NewClient(t, scripted(service))
	items, err := prepaid.Collect(client.Accounts.Transactions(t.Context(), "acc-1", prepaid.ListTransactionsParams{Before: month}), 10)
	require.NoError(t, err)
	var seen []string
	for _, item := range items {
		seen = append(seen, item.OccurredAt.Format(time.RFC3339Nano))
	}
	require.Equal(t, []string{"2026-11-30T23:59:59.999Z", "2026-10-31T14:00:00Z"}, seen)
	require.Len(t, service.Requests(), 4)

	page, err := client.Accounts.TransactionsPage(t.Context(), "acc-1", prepaid.ListTransactionsParams{Before: month})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.False(t, page.Last(), "the service sent more than was kept")
}
