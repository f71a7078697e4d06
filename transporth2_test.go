package prepaid_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// Over HTTP/2, which only a caller's transport that speaks nothing else brings to what is never repeated, the same holds:
// an ordinary call works, a stream that breaks leaves what is never repeated unknown, and a report start is sent once
// and without a body.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{true, false} {
		testHTTP2(t, only)
	}
}

func testHTTP2(t *testing.T, only bool) {
	t.Helper()
	var requests, broken atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		kept := r.URL.Path == opTransfer().path || r.URL.Path == opGet().path
		if (r.ProtoMajor == 2) != (only || kept) {
			t.Errorf("HTTP/%d of %s", r.ProtoMajor, r.URL.Path)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method == http.MethodGet && len(body) > 0 {
			t.Errorf("body of %d bytes: %v", len(body), err)
		}
		for _, op := range coreOps() {
			known := r.URL.Path == op.path && (r.Method == http.MethodGet) == (op.name == "Accounts.Get" || op.name == "Reporting.Start")
			if !known {
				continue
			}
			if broken.Load() > 0 {
				panic(http.ErrAbortHandler) // resets the stream
			}
			w.Header().Set("Content-Type", op.mediaType)
			w.WriteHeader(op.status)
			_, _ = io.Copy(w, strings.NewReader(op.body))
			return
		}
		t.Errorf("unexpected %s %s", r.Method, r.URL.Path)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	config := coreConfig(server.URL)
	transport := server.Client().Transport.(*http.Transport)
	if only {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(true)
	}
	config.Transport = transport
	client := newCoreClient(t, config)
	for _, op := range coreOps() {
		require.NoError(t, op.call(t.Context(), client), op.name)
	}
	broken.Store(1)
	for _, op := range []coreOp{opStart(), opCreate(), opRedeem(), opActivate()} {
		requests.Store(0)
		err := op.call(t.Context(), client)
		require.Equal(t, prepaid.OutcomeUnknown, callError(t, err).Outcome, op.name)
		require.EqualValues(t, 1, requests.Load(), op.name)
	}
}
