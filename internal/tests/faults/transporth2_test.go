package faults

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
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
		kept := r.URL.Path == harness.OpTransfer().Path || r.URL.Path == harness.OpGet().Path
		if (r.ProtoMajor == 2) != (only || kept) {
			t.Errorf("HTTP/%d of %s", r.ProtoMajor, r.URL.Path)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method == http.MethodGet && len(body) > 0 {
			t.Errorf("body of %d bytes: %v", len(body), err)
		}
		for _, op := range harness.Ops() {
			known := r.URL.Path == op.Path && (r.Method == http.MethodGet) == (op.Name == "Accounts.Get" || op.Name == "Reporting.Start")
			if !known {
				continue
			}
			if broken.Load() > 0 {
				panic(http.ErrAbortHandler) // resets the stream
			}
			w.Header().Set("Content-Type", op.MediaType)
			w.WriteHeader(op.Status)
			_, _ = io.Copy(w, strings.NewReader(op.Body))
			return
		}
		t.Errorf("unexpected %s %s", r.Method, r.URL.Path)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	config := harness.Config(server.URL)
	transport := server.Client().Transport.(*http.Transport)
	if only {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(true)
	}
	config.Transport = transport
	client := harness.NewClient(t, config)
	for _, op := range harness.Ops() {
		require.NoError(t, op.Call(t.Context(), client), op.Name)
	}
	broken.Store(1)
	for _, op := range []harness.Op{harness.OpStart(), harness.OpCreate(), harness.OpRedeem(), harness.OpActivate()} {
		requests.Store(0)
		err := op.Call(t.Context(), client)
		require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome, op.Name)
		require.EqualValues(t, 1, requests.Load(), op.Name)
	}
}
