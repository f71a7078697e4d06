package webhook

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// wire is a raw connection to a Handler in a real server.
type wire struct {
	net.Conn
	t      *testing.T
	reader *bufio.Reader
}

func listen(t *testing.T, config Config, serverReadTimeout time.Duration) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(newHandler(t, config))
	server.Config.ReadTimeout = serverReadTimeout
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func dial(t *testing.T, server *httptest.Server) *wire {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	return &wire{conn, t, bufio.NewReader(conn)}
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
		"own limit":                {100 * time.Millisecond, 0},
		"own below the server's":   {100 * time.Millisecond, time.Hour},
		"the server's below it":    {time.Hour, 100 * time.Millisecond},
		"the server's is the same": {100 * time.Millisecond, 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen recorder
			config := open(seen.take)
			config.Timeout, config.OnFailure = c.own, seen.fail
			w := dial(t, listen(t, config, c.servers))
			began := time.Now()
			w.send(head(1000) + `{"type":`)
			require.Equal(t, 400, w.status())
			require.Less(t, time.Since(began), 5*time.Second)
			w.closed()
			require.Zero(t, seen.count())
			require.Equal(t, failure{400, errBodyRead}, seen.failed()[0])
		})
	}
}

// The limit on reading ends with the body: the request's context outlives it, and so does the connection.
func TestWireLimitIsLifted(t *testing.T) {
	t.Parallel()
	config := open(ignore)
	config.Verifier = verifierFunc(func(ctx context.Context, _ http.Header, _ []byte) error {
		<-ctx.Done()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // its own deadline, after that on reading
			return nil
		}
		return ctx.Err()
	})
	config.Timeout = 1200 * time.Millisecond
	w := dial(t, listen(t, config, 0))
	for range 2 {
		w.send(head(len(transaction)) + transaction[:5])
		time.Sleep(100 * time.Millisecond)
		w.send(transaction[5:])
		require.Equal(t, 200, w.status())
	}
}

func TestWireBrokenBody(t *testing.T) {
	t.Parallel()
	var seen recorder
	server := listen(t, open(seen.take), 0)
	w := dial(t, server)
	w.send("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "", "zz", transaction, "")
	require.Equal(t, 400, w.status())

	w = dial(t, server)
	w.send(head(len(transaction)+1) + transaction)
	tcp, ok := w.Conn.(*net.TCPConn)
	require.True(t, ok)
	require.NoError(t, tcp.CloseWrite())
	require.Equal(t, 400, w.status())
	require.Zero(t, seen.count())
}

func TestHTTP2SlowBody(t *testing.T) {
	t.Parallel()
	config := open(ignore)
	config.Timeout = 100 * time.Millisecond
	server := httptest.NewUnstartedServer(newHandler(t, config))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	reader, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, reader)
	require.NoError(t, err)
	response, err := server.Client().Do(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 2, response.ProtoMajor)
	require.Equal(t, 400, response.StatusCode)
}
