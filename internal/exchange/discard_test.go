package exchange

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// watched is a listener that reports for each connection, by its remote address, whether it ended with a reset.
type watched struct {
	net.Listener

	ends chan end
}

type end struct {
	address string
	reset   bool
}

func (l watched) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &watchedConn{Conn: conn, ends: l.ends}, err
}

type watchedConn struct {
	net.Conn

	ends  chan end
	reset atomic.Bool
	once  sync.Once
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, syscall.ECONNRESET) {
		c.reset.Store(true)
	}
	return n, err
}

// Close reads to the end: the server does not, after the close alert of TLS.
func (c *watchedConn) Close() error {
	c.once.Do(func() {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		_, _ = io.Copy(io.Discard, c)
		c.ends <- end{c.RemoteAddr().String(), c.reset.Load()}
	})
	return c.Conn.Close()
}

// named is the caller's connection type with NetConn, and hiding one without it.
type named struct{ net.Conn }

func (c named) NetConn() net.Conn { return c.Conn }

type hiding struct{ net.Conn }

func dialAs(wrap func(net.Conn) net.Conn) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return wrap(conn), nil
	}
}

// An exchange without a response resets its TCP connection: the peer sees no orderly end, so that the kernel keeps nothing.
func TestAbandonedRequestIsReset(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("other error numbers")
	}
	http2 := new(http.Protocols)
	http2.SetHTTP2(true)
	for name, c := range map[string]struct {
		secure, fresh, hidden bool
		transport             func(*http.Transport) http.RoundTripper
	}{
		"HTTP/1.1":           {transport: func(t *http.Transport) http.RoundTripper { return t }},
		"its own connection": {fresh: true, transport: func(t *http.Transport) http.RoundTripper { return t }},
		"TLS":                {secure: true, transport: func(t *http.Transport) http.RoundTripper { return t }},
		"HTTP/2 only":        {secure: true, transport: func(t *http.Transport) http.RoundTripper { t.Protocols = http2; return t }},
		"Wrappable":          {secure: true, transport: func(t *http.Transport) http.RoundTripper { return transportFunc(Wrappable(t).RoundTrip) }},
		"another, of HTTP/2": {secure: true, transport: func(t *http.Transport) http.RoundTripper { return transportFunc(t.RoundTrip) }},
		"with NetConn": {transport: func(t *http.Transport) http.RoundTripper {
			t.DialContext = dialAs(func(c net.Conn) net.Conn { return named{c} })
			return t
		}},
		"without NetConn": {hidden: true, transport: func(t *http.Transport) http.RoundTripper {
			t.DialContext = dialAs(func(c net.Conn) net.Conn { return hiding{c} })
			return t
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			protocols, slow := make(chan int, 2), make(chan string, 1)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				protocols <- r.ProtoMajor
				if r.URL.Path == "/slow" {
					slow <- r.RemoteAddr
					<-r.Context().Done()
					panic(http.ErrAbortHandler)
				}
			}))
			ends, transport := make(chan end, 10), new(http.Transport)
			server.Listener, server.EnableHTTP2 = watched{server.Listener, ends}, true
			if c.secure {
				server.StartTLS()
				transport = server.Client().Transport.(*http.Transport)
			} else {
				server.Start()
			}
			var last atomic.Pointer[net.TCPConn]
			transport.DialContext = dialAs(func(conn net.Conn) net.Conn {
				last.Store(conn.(*net.TCPConn))
				return conn
			})
			s := NewSender(c.transport(transport), nil)
			r := requestTo(t, server.URL+"/quick")
			r.Method, r.Body, r.Effect, r.Fresh = http.MethodPost, []byte("content"), true, c.fresh
			_, _, failure := try(t, s, r)
			require.NoError(t, failure.Err)
			protocol := <-protocols
			require.Equal(t, name == "HTTP/2 only" || name == "another, of HTTP/2", protocol == 2)
			require.Equal(t, c.hidden, s.Hidden())

			x, ctx := s.Begin(t.Context(), time.Minute, true)
			r.URL.Path = "/slow"
			arrived := make(chan string)
			go func() {
				address := <-slow
				x.timer.Reset(0) // the time of the exchange is over
				arrived <- address
			}()
			response, failure := x.Send(ctx, r) //nolint:bodyclose // there is none
			x.End()
			require.Nil(t, response)
			require.ErrorIs(t, failure.Err, ErrTimeout)
			if conn := last.Load(); conn != nil { // not one of the caller's own types
				require.ErrorIs(t, conn.SetLinger(0), net.ErrClosed)
			}
			address, ended := <-arrived, end{}
			for ended.address != address {
				ended = <-ends
			}
			if !c.secure { // a server that writes a farewell of TLS does not read the reset
				require.Equal(t, !c.hidden, ended.reset)
			}
			transport.CloseIdleConnections()
			s.CloseIdle()
			server.Close()
		})
	}
}
