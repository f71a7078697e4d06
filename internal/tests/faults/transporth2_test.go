package faults

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Each call works over HTTP/2, which only a caller's transport that speaks nothing else brings to requests that are never repeated. A
// report start has no body. TestHTTP2ResetIsNotRepeatedBelowUs has the streams that break.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	for _, only := range []bool{true, false} {
		testHTTP2(t, only)
	}
}

func testHTTP2(t *testing.T, only bool) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (r.ProtoMajor == 2) != (only || r.URL.Path == harness.OpGet().Path) {
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
}

// Over HTTP/2 the first token request shares its connection with the calls that follow. Over HTTP/1.1, where net/http logs
// the bytes after a token, it does not: the calls use the connection on which HTTP/2 was not found.
func TestFirstTokenLeads(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{true, false} {
		var connections, tokens atomic.Int32
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if (r.ProtoMajor == 2) != http2 {
				t.Errorf("HTTP/%d of %s", r.ProtoMajor, r.URL.Path)
			}
			w.Header().Set("Content-Type", harness.VendorJSON)
			if r.URL.Path != "/3.0/token" {
				_, _ = io.WriteString(w, harness.AccountJSON)
				return
			}
			tokens.Add(1)
			if r.Close == http2 {
				t.Errorf("the token's connection is closed: %v", r.Close)
			}
			_, _ = io.WriteString(w, `{"access_token":"token","token_type":"Bearer","expires_in":3600}`)
		}))
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		}
		server.EnableHTTP2 = http2
		server.StartTLS()
		t.Cleanup(server.Close)
		config := harness.Config(server.URL)
		config.TokenSource, config.Transport = nil, server.Client().Transport
		config.ClientID, config.ClientSecret = "id", prepaid.NewSecret("secret")
		client := harness.NewClient(t, config)
		for range 3 {
			require.NoError(t, harness.OpGet().Call(t.Context(), client))
		}
		require.EqualValues(t, 1, tokens.Load())
		require.EqualValues(t, map[bool]int{true: 1, false: 2}[http2], connections.Load())
		server.Client().CloseIdleConnections()
	}
}
