package exchange

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Over HTTP/2 only, the first request that leads shares its connection with later ones. Over HTTP/1.1 it has its own
// connection; the next request uses the one tried first: no connection is opened in vain.
func TestLead(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{true, false} {
		var connections, bodies atomic.Int64
		var seen []string
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies.Add(int64(len(body)))
			seen = append(seen, fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.ProtoMajor, " ", r.Close))
		}))
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		}
		server.EnableHTTP2 = http2
		server.StartTLS()
		s := NewSender(server.Client().Transport, nil)
		send := func(method, path string, body []byte, lead bool) {
			r := requestTo(t, server.URL+path)
			r.Method, r.Body, r.Fresh, r.Lead = method, body, lead, lead
			status, _, failure := try(t, s, r)
			require.NoError(t, failure.Err)
			require.Equal(t, http.StatusOK, status)
		}
		send(http.MethodPost, "/token", []byte("content"), true)
		for range 3 {
			send(http.MethodGet, "/read", nil, false)
		}
		send(http.MethodPost, "/token", []byte("content"), true) // only the first leads
		want, most := []string{"POST /token 1 true", "GET /read 1 false", "GET /read 1 false", "GET /read 1 false", "POST /token 1 true"}, 3
		if http2 {
			want, most = []string{"POST /token 2 false", "GET /read 2 false", "GET /read 2 false", "GET /read 2 false", "POST /token 1 true"}, 2
		}
		require.Equal(t, want, seen)
		require.EqualValues(t, most, connections.Load())
		require.EqualValues(t, 2*len("content"), bodies.Load())
		server.Client().CloseIdleConnections()
		server.Close()
	}
}

// A request that cannot connect fails as any other.
func TestLeadThatFails(t *testing.T) {
	t.Parallel()
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	defer untrusted.Close()
	for name, c := range map[string]struct {
		address string
		failure Failure
	}{
		"refused":   {"https://127.0.0.1:1", Failure{MayConnect: true}},
		"untrusted": {untrusted.URL, Failure{}},
	} {
		failure := leadThatFails(t, &http.Transport{}, c.address, time.Minute)
		require.Error(t, failure.Err, name)
		failure.Err = nil
		require.Equal(t, c.failure, failure, name)
	}
	synctest.Test(t, func(t *testing.T) {
		near, silent := net.Pipe()
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return near, nil }}
		require.Equal(t, Failure{Err: ErrTimeout, MayConnect: true}, leadThatFails(t, transport, "https://h", time.Second))
		require.NoError(t, silent.Close()) // ends the dial that goes on
	})
}

func leadThatFails(t *testing.T, transport *http.Transport, address string, limit time.Duration) Failure {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	x, ctx := NewSender(transport, nil).Begin(t.Context(), time.Now(), limit, true)
	response, failure := x.Send(ctx, Request{Method: http.MethodPost, URL: u, Header: http.Header{}, Body: []byte("x"), Fresh: true, Lead: true}) //nolint:bodyclose // there is none
	x.End()
	require.Nil(t, response)
	return failure
}
