package load

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/slots"
)

// allocated counts allocations, by number and by size.
type allocated struct{ objects, bytes float64 }

// measureAllocated returns the allocations per run. The garbage collector is off, so that pools keep their contents.
func measureAllocated(run func()) allocated {
	const runs = 5
	run() // fills pools
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		run()
	}
	runtime.ReadMemStats(&after)
	return allocated{float64(after.Mallocs-before.Mallocs) / runs, float64(after.TotalAlloc-before.TotalAlloc) / runs}
}

// growsFaster reports whether ten times the work costs far more than ten times as much. The bound allows for a slice that
// doubles and for pools that the race detector empties at random; quadratic growth is 100 times as much.
func growsFaster(few, many allocated) bool {
	const most = 10 * 2
	return many.objects > few.objects*most || many.bytes > few.bytes*most
}

// A page of many items costs no more per item than a page of few.
func TestItemsCostInProportion(t *testing.T) {
	var before allocated
	for _, n := range []int{1, 10, 100, 1000} {
		client := scalingClient(t, scalingWire(scalingPage(n)))
		cost := measureAllocated(func() {
			page, err := client.Accounts.SearchCompanyPage(t.Context(), 7, prepaid.SearchCompanyParams{})
			require.NoError(t, err)
			require.Len(t, page.Items, n)
		})
		t.Logf("%d items: %.1f objects, %.0f bytes each", n, cost.objects/float64(n), cost.bytes/float64(n))
		require.False(t, n > 1 && growsFaster(before, cost), "%d items cost %+v, a tenth of them %+v", n, cost, before)
		before = cost
	}
}

// Many callers at once cost no more per caller than one alone: all are in flight together before the first gets its response.
func TestCallersCostInProportion(t *testing.T) {
	var before allocated
	for _, n := range []int{1, 10, 100, 1000} {
		together := &gatheringWire{next: scalingWire(scalingAccount), n: n}
		client := scalingClient(t, together)
		_, err := client.Token(t.Context())
		require.NoError(t, err)
		cost := measureAllocated(func() {
			together.open()
			var callers sync.WaitGroup
			for range n {
				callers.Go(func() {
					if _, err := client.Accounts.Get(t.Context(), "EAID0000000000000007"); err != nil {
						t.Error(err)
					}
				})
			}
			callers.Wait()
		})
		t.Logf("%d callers: %.1f objects, %.0f bytes each", n, cost.objects/float64(n), cost.bytes/float64(n))
		require.False(t, n > 1 && growsFaster(before, cost), "%d callers cost %+v, a tenth of them %+v", n, cost, before)
		before = cost
	}
}

// gatheringWire responds once n requests arrived.
type gatheringWire struct {
	next    http.RoundTripper
	n       int
	mu      sync.Mutex
	arrived int
	all     chan struct{}
}

func (w *gatheringWire) open() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrived, w.all = 0, make(chan struct{})
}

func (w *gatheringWire) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/token") {
		return w.next.RoundTrip(req)
	}
	w.mu.Lock()
	all := w.all
	if w.arrived++; w.arrived == w.n {
		close(all)
	}
	w.mu.Unlock()
	select {
	case <-all:
		return w.next.RoundTrip(req)
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// Quadratic growth is found, by bytes if the number of objects does not show it; linear growth is not reported.
func TestGrowthIsTold(t *testing.T) {
	t.Parallel()
	copies := func(n int) allocated { return allocated{float64(n), float64(n * n * 100)} } // the list, for each of its items
	pairs := func(n int) allocated { return allocated{float64(n * n), float64(n * n)} }
	fair := func(n int) allocated { return allocated{30 + float64(n), 4000 + 800*float64(n)} }
	for _, n := range []int{10, 100, 1000} {
		require.True(t, growsFaster(copies(n/10), copies(n)))
		require.True(t, growsFaster(pairs(n/10), pairs(n)))
		require.False(t, growsFaster(fair(n/10), fair(n)))
	}
}

// scalingWire responds to every request with the same body, and token requests with a token.
type scalingWire string

func (w scalingWire) RoundTrip(req *http.Request) (*http.Response, error) {
	body := []byte(w)
	if strings.HasSuffix(req.URL.Path, "/token") {
		body = []byte(`{"access_token":"token","token_type":"bearer","expires_in":86400}`)
	}
	header := http.Header{"Content-Type": {"application/vnd.vendor+json"}}
	return &http.Response{StatusCode: 200, Header: header, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
}

// scalingClient has a limiter that always has a slot.
func scalingClient(tb testing.TB, transport http.RoundTripper) *prepaid.Client {
	tb.Helper()
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: "https://api.example.com/3.0/", Vendor: "vendor", Transport: transport,
		ClientID: "bench", ClientSecret: prepaid.NewSecret("secret"),
		Limiter: slots.New(slots.Options{Allowance: 1 << 17, Window: time.Millisecond, Share: 1}),
	})
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

const scalingAccount = `{"account_id":"EAID0000000000000007","external_account_id":"X7","company_id":7,"balance":25.50,` +
	`"status":"active","plastic_expiry":"2029-02-28T00:00:00Z","is_plastic_enabled":true,"display_name":"Employer meals"}`

func scalingPage(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(scalingAccount+",", n), ",") + "]"
}

// BenchmarkItems reads a page of n items; ns/item must not grow with their number.
func BenchmarkItems(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			client := scalingClient(b, scalingWire(scalingPage(n)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Accounts.SearchCompanyPage(b.Context(), 7, prepaid.SearchCompanyParams{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
		})
	}
}

// BenchmarkCallers has n callers make one call each, at once; ns/call must not grow with their number.
func BenchmarkCallers(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			client := scalingClient(b, scalingWire(scalingAccount))
			b.ReportAllocs()
			for b.Loop() {
				var callers sync.WaitGroup
				for range n {
					callers.Go(func() {
						if _, err := client.Accounts.Get(b.Context(), "EAID0000000000000007"); err != nil {
							b.Error(err)
						}
					})
				}
				callers.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
		})
	}
}
