package faults

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/transport"
)

// http2Pipes is a service that offers HTTP/2 on pipes. Its connections can die or break.
type http2Pipes struct {
	accepted chan net.Conn

	mu    sync.Mutex
	conns []*fragileConn
}

// fragileConn is the client's end of a connection.
type fragileConn struct {
	net.Conn

	dead, broken atomic.Bool
}

// Write loses the bytes once the connection is dead, and closes a broken connection.
func (c *fragileConn) Write(p []byte) (int, error) {
	switch {
	case c.dead.Load():
		return len(p), nil
	case c.broken.Load():
		_ = c.Close()
	}
	return c.Conn.Write(p)
}

func (s *http2Pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	s.accepted <- far
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, &fragileConn{Conn: near})
	return s.conns[len(s.conns)-1], nil
}

// each calls f for each connection that was made so far.
func (s *http2Pipes) each(f func(*fragileConn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		f(c)
	}
}

func (s *http2Pipes) Accept() (net.Conn, error) {
	if c, ok := <-s.accepted; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (*http2Pipes) Close() error { return nil }

func (*http2Pipes) Addr() net.Addr { return &net.TCPAddr{} }

// testHTTP2Pipes runs a test in a bubble, with the default times and a transport whose one connection of HTTP/2 is idle.
func testHTTP2Pipes(t *testing.T, test func(t *testing.T, service *http2Pipes, config prepaid.Config, base *http.Transport)) {
	t.Helper()
	certificates := httptest.NewTLSServer(http.NotFoundHandler())
	certificates.Close()
	roots := certificates.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	synctest.Test(t, func(t *testing.T) {
		s := &http2Pipes{accepted: make(chan net.Conn, 100)}
		server := &http.Server{
			TLSConfig: &tls.Config{Certificates: certificates.TLS.Certificates, MinVersion: tls.VersionTLS12},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", harness.VendorJSON)
				_, _ = io.WriteString(w, harness.AccountJSON)
			}),
			ReadHeaderTimeout: time.Hour,
		}
		var serving sync.WaitGroup
		serving.Go(func() { _ = server.ServeTLS(s, "", "") })
		base := transport.New()
		base.DialContext, base.TLSClientConfig = s.dial, &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
		t.Cleanup(func() {
			close(s.accepted)
			s.each(func(c *fragileConn) { _ = c.Close() })
			_ = server.Close()
			serving.Wait()
		})
		test(t, s, harness.ClockConfig(base), base)
	})
}

// warm makes a connection of HTTP/2 that is then idle.
func (s *http2Pipes) warm(t *testing.T, client *prepaid.Client) {
	t.Helper()
	require.NoError(t, harness.OpGet().Call(t.Context(), client))
	require.Len(t, s.conns, 1)
}

// A connection of HTTP/2 that dies without a sign loses no read, even without retries: the default transport finds that it is dead
// before the first read on it times out, and no later read uses it.
func TestDeadHTTP2Connection(t *testing.T) {
	t.Parallel()
	testHTTP2Pipes(t, func(t *testing.T, s *http2Pipes, config prepaid.Config, _ *http.Transport) {
		t.Helper()
		config.Retry.MaxAttempts = 1
		client := harness.NewClient(t, config)
		s.warm(t, client)
		s.each(func(c *fragileConn) { c.dead.Store(true) })
		died := time.Now()
		var reads sync.WaitGroup
		for range 10 {
			reads.Go(func() { require.NoError(t, harness.OpGet().Call(t.Context(), client)) })
		}
		reads.Wait()
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		require.LessOrEqual(t, time.Since(died), 25*time.Second)
	})
}

// The same without the transport's help costs a read one time-out: the next attempt opens its own connection.
func TestDeadHTTP2ConnectionOfCaller(t *testing.T) {
	t.Parallel()
	testHTTP2Pipes(t, func(t *testing.T, s *http2Pipes, config prepaid.Config, base *http.Transport) {
		t.Helper()
		base.HTTP2 = nil
		client := harness.NewClient(t, config)
		s.warm(t, client)
		s.each(func(c *fragileConn) { c.dead.Store(true) })
		var wire harness.Capture
		require.NoError(t, harness.OpGet().Call(wire.In(t.Context()), client))
		require.Equal(t, 2, wire.Attempts())
		once, err := client.With(prepaid.Overrides{Retry: prepaid.RetryPolicy{MaxAttempts: 1}})
		require.NoError(t, err)
		require.Equal(t, 1, harness.CallError(t, harness.OpGet().Call(t.Context(), once)).Attempts, "a time-out is a failed attempt")
	})
}

// A connection of HTTP/2 that breaks before the response is no failed attempt of a read: a new one may be another read's too. net/http
// alone loses this read.
func TestBrokenHTTP2Connection(t *testing.T) {
	t.Parallel()
	for _, warm := range []bool{true, false} {
		testHTTP2Pipes(t, func(t *testing.T, s *http2Pipes, config prepaid.Config, _ *http.Transport) {
			t.Helper()
			config.Retry.MaxAttempts = 1
			client := harness.NewClient(t, config)
			if warm {
				s.warm(t, client)
			}
			breaks := sync.OnceFunc(func() { s.each(func(c *fragileConn) { c.broken.Store(true) }) })
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { breaks() }})
			began := time.Now()
			var wire harness.Capture
			require.NoError(t, harness.OpGet().Call(wire.In(ctx), client))
			require.Equal(t, 2, wire.Attempts())
			require.Equal(t, began, time.Now(), "no pause")
		})
	}
}

// Four idle connections of HTTP/1.1 that are dead cost one time-out: the repeat opens its own connection, and the client closes the idle
// ones. It leaves those of the caller's transport, which carry reads.
func TestDeadIdleConnections(t *testing.T) {
	t.Parallel()
	const kept = 4
	pay := func(ctx context.Context, c *prepaid.Client) error {
		_, err := c.Accounts.Transfer(ctx, "acc-1", harness.TransferTo("acc-2", "1.00"))
		return err
	}
	for _, x := range []struct {
		op     harness.Op
		call   func(context.Context, *prepaid.Client) error
		second int // attempts of the second call
	}{
		{harness.OpTransfer(), pay, 1},
		{harness.OpGet(), harness.OpGet().Call, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			var dead atomic.Bool
			var warm sync.WaitGroup
			warm.Add(kept)
			server := harness.NewPipes(t, func(_ int, p *harness.Peer) {
				switch {
				case !dead.Load():
					warm.Done()
					warm.Wait()
				case p.Request.Connection <= kept:
					p.Hang()
					return
				}
				p.Succeed(x.op)
			})
			config := harness.ClockConfig(server.Transport())
			config.BaseURL = server.Address + "/3.0/"
			client := harness.NewClient(t, config)
			var calls sync.WaitGroup
			for range kept {
				calls.Go(func() { require.NoError(t, x.call(t.Context(), client)) })
			}
			calls.Wait()
			require.Equal(t, kept, server.Left())
			dead.Store(true)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			for _, attempts := range []int{2, x.second} {
				var wire harness.Capture
				require.NoError(t, x.call(wire.In(ctx), client))
				require.Equal(t, attempts, wire.Attempts())
			}
		})
	}
}

// The transport's own time-out is a failed attempt, on a kept connection too.
func TestHeaderTimeoutCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		server := harness.NewPipes(t, func(_ int, p *harness.Peer) {
			if asked++; asked > 1 {
				p.Hang()
				return
			}
			p.Succeed(harness.OpGet())
		})
		config := harness.PipesConfig(server)
		base := server.Transport()
		base.ResponseHeaderTimeout = time.Second
		config.Transport, config.Retry.MaxAttempts = base, 2
		client := harness.NewClient(t, config)
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		require.Error(t, harness.OpGet().Call(t.Context(), client))
		require.Len(t, server.Seen(), 3)
	})
}

// Clients of the caller's transport that are dropped, not closed, leave no connection.
func TestDroppedClientsLeaveNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := harness.NewPipes(t, func(_ int, p *harness.Peer) { p.Succeed(harness.OpTransfer()) })
		shared := &http.Transport{DialContext: server.Dial}
		for range 100 {
			config := harness.Config(server.Address)
			config.Transport = shared
			client, err := prepaid.NewClient(config)
			require.NoError(t, err)
			client, err = client.With(prepaid.Overrides{AttemptTimeout: time.Minute})
			require.NoError(t, err)
			require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
		}
		shared.CloseIdleConnections()
		require.Equal(t, 100, server.Left())
		time.Sleep(90 * time.Second)
		synctest.Wait()
		require.Zero(t, server.Left())
	})
}
