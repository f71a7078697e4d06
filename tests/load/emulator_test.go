package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

const vendorJSON = "application/vnd.vendor+json"

// emulated calls the handler of an emulator without a network.
type emulated struct {
	*prepaidtest.Server
	t     *testing.T
	token string
}

// authorise gets a new token.
func (e *emulated) authorise() {
	e.t.Helper()
	r := httptest.NewRequestWithContext(e.t.Context(), http.MethodPost, e.URL+"token", strings.NewReader("grant_type=client_credentials"))
	r.SetBasicAuth("emulator-client", "emulator-secret")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	var got struct {
		Token string `json:"access_token"`
	}
	require.NoError(e.t, json.Unmarshal(w.Body.Bytes(), &got))
	e.token = got.Token
}

// send makes a request from an address of its own.
func (e *emulated) send(w http.ResponseWriter, method, path, body string, i int) {
	r := httptest.NewRequestWithContext(e.t.Context(), method, e.URL+path, strings.NewReader(body))
	r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", i>>16&255, i>>8&255, i&255)
	r.Header.Set("Authorization", "Bearer "+e.token)
	if body != "" {
		r.Header.Set("Content-Type", vendorJSON)
	}
	e.ServeHTTP(w, r)
}

// discard is a response writer that keeps the status and the number of bytes.
type discard struct {
	header  http.Header
	status  int
	written int64
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
func (d *discard) Write(p []byte) (int, error) {
	d.written += int64(len(p))
	return len(p), nil
}

// 15,000 requests that leave no state leave no memory either: the logs are rings, and expired tokens and report runs are
// removed. Not parallel: it measures the heap.
func TestMemoryIsFlatOverManyRequests(t *testing.T) {
	e := &emulated{Server: prepaidtest.NewServer(t, prepaidtest.Options{RequestLog: 1000, RateLimit: 1 << 30}), t: t}
	id := string(e.AddAccount(prepaidtest.SeedAccount{Balance: "100"}))
	round := func(requests int) uint64 {
		e.authorise()
		for i := range requests {
			var w discard
			switch i % 10 {
			case 0:
				e.send(&w, http.MethodPut, "accounts/"+id+"/status", `{"status":"active"}`, i)
			case 1:
				e.send(&w, http.MethodGet, fmt.Sprintf("accounts/unknown%d", i), "", i)
			case 2:
				e.send(&w, http.MethodGet, "accounts/company/42?with_personal=1", "", i)
			case 3:
				if i%1000 == 3 {
					e.authorise()
				}
				e.send(&w, http.MethodGet, fmt.Sprintf("nowhere/%d", i), "", i)
			default:
				e.send(&w, http.MethodGet, "accounts/"+id, "", i)
			}
			if w.status != http.StatusOK && w.status != http.StatusNotFound {
				require.Fail(t, "an unexpected status", "request %d: %d", i, w.status)
			}
		}
		e.Advance(time.Hour) // no token remains
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
