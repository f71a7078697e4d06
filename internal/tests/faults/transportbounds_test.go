package faults

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/metrics"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/transport"
)

const gigabyte = 1 << 30

// allocated is the number of bytes that this process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// However much the service or a proxy sends, the client reads little and keeps less. The test is serial, so that
// the allocations are those of the call.
func TestResponsesAreReadBounded(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	_, err := packer.Write(make([]byte, 4<<20))
	require.NoError(t, err)
	require.NoError(t, packer.Close())
	bomb := packed.Bytes()
	header := []byte(strings.Repeat("X-Filler: "+strings.Repeat("y", 1000)+"\r\n", 60))
	ok := "HTTP/1.1 200 X\r\nContent-Type: " + harness.VendorJSON + "\r\n"
	for name, fault := range map[string]struct {
		head  string
		chunk []byte // is sent again and again
		limit int
		want  string // in the error
	}{
		"error body":                  {fmt.Sprintf("HTTP/1.1 400 X\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", harness.VendorJSON, gigabyte), chunk, gigabyte, "status 400"},
		"error body without a length": {"HTTP/1.1 403 X\r\nContent-Type: text/html\r\n\r\n", chunk, gigabyte, "status 403"},
		"success":                     {fmt.Sprintf("%sContent-Length: %d\r\n\r\n", ok, gigabyte), chunk, gigabyte, "larger than MaxResponseBytes"},
		"gzip bomb":                   {ok + "Content-Encoding: gzip\r\n\r\n", bomb, gigabyte / (4 << 20) * len(bomb), "larger than MaxResponseBytes"},
		"headers":                     {ok, header, gigabyte, "no complete response (headers)"},
		"a header without an end":     {ok + "X-Filler: ", chunk, gigabyte, "no complete response (headers)"},
	} {
		t.Run(name, func(t *testing.T) {
			poured, rid := 0, make(chan struct{}) // closed when the server is rid of the client
			server := harness.NewServer(t, func(_ int, p *harness.Peer) {
				defer close(rid)
				p.Send(fault.head)
				for poured < fault.limit {
					n, err := p.Write(fault.chunk)
					if poured += n; err != nil {
						break
					}
				}
				_ = p.Close()
			})
			config := harness.Config(server.Address)
			config.MaxResponseBytes, config.Retry.MaxAttempts = 1<<20, 1
			client := harness.NewClient(t, config)
			before := allocated()
			err := harness.OpGet().Call(t.Context(), client)
			used := allocated() - before
			require.ErrorContains(t, err, fault.want)
			if name == "error body" {
				require.Len(t, harness.As[*prepaid.APIError](t, err).Body, 64<<10)
			}
			require.Less(t, used, uint64(24<<20), "memory")
			<-rid
			require.Positive(t, poured)
			require.Less(t, poured, 64<<20, "bytes on the wire")
		})
	}
}

// A trickle is bounded by the attempt's time. Of an error response the status is enough.
func TestTrickle(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		head    string
		op      harness.Op
		want    string
		outcome prepaid.Outcome
	}{
		"success": {
			"HTTP/1.1 200 X\r\nContent-Type: " + harness.VendorJSON + "\r\nContent-Length: 1000\r\n\r\n", harness.OpGet(),
			"no complete response (body): attempt timed out", prepaid.OutcomeNotProcessed,
		},
		"error":   {"HTTP/1.1 409 X\r\nContent-Length: 1000\r\n\r\n", harness.OpTransfer(), "status 409", prepaid.OutcomeUnknown}, // its form did not arrive
		"headers": {"HTTP/1.1 200 X\r\nX-Slow: ", harness.OpCreate(), "no complete response (headers): attempt timed out", prepaid.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := harness.NewPipes(t, func(_ int, p *harness.Peer) {
					p.Send(tc.head)
					for range 400 {
						if _, err := p.Write([]byte(" ")); err != nil {
							return
						}
						time.Sleep(time.Second)
					}
				})
				config := harness.PipesConfig(server)
				config.Retry.MaxAttempts = 1
				began := time.Now()
				failure := harness.CallError(t, tc.op.Call(t.Context(), harness.NewClient(t, config)))
				require.ErrorContains(t, failure, tc.want)
				require.Equal(t, tc.outcome, failure.Outcome)
				if name == "success" {
					require.ErrorIs(t, failure, os.ErrDeadlineExceeded)
					require.True(t, harness.As[net.Error](t, failure).Timeout())
				}
				require.LessOrEqual(t, time.Since(began), 20*time.Second)
				require.Len(t, server.Seen(), 1)
			})
		})
	}
}

// The error of a call that its context ended also matches the context's cause, unless the cause is the error of another call.
func TestCauseOfTheEnd(t *testing.T) {
	t.Parallel()
	why := errors.New("shutting down")
	ours := []error{
		&prepaid.APIError{StatusCode: 400}, prepaid.ErrRequestIDReused, prepaid.ErrRateLimited, prepaid.ErrClosed, journal.ErrWindow, prepaid.CodeBadAccount,
	}
	for i, cause := range append([]error{why, fmt.Errorf("deploy: %w", why), errors.Join(why, io.EOF), &prepaid.CallError{Err: why}}, ours...) {
		ctx, cancel := context.WithCancelCause(t.Context())
		client := harness.NewScript(func(*http.Request) (*http.Response, error) {
			cancel(cause)
			return nil, harness.ErrCut
		}).Client(t)
		err := harness.OpTransfer().Call(ctx, client)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, i < 3, errors.Is(err, why))
		for _, other := range ours { // of another call
			require.NotErrorIs(t, err, other)
		}
		_, refused := errors.AsType[*prepaid.APIError](err)
		require.False(t, refused)
		require.NotContains(t, err.Error(), "shutting down")
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
	}
}

// A proxy that refuses its user is not asked again, is named, and its words are not shown. After any other failure it is.
func TestProxyRefuses(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]struct {
		text     string
		requests int
	}{
		"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n":                          {"the proxy refused its credentials (status 407)", 1},
		"HTTP/1.1 407 CANARY ann \x1b[2J" + strings.Repeat("x", 200_000) + "\r\n\r\n": {"the proxy refused", 1},
		"HTTP/1.1 503 Service Unavailable\r\n\r\n":                                    {"the proxy refused to connect (status 503)", 3},
		"":                        {"EOF", 3}, // the connection breaks
		"HTTP/1.1 200 OK\r\n\r\n": {"EOF", 3}, // not refused
	} {
		for _, wrap := range []func(*http.Transport) http.RoundTripper{
			func(t *http.Transport) http.RoundTripper { return t }, transport.Wrappable,
		} {
			for _, op := range []harness.Op{harness.OpGet(), harness.OpTransfer(), harness.OpCreate()} {
				server := harness.NewServer(t, func(_ int, p *harness.Peer) {
					if p.Send(words); strings.Contains(words, "200") {
						_, _ = p.Conn.Read(make([]byte, 1<<14)) // what is unread would reset the connection
					}
					_ = p.Conn.Close()
				})
				config, base := harness.Config("https://service.example"), transport.New()
				proxy, err := url.Parse(server.Address)
				require.NoError(t, err)
				base.Proxy = http.ProxyURL(proxy)
				config.Transport = wrap(base)
				failure := harness.CallError(t, op.Call(t.Context(), harness.NewClient(t, config)))
				require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
				require.Len(t, server.Seen(), want.requests, "%.30q %s: %v", words, op.Name, failure)
				require.ErrorContains(t, failure, want.text)
				require.NotContains(t, failure.Error(), "CANARY")
			}
		}
	}
	server := harness.NewServer(t, func(_ int, p *harness.Peer) {
		p.Send("HTTP/1.1 200 OK\r\n\r\n")
		_ = p.Conn.Close()
	})
	proxy, err := url.Parse(server.Address)
	require.NoError(t, err)
	pin, config := errors.New("CANARY: another certificate"), harness.Config("https://service.example")
	check := func(context.Context, *url.URL, *http.Request, *http.Response) error { return pin }
	config.Transport = &http.Transport{Proxy: http.ProxyURL(proxy), OnProxyConnectResponse: check}
	failure := harness.CallError(t, harness.OpTransfer().Call(t.Context(), harness.NewClient(t, config)))
	require.ErrorIs(t, failure, pin)
	require.ErrorContains(t, failure, "the proxy refused to connect, or a check by the transport failed")
	require.NotContains(t, failure.Error(), "CANARY")
	for _, op := range append(harness.Ops(), harness.OpActivate()) {
		script := harness.NewScript(harness.Respond(407, "text/html", harness.HTMLPage))
		require.ErrorContains(t, op.Call(t.Context(), script.Client(t)), "status 407 of a proxy")
		require.Len(t, script.Requests(), 1)
	}
}
