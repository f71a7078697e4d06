package exchange

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
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

			x, ctx := s.Begin(t.Context(), time.Now(), time.Minute, true)
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

// newEcho starts a service that sends respond the body of each request in a response, and returns a transport to it.
func newEcho(t *testing.T, secure bool, respond func(conn net.Conn, response string)) (address string, transport *http.Transport) {
	t.Helper()
	certified := httptest.NewTLSServer(http.NotFoundHandler())
	defer certified.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = "http://" + listener.Addr().String()
	if secure {
		listener, address = tls.NewListener(listener, certified.TLS), "https://"+listener.Addr().String()
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer func() { _ = conn.Close() }()
				for reader := bufio.NewReader(conn); ; {
					req, err := http.ReadRequest(reader)
					if err != nil {
						return
					}
					body, _ := io.ReadAll(req.Body)
					respond(conn, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
				}
			})
		}
	})
	transport = certified.Client().Transport.(*http.Transport)
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return address, transport
}

func pay(ctx context.Context, t *testing.T, s *Sender, address, id string) (string, Failure) {
	t.Helper()
	r := requestTo(t, address)
	r.Method, r.Body, r.Effect = http.MethodPost, []byte(id), true
	x, ctx := s.Begin(ctx, time.Now(), time.Minute, true)
	defer x.End()
	response, failure := x.Send(ctx, r) //nolint:bodyclose // Read closes it
	if response == nil {
		return "", failure
	}
	body, err := new(Buffer).Read(ctx, response, 1<<10)
	return string(body), Failure{Err: err, Sent: true}
}

// A response that is sent twice is not the response to the next request, even if net/http has read it already.
func TestSurplusIsNoResponse(t *testing.T) {
	t.Parallel()
	const callers, each = 16, 30
	for name, wrapped := range map[string]bool{"http": false, "https": false, "http, Wrappable": true, "http, with NetConn": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, transport := newEcho(t, name == "https", func(conn net.Conn, response string) {
				_, _ = io.WriteString(conn, response+response)
			})
			transport.MaxConnsPerHost = callers / 2 // so that callers wait for a connection
			if strings.HasSuffix(name, "NetConn") {
				transport.DialContext = dialAs(func(c net.Conn) net.Conn { return named{c} })
			}
			s := NewSender(transport, nil)
			if wrapped {
				w := Wrappable(transport)
				s = NewSender(transportFunc(w.RoundTrip), nil)
				defer w.(closer).CloseIdleConnections()
			}
			defer s.CloseIdle()
			var paying sync.WaitGroup
			var wrong atomic.Int32
			for caller := range callers {
				paying.Go(func() {
					for n := range each {
						id := fmt.Sprint(caller, ".", n)
						if body, failure := pay(t.Context(), t, s, address, id); failure.Err != nil || body != id {
							wrong.Add(1)
						}
					}
				})
			}
			paying.Wait()
			require.Zero(t, wrong.Load())
		})
	}
}

// unread is a connection whose bytes stay in the kernel until a request is written: the goroutine that reads it has not run yet.
type unread struct {
	*net.TCPConn

	written, closed chan struct{}
	closes          atomic.Int32
	noticed         func() // net/http has read the end and closed the connection
}

func (c *unread) NetConn() net.Conn { return c.TCPConn }

func (c *unread) Write(p []byte) (int, error) {
	c.written <- struct{}{}
	return c.TCPConn.Write(p)
}

func (c *unread) Read(p []byte) (int, error) {
	select {
	case <-c.written:
		return c.TCPConn.Read(p)
	case <-c.closed:
		return 0, io.EOF
	}
}

func (c *unread) Close() error {
	if c.closes.Add(1) == 1 {
		close(c.closed)
	} else {
		c.noticed()
	}
	return c.TCPConn.Close()
}

// A request is not written to a connection if the kernel holds its end or surplus bytes, however many such connections there are.
func TestConnectionsThatEndedArePassedOver(t *testing.T) {
	t.Parallel()
	if !receives {
		t.Skip("this system has no such look")
	}
	const kept = 3
	for name, then := range map[string]func(conn net.Conn, response string){
		"ended":   func(conn net.Conn, _ string) { _ = conn.Close() },
		"surplus": func(conn net.Conn, response string) { _, _ = io.WriteString(conn, response) },
	} {
		var arrived atomic.Int32
		var together, paying sync.WaitGroup
		together.Add(kept)
		address, transport := newEcho(t, false, func(conn net.Conn, response string) {
			last := arrived.Add(1) > kept
			if !last {
				together.Done()
				together.Wait()
			}
			_, _ = io.WriteString(conn, response)
			if !last {
				paying.Wait()
				then(conn, response)
			}
		})
		transport.MaxIdleConnsPerHost = kept
		var conns sync.Map
		noticed := make(chan struct{}, 10*kept)
		transport.DialContext = dialAs(func(conn net.Conn) net.Conn {
			c := &unread{TCPConn: conn.(*net.TCPConn), written: make(chan struct{}, 1), closed: make(chan struct{}), noticed: func() { noticed <- struct{}{} }}
			conns.Store(c, true)
			return c
		})
		s := NewSender(transport, nil)
		for range kept {
			paying.Go(func() {
				if _, failure := pay(t.Context(), t, s, address, "first"); failure.Err != nil {
					t.Error(name, failure.Err)
				}
			})
		}
		paying.Wait()
		for c := range conns.Range {
			raw, err := c.(*unread).SyscallConn()
			require.NoError(t, err)
			require.NoError(t, raw.Read(func(descriptor uintptr) bool { // waits for the end or the surplus
				_, none, _ := receive(descriptor, make([]byte, 1), true)
				return !none
			}))
		}
		trace := httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			if info.Reused {
				<-noticed // so that net/http does not go to another connection by itself
			}
		}}
		body, failure := pay(httptrace.WithClientTrace(t.Context(), &trace), t, s, address, "second")
		require.NoError(t, failure.Err, name)
		require.Equal(t, "second", body, name)
		require.EqualValues(t, kept+1, arrived.Load(), name)
		s.CloseIdle()
	}
}

// stays is a connection of a type whose Close has no effect.
type stays struct{ *net.TCPConn }

func (c stays) NetConn() net.Conn { return c.TCPConn }

func (stays) Close() error { return nil }

// An unfit connection is closed at once, whatever Close of the caller's own type does: net/http would still write to it.
func TestUnfitConnectionIsClosed(t *testing.T) {
	t.Parallel()
	if !receives {
		t.Skip("this system has no such look")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	peer, err := listener.Accept()
	require.NoError(t, err)
	require.NoError(t, peer.Close())
	tcp := client.(*net.TCPConn)
	require.False(t, fit(httptrace.GotConnInfo{Conn: observe(stays{tcp}), Reused: true}, new(atomic.Uint32)))
	require.ErrorIs(t, tcp.SetDeadline(time.Time{}), net.ErrClosed)
}

// A connection is clean only while its reader waits and has used every byte.
func TestCleanConnection(t *testing.T) {
	t.Parallel()
	if !receives {
		t.Skip("this system has no such look")
	}
	synctest.Test(t, func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = listener.Close() }()
		near, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
		require.NoError(t, err)
		far, err := listener.Accept()
		require.NoError(t, err)
		o := observe(near).(*observed)
		got := make(chan string)
		read := func() {
			buffer := make([]byte, 64)
			n, err := o.Read(buffer)
			if err != nil {
				close(got)
				return
			}
			got <- string(buffer[:n])
		}
		send := func(text string) {
			_, err := io.WriteString(far, text)
			require.NoError(t, err)
			require.Equal(t, text, <-got)
		}
		go read()
		require.True(t, o.clean(), "waits for a response")
		send("\x16\x00\x00\x01\xc8\x01")
		go read()
		require.True(t, o.clean(), "an address in the response of a SOCKS proxy")
		send("a response and more")
		require.False(t, o.clean(), "does not need more bytes")
		go read()
		require.True(t, o.clean())
		send("\x16\x03\x03\x00\x02ab\x17\x03")
		go read()
		require.False(t, o.clean(), "a part of a record's head")
		send("\x03\x00\x03ab")
		go read()
		require.False(t, o.clean(), "a part of a record")
		send("c")
		go read()
		require.True(t, o.clean(), "whole records")
		require.NoError(t, far.Close())
		<-got
		require.False(t, o.clean(), "ended")
		require.NoError(t, o.Close())
	})
}
