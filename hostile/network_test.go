package hostile

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testLine is a process whose network can be cut, and a service that records the paths of requests.
type testLine struct {
	process *process
	wires   chan *wire
	paths   chan string
	over    chan struct{} // closed to end the cut
	address string
}

func newTestLine(t *testing.T, handle func(*testLine)) *testLine {
	t.Helper()
	l := &testLine{
		process: &process{run: new(run)}, wires: make(chan *wire, 1), paths: make(chan string, 2), over: make(chan struct{}),
	}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l.address = at.Addr().String()
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		ConnContext: func(ctx context.Context, connection net.Conn) context.Context {
			l.wires <- connection.(*wire)
			return ctx
		},
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			handle(l)
			l.paths <- q.URL.Path
		}),
	}
	r := l.process.run
	r.background.Go(func() { _ = server.Serve(listener{at, l.process}) })
	t.Cleanup(func() {
		_ = server.Close()
		r.background.Wait()
	})
	return l
}

func (l *testLine) cut() {
	l.process.network.closeFor(time.Hour, l.over, &l.process.run.background, func() {})
}

// send sends a request and returns when it has left the worker.
func (l *testLine) send(t *testing.T, headers string) (*net.TCPConn, *wire) {
	t.Helper()
	connection, err := net.Dial("tcp", l.address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, err = connection.Write([]byte("GET /x HTTP/1.1\r\nHost: x\r\n" + headers + "\r\n"))
	require.NoError(t, err)
	return connection.(*net.TCPConn), <-l.wires
}

// eventually waits for a state of a wire.
func eventually(t *testing.T, w *wire, is func() bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return is()
	}, time.Minute, time.Millisecond)
}

func nothing(*testLine) {}

func TestRequestAndResponsePassAfterACut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, handle func(*testLine) }{
		"of the request": {(*testLine).cut, nothing}, "of the response": {nothing, (*testLine).cut},
		"by the service": {nothing, func(l *testLine) {
			l.process.run.service.closeFor(time.Hour, l.over, &l.process.run.background, func() {})
		}},
		"by the end of a freeze": {nothing, func(l *testLine) {
			l.process.responses.closeFor(time.Hour, l.over, &l.process.run.background, func() {})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTestLine(t, c.handle)
			c.before(l)
			connection, w := l.send(t, "")
			if name == "of the request" {
				eventually(t, w, func() bool { return w.held })
			} else {
				require.Equal(t, "/x", <-l.paths)
			}
			require.False(t, w.written.Load())
			close(l.over)
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, response.StatusCode)
			require.NoError(t, response.Body.Close())

			first, _ := w.times()
			_, err = connection.Write([]byte("GET /y HTTP/1.1\r\nHost: x\r\n\r\n"))
			require.NoError(t, err)
			eventually(t, w, func() bool { return w.sent.After(first) })
			_, released := w.times()
			require.Zero(t, released, "the next request was not held")
		})
	}
}

// A barrier that is shut cannot be shut again, and opens for good at the end.
func TestBarrier(t *testing.T) {
	t.Parallel()
	l := newTestLine(t, nothing)
	b, background := &l.process.network, &l.process.run.background
	require.False(t, b.pass())
	l.cut()
	require.False(t, b.closeFor(time.Hour, l.over, background, func() {}))
	close(l.over)
	b.stays()
	require.False(t, b.pass())
	require.False(t, b.closeFor(time.Hour, l.over, background, func() {}))
}

// A worker that reads to the end of the connection gets the whole response, and the end.
func TestResponseWithoutKeepAlive(t *testing.T) {
	t.Parallel()
	connection, _ := newTestLine(t, nothing).send(t, "Connection: close\r\n")
	text, err := io.ReadAll(connection)
	require.NoError(t, err)
	require.Contains(t, string(text), "HTTP/1.1 200 OK\r\n")
}

// The worker sees at once that the service closes a connection.
func TestServiceEndsAConnection(t *testing.T) {
	t.Parallel()
	for how, end := range map[how]error{closes: io.EOF, halfCloses: io.EOF, resets: syscall.ECONNRESET} {
		t.Run(ending{how: how}.String(), func(t *testing.T) {
			t.Parallel()
			connection, w := newTestLine(t, nothing).send(t, "")
			reader := bufio.NewReader(connection)
			response, err := http.ReadResponse(reader, nil)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			w.endsAs(ending{how: how})
			require.NoError(t, w.Close())
			_, err = reader.ReadByte()
			require.ErrorIs(t, err, end)
			if how == halfCloses { // the connection still takes bytes
				_, err = connection.Write([]byte("GET /y HTTP/1.1\r\n"))
				require.NoError(t, err)
				require.NoError(t, connection.CloseWrite())
			}
			<-w.over
			require.Equal(t, how == halfCloses, errors.Is(w.ended, io.EOF))
			require.False(t, w.gone(), "the worker's side has not reset it")
		})
	}
}
