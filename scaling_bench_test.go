package prepaid

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/slots"
)

// scalingWire answers every request with the same body, and token requests with a token.
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
func scalingClient(tb testing.TB, body string) *Client {
	tb.Helper()
	client, err := NewClient(Config{
		BaseURL: "https://api.example.com/3.0/", Vendor: "vendor", Transport: scalingWire(body),
		Credentials: Credentials{ClientID: "bench", ClientSecret: NewSecret("secret")},
		Limiter:     slotLimiter{slots.New(slots.Options{Allowance: 1 << 17, Window: time.Millisecond, Share: 1})},
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

// BenchmarkItems reads a page of so many items; ns/item must not grow with their number.
func BenchmarkItems(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			client := scalingClient(b, scalingPage(n))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Accounts.SearchCompanyPage(b.Context(), 7, SearchCompanyParams{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
		})
	}
}

// BenchmarkCallers lets so many callers make one call each, at once; ns/call must not grow with their number.
func BenchmarkCallers(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			client := scalingClient(b, scalingAccount)
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
