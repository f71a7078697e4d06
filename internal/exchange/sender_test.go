package exchange

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Concurrent requests with an effect have a connection each, even on a transport that supports only HTTP/2. So have requests with
// Fresh.
func TestConnectionsAreNotShared(t *testing.T) {
	t.Parallel()
	const all = 8
	http2 := new(http.Protocols)
	http2.SetUnencryptedHTTP2(true)
	for name, protocols := range map[string]*http.Protocols{"HTTP/1.1": nil, "HTTP/2 only": http2} {
		for _, wrapped := range []bool{false, true} {
			var mu sync.Mutex
			arrived, connections := 0, map[string]bool{}
			together := make(chan struct{})
			respond := sync.OnceFunc(func() { close(together) })
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				connections[r.RemoteAddr] = true
				if arrived++; arrived == all {
					respond()
				}
				mu.Unlock()
				<-together
			}))
			server.Config.Protocols = protocols
			server.Start()
			own := &http.Transport{Protocols: protocols}
			transport := http.RoundTripper(own)
			if wrapped {
				transport = transportFunc(Wrappable(own).RoundTrip)
			}
			s := NewSender(transport, nil)
			var connected, sent sync.WaitGroup
			connected.Add(all)
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
				connected.Done()
				connected.Wait() // so that all look for a connection before the first is in use
			}})
			for i := range all {
				sent.Go(func() {
					r := requestTo(t, server.URL)
					r.Method, r.Body, r.Effect, r.Fresh = http.MethodPost, []byte("content"), true, i%2 == 0
					x, ctx := s.Begin(ctx, time.Now(), time.Minute, true)
					response, failure := x.Send(ctx, r)
					defer x.End()
					if response != nil {
						_ = response.Body.Close()
					} else {
						t.Error(name, failure.Err)
						respond()
					}
				})
			}
			sent.Wait()
			require.Len(t, connections, all, "%s, wrapped %v", name, wrapped)
			s.CloseIdle()
			server.Close()
		}
	}
}

// Without a connection, a request with an effect never left, although the caller's transport did not even ask for one. A read may have
// left by a protocol that the caller registered.
func TestNothingWasDialled(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	fails := func(*http.Request) (*url.URL, error) { return nil, failed }
	http2 := new(http.Protocols)
	http2.SetHTTP2(true)
	registered := &http.Transport{Protocols: new(http.Protocols)}
	registered.Protocols.SetHTTP1(true)
	registered.RegisterProtocol("https", transportFunc(func(*http.Request) (*http.Response, error) { return nil, failed }))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx       context.Context //nolint:containedctx // of one call
		transport *http.Transport
		err       error
	}{
		"proxy":               {t.Context(), &http.Transport{Proxy: fails}, failed},
		"proxy, HTTP/2 only":  {t.Context(), &http.Transport{Proxy: fails, Protocols: http2}, failed},
		"ended":               {ended, &http.Transport{}, context.Canceled},
		"ended, HTTP/2 only":  {ended, &http.Transport{Protocols: http2}, context.Canceled},
		"registered protocol": {ended, registered, context.Canceled},
	} {
		for _, transport := range []http.RoundTripper{c.transport, transportFunc(Wrappable(c.transport).RoundTrip)} {
			s := NewSender(transport, nil)
			for _, fresh := range []bool{false, true} {
				for _, effect := range []bool{false, true} {
					r := requestTo(t, "https://127.0.0.1:1")
					r.Body, r.Effect, r.Fresh = []byte("content"), effect, fresh
					x, ctx := s.Begin(c.ctx, time.Now(), time.Minute, true)
					_, failure := x.Send(ctx, r) //nolint:bodyclose // there is none
					x.End()
					require.ErrorIs(t, failure.Err, c.err, name)
					require.Equal(t, !effect && !fresh, failure.Sent, name)
					require.NotEqual(t, failure.Sent, failure.MayConnect, name)
				}
			}
		}
	}
}

// Payments over HTTP/2 only that end during the handshake leave no connection, whether the handshake goes on or not. Nor are they a data
// race, although net/http changes NextProtos.
func TestHandshakeOutlastsItsRequest(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	trusting := server.Client().Transport.(*http.Transport).TLSClientConfig
	trusting.NextProtos = append(make([]string, 0, 8), "h2")
	for _, completes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var open, sent sync.WaitGroup
			transport := &http.Transport{TLSClientConfig: trusting.Clone(), Protocols: new(http.Protocols)}
			transport.Protocols.SetHTTP2(true)
			transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
				near, far := net.Pipe()
				open.Go(func() {
					if completes {
						far = tls.Server(far, server.TLS)
					}
					_, _ = io.Copy(io.Discard, far)
					_ = far.Close()
				})
				return near, nil
			}
			s := NewSender(transport, nil)
			for i := range 40 {
				sent.Go(func() {
					limited, cancel := context.WithCancel(t.Context())
					over := make(chan struct{})
					x, ctx := s.Begin(httptrace.WithClientTrace(limited, &httptrace.ClientTrace{
						TLSHandshakeStart: func() {
							if !completes {
								cancel()
							}
						},
						TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
							if err == nil {
								cancel()
								<-over
							}
						},
					}), time.Now(), time.Hour, true)
					r := requestTo(t, "https://example.com")
					r.Method, r.Body, r.Effect, r.Fresh = http.MethodPost, []byte("content"), true, i%2 == 0
					_, failure := x.Send(ctx, r) //nolint:bodyclose // there is none
					x.End()
					close(over)
					if !errors.Is(failure.Err, context.Canceled) || failure.Sent {
						t.Errorf("%+v", failure)
					}
				})
			}
			sent.Wait()
			open.Wait()
		})
	}
}

// A connection that net/http has put back is not closed for a payment whose response a RoundTripper still holds.
func TestConnectionThatWasPutBack(t *testing.T) {
	t.Parallel()
	address, base := newEcho(t, false, func(conn net.Conn, response string) { _, _ = io.WriteString(conn, response) })
	w := Wrappable(base)
	defer w.(closer).CloseIdleConnections()
	var x *Exchange
	s := NewSender(transportFunc(func(r *http.Request) (*http.Response, error) {
		response, err := w.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		var body bytes.Buffer
		_, _ = body.ReadFrom(response.Body)
		_ = response.Body.Close()
		for n := 0; x.conn.Load() != nil && n < 1e6; n++ {
			runtime.Gosched()
		}
		response.Body = io.NopCloser(&body)
		return response, nil
	}), nil)
	r := requestTo(t, address)
	r.Method, r.Body, r.Effect = http.MethodPost, []byte("body"), true
	x, ctx := s.Begin(t.Context(), time.Now(), time.Minute, true)
	defer x.End()
	_, failure := x.Send(ctx, r) //nolint:bodyclose // it has been read
	require.NoError(t, failure.Err)
	require.Nil(t, x.conn.Load())
}

// A RoundTripper that drops the context holds no payment: when its time is over, the exchange closes the connection. It closes none
// that another exchange may use.
func TestContextIsDropped(t *testing.T) {
	t.Parallel()
	for _, http2 := range []bool{false, true} {
		arrived, resume := make(chan struct{}), make(chan struct{})
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, _ = io.Copy(io.Discard, r.Body); r.URL.Path == "/body" {
				_, _ = io.WriteString(w, "start")
				_ = http.NewResponseController(w).Flush()
			}
			arrived <- struct{}{}
			select {
			case <-r.Context().Done():
			case <-resume:
			}
		}))
		server.EnableHTTP2 = http2
		server.StartTLS()
		base := server.Client().Transport
		s := NewSender(transportFunc(func(req *http.Request) (*http.Response, error) {
			return base.RoundTrip(req.WithContext(context.WithoutCancel(req.Context())))
		}), nil)
		send := func(path string, during func(*Exchange)) (*Exchange, error) {
			r := requestTo(t, server.URL+path)
			r.Method, r.Body, r.Effect = http.MethodPost, []byte("content"), true
			x, ctx := s.Begin(t.Context(), time.Now(), time.Minute, true)
			go func() {
				<-arrived
				during(x)
			}()
			response, failure := x.Send(ctx, r) //nolint:bodyclose // Read closes it
			if response == nil {
				return x, failure.Err
			}
			_, err := new(Buffer).Read(ctx, response, 1<<20)
			return x, err
		}
		for _, path := range []string{"/head", "/body"} {
			x, err := send(path, func(x *Exchange) { x.timer.Reset(0) })
			require.ErrorIs(t, err, ErrTimeout, path)
			x.End()
		}
		first, err := send("/first", func(*Exchange) { resume <- struct{}{} })
		require.NoError(t, err)
		first.End()
		second, err := send("/second", func(*Exchange) {
			first.Abort()
			resume <- struct{}{}
		})
		require.NoError(t, err)
		second.End()
		server.Close()
	}
}
