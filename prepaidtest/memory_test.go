package prepaidtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// 15,000 requests that leave no state leave no memory either: the logs are rings, and expired tokens and
// report runs are removed. The handler is called without a network, to save time.
func TestMemoryIsFlatOverManyRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 15,000 requests")
	}
	s := NewServer(t, Options{RequestLog: 1000})
	s.rates.Limit = 1 << 30 // counts, and admits everything
	id := string(s.AddAccount(SeedAccount{Balance: "100"}))
	const token = "token"
	s.service.Tokens.Put(token, s.Now().AddDate(10, 0, 0))
	status := `{"status":"active"}`
	send := func(method, path, body string, i int) {
		r := httptest.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", i>>16&255, i>>8&255, i&255)
		r.Header.Set("Authorization", "Bearer "+token)
		if body != "" {
			r.Header.Set("Content-Type", vendorJSON)
		}
		if path == "token" {
			r.Header.Set("Authorization", basic("emulator-client", "emulator-secret"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		var w discard
		s.ServeHTTP(&w, r)
		if w.status != http.StatusOK && w.status != http.StatusNotFound {
			require.Fail(t, "an unexpected status", "%s %s: %d", method, path, w.status)
		}
	}
	round := func(requests int) uint64 {
		for i := range requests {
			switch i % 10 {
			case 0:
				send(http.MethodPut, "accounts/"+id+"/status", status, i)
			case 1:
				send(http.MethodGet, fmt.Sprintf("accounts/unknown%d", i), "", i)
			case 2:
				send(http.MethodGet, "accounts/company/42?with_personal=1", "", i)
			case 3:
				if i%1000 == 3 {
					send(http.MethodPost, "token", "grant_type=client_credentials", i)
				} else {
					send(http.MethodGet, fmt.Sprintf("nowhere/%d", i), "", i)
				}
			default:
				send(http.MethodGet, "accounts/"+id, "", i)
			}
		}
		s.Advance(s.settings.service.Tokens.Lifetime)
		var memory runtime.MemStats
		runtime.GC() //nolint:revive // what is left is what counts
		runtime.GC() //nolint:revive // the first one only begins to empty the pools
		runtime.ReadMemStats(&memory)
		return memory.HeapAlloc
	}
	begun := round(5_000)
	ended := round(10_000)
	t.Logf("heap after 5,000 requests %d KB, after 15,000 %d KB", begun>>10, ended>>10)
	require.Less(t, ended, begun+1<<15, "less than four bytes a request")
}

// discard is a response writer that keeps the status.
type discard struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (d *discard) Header() http.Header {
	if d.header == nil {
		d.header = make(http.Header)
	}
	return d.header
}

// WriteHeader implements http.ResponseWriter.
func (d *discard) WriteHeader(status int) { d.status = status }

// Write implements http.ResponseWriter.
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }

// A report of 100 MB passes through, and only a few buffers are held at any time.
func TestReportsAreNotHeldInMemory(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	if testing.Short() {
		t.Skip("streams 100 MB")
	}
	c := start(t, Options{ReportDelay: -1})
	line := strings.Repeat("x", 1022) + "\r\n"
	const lines = 100 << 10
	live := func() uint64 { // garbage not yet collected does not count
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	var peak uint64
	c.AddReport("large", func(w io.Writer, _ bool) (int, error) {
		for i := range lines {
			if _, err := io.WriteString(w, line); err != nil {
				return 0, err
			}
			if i%(lines/20) == 0 {
				peak = max(peak, live())
			}
		}
		return lines, nil
	})
	id := string(c.get("reporting/templates/large?include_column_headers=false").ok().body)
	runtime.GC() //nolint:revive // what was there before does not count
	before := live()
	read, err := io.Copy(io.Discard, c.open("reporting/templates/large/reports/"+id))
	require.NoError(t, err)
	require.Greater(t, read, int64(lines)*1024)
	require.Less(t, peak, before+16<<20)
}
