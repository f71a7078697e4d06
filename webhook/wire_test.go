package webhook

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
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// wire is a raw connection to a Handler in a real server.
type wire struct {
	net.Conn
	t      *testing.T
	reader *bufio.Reader
}

func newWire(t *testing.T, conn net.Conn) *wire {
	t.Cleanup(func() { _ = conn.Close() })
	return &wire{conn, t, bufio.NewReader(conn)}
}

// pipes is a listener on pipes, for a server in a bubble.
type pipes struct {
	connections chan net.Conn
	over        context.Context //nolint:containedctx // it closes the listener
	close       context.CancelFunc
}

// serveOnPipes serves with s until the end of the test.
func serveOnPipes(t *testing.T, s *http.Server, serve func(*http.Server, net.Listener) error) *pipes {
	t.Helper()
	p := &pipes{connections: make(chan net.Conn)}
	p.over, p.close = context.WithCancel(t.Context())
	go func() { _ = serve(s, p) }()
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.connections:
		return conn, nil
	case <-p.over.Done():
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.close()
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p.connections <- far
	return near, nil
}

func (p *pipes) wire(t *testing.T) *wire {
	t.Helper()
	conn, err := p.dial(t.Context(), "", "")
	require.NoError(t, err)
	return newWire(t, conn)
}

func (w *wire) send(lines ...string) {
	w.t.Helper()
	_, err := io.WriteString(w, strings.Join(lines, "\r\n"))
	require.NoError(w.t, err)
}

func (w *wire) status() int {
	w.t.Helper()
	response, err := http.ReadResponse(w.reader, nil)
	require.NoError(w.t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(w.t, err)
	require.NoError(w.t, response.Body.Close())
	return response.StatusCode
}

// closed requires that the server has hung up.
func (w *wire) closed() {
	w.t.Helper()
	_, err := w.reader.ReadByte()
	require.Error(w.t, err)
	require.NotErrorIs(w.t, err, context.DeadlineExceeded)
}

func head(length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length)
}

func TestWireSlowBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ own, servers time.Duration }{
		"own limit":                {10 * time.Second, 0},
		"own below the server's":   {10 * time.Second, time.Hour},
		"the server's below it":    {time.Hour, 10 * time.Second},
		"the server's is the same": {10 * time.Second, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var seen recorder
				config := open(seen.take)
				config.Timeout, config.OnFailure = c.own, seen.fail
				server := &http.Server{Handler: newHandler(t, config), ReadTimeout: c.servers, ReadHeaderTimeout: time.Hour}
				w := serveOnPipes(t, server, (*http.Server).Serve).wire(t)
				began := time.Now()
				w.send(head(1000) + `{"type":`)
				require.Equal(t, 400, w.status())
				require.Equal(t, 10*time.Second, time.Since(began))
				w.closed()
				require.Zero(t, seen.count())
				require.Equal(t, failure{400, errBodyRead}, seen.failed()[0])
			})
		})
	}
}

// The limit on reading ends with the body: the request's context outlives it, and so does the connection.
func TestWireLimitIsLifted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config := open(ignore)
		config.Verifier = verifierFunc(func(ctx context.Context, _ http.Header, _ []byte) error {
			<-ctx.Done()
			if errors.Is(ctx.Err(), context.DeadlineExceeded) { // its own deadline, after that on reading
				return nil
			}
			return ctx.Err()
		})
		config.Timeout = 12 * time.Second
		w := serveOnPipes(t, &http.Server{Handler: newHandler(t, config), ReadHeaderTimeout: time.Hour}, (*http.Server).Serve).wire(t)
		for range 2 {
			w.send(head(len(transaction)) + transaction[:5])
			time.Sleep(time.Second)
			w.send(transaction[5:])
			require.Equal(t, 200, w.status())
		}
	})
}

func TestHTTP2SlowBody(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(nil) // for its certificate
	secure.StartTLS()
	certificates, roots := secure.TLS.Certificates, secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	secure.Close()
	synctest.Test(t, func(t *testing.T) {
		config := open(ignore)
		config.Timeout = 10 * time.Second
		server := &http.Server{Handler: newHandler(t, config), ReadHeaderTimeout: time.Hour, TLSConfig: &tls.Config{Certificates: certificates}}
		p := serveOnPipes(t, server, func(s *http.Server, l net.Listener) error { return s.ServeTLS(l, "", "") })
		transport := &http.Transport{DialContext: p.dial, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com"}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		reader, writer := io.Pipe()
		defer func() { _ = writer.Close() }()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.com", reader)
		require.NoError(t, err)
		began := time.Now()
		response, err := transport.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, 2, response.ProtoMajor)
		require.Equal(t, 400, response.StatusCode)
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}
