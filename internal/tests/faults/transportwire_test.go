package faults

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Redirects are never followed: they would replay bodies and hand the bearer to another port.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, op := range []harness.Op{harness.OpGet(), harness.OpTransfer(), harness.OpCreate(), harness.OpStart()} {
			t.Run(fmt.Sprint(status, "/", op.Name), func(t *testing.T) {
				t.Parallel()
				elsewhere := harness.NewServer(t, func(_ int, p *harness.Peer) {
					t.Errorf("followed with Authorization %q", p.Request.Header.Get("Authorization"))
					p.Succeed(op)
				})
				server := harness.NewServer(t, func(n int, p *harness.Peer) {
					target := elsewhere.Address + p.Request.Target
					if n > 1 {
						t.Error("asked twice")
					}
					p.Respond(status, "", "", "Location: "+target)
				})
				err := op.Call(t.Context(), harness.NewClient(t, harness.Config(server.Address)))
				failure := harness.As[*prepaid.APIError](t, err)
				require.Equal(t, status, failure.StatusCode)
				want := prepaid.OutcomeUnknown
				if op.Name == "Accounts.Get" {
					want = prepaid.OutcomeNotProcessed
				}
				require.Equal(t, want, harness.CallError(t, err).Outcome)
				require.NotContains(t, err.Error(), elsewhere.Address)
				require.Empty(t, elsewhere.Seen())
			})
		}
	}
}

// A payment is sent in one write: no server can act on its head before its body arrives.
func TestRequestLeavesInOneWrite(t *testing.T) {
	t.Parallel()
	op := harness.OpTransfer()
	server := harness.NewServer(t, func(_ int, p *harness.Peer) { p.Succeed(op) })
	var writes atomic.Int32
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := new(net.Dialer).DialContext(ctx, network, address)
		return watchedConn{connection, func() error { writes.Add(1); return nil }}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	config := harness.Config(server.Address)
	config.Transport = transport
	client := harness.NewClient(t, config)
	for range 5 {
		require.NoError(t, op.Call(t.Context(), client))
	}
	require.EqualValues(t, 5, writes.Load())
}

// The headers of each request: the vendor's media type, Content-Type only with a body, and no parameters.
func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	for _, op := range harness.Ops() {
		t.Run(op.Name, func(t *testing.T) {
			t.Parallel()
			server := harness.NewServer(t, func(_ int, p *harness.Peer) { p.Succeed(op) })
			config := harness.Config(server.Address)
			config.UserAgent = "acme-cards/1.4"
			require.NoError(t, op.Call(t.Context(), harness.NewClient(t, config)))
			request := server.Seen()[0]
			require.Equal(t, []string{"Bearer token-1"}, request.Header["Authorization"])
			require.Regexp(t, `^prepaid-go/\d+\.\d+\.\d+ acme-cards/1\.4$`, request.Header.Get("User-Agent"))
			accept := harness.VendorJSON
			if op.MediaType == harness.OctetStream {
				accept = harness.OctetStream + ", " + harness.VendorJSON
			}
			require.Equal(t, []string{accept}, request.Header["Accept"])
			if request.Body == "" {
				require.NotContains(t, request.Header, "Content-Type")
			} else {
				require.Equal(t, []string{harness.VendorJSON}, request.Header["Content-Type"])
				require.Equal(t, fmt.Sprint(len(request.Body)), request.Header.Get("Content-Length"))
				require.Empty(t, request.Header.Get("Transfer-Encoding"))
			}
			names := []string{"Authorization", "User-Agent", "Accept", "Content-Type", "Content-Length", "Accept-Encoding", "Connection"}
			for name := range request.Header {
				require.Contains(t, names, name, "a header nobody asked for")
			}
		})
	}
}

// A good body counts under any media type. A bad one is the service's own fault under its type, or under the
// application/json that proxies put there, and a stranger's under any other: then nothing is known.
func TestResponseMediaTypes(t *testing.T) {
	t.Parallel()
	for mediaType, want := range map[string]prepaid.Outcome{
		harness.VendorJSON:                       prepaid.OutcomeApplied,
		"Application/Vnd.Vendor+JSON":            prepaid.OutcomeApplied,
		harness.VendorJSON + "; charset=utf-8":   prepaid.OutcomeApplied,
		harness.VendorJSON + ";;broken":          prepaid.OutcomeApplied,
		"application/json, Application/JSON;q=1": prepaid.OutcomeApplied, // a proxy joins headers
		"application/json, ":                     prepaid.OutcomeApplied, // an empty header
		"application/json, text/html;q=1":        prepaid.OutcomeUnknown,
		`application/json; a="b,c"`:              prepaid.OutcomeApplied,
		"application/json":                       prepaid.OutcomeApplied,
		"application/json; charset=utf-8":        prepaid.OutcomeApplied,
		"text/plain":                             prepaid.OutcomeUnknown,
		harness.OctetStream:                      prepaid.OutcomeUnknown,
		"":                                       prepaid.OutcomeUnknown,
		"text/html":                              prepaid.OutcomeUnknown,
		"application/problem+json":               prepaid.OutcomeUnknown,
		"application/vnd.somebody-else+json":     prepaid.OutcomeUnknown,
	} {
		client := harness.NewScript(harness.Respond(201, mediaType, harness.SummaryJSON), harness.Respond(201, mediaType, `{"balance":null}`)).Client(t)
		require.NoError(t, harness.OpCreate().Call(t.Context(), client), mediaType)
		err := harness.OpCreate().Call(t.Context(), client)
		require.Equal(t, want, harness.CallError(t, err).Outcome, mediaType)
		failure := harness.As[*prepaid.DecodeError](t, err)
		require.Equal(t, 201, failure.StatusCode)
		require.True(t, strings.HasPrefix(strings.ToLower(mediaType), failure.MediaType), failure.MediaType)
	}
}

// An address works with and without a final slash; its own path stays in front.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	for address, path := range map[string]string{
		"https://cards.example/3.0": "", "https://cards.example/3.0/": "", "https://cards.example/gate%2Fway/api/3.0/": "/gate%2Fway/api",
	} {
		service := harness.NewScript(harness.Succeed(harness.OpGet()))
		config := service.Config()
		config.BaseURL = address
		require.NoError(t, harness.OpGet().Call(t.Context(), harness.NewClient(t, config)))
		require.Equal(t, path+harness.OpGet().Path, service.Requests()[0].Target)
	}
}
