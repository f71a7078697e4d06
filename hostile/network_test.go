package hostile

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testLine is a process whose network can be cut, and a service that records whether requests arrive.
type testLine struct {
	process *process
	arrived chan bool
	wires   chan *wire
	over    chan struct{} // closed to end the cut
	address string
}

func newTestLine(t *testing.T, handle func(*testLine)) *testLine {
	t.Helper()
	l := &testLine{process: &process{run: new(run)}, arrived: make(chan bool, 2), wires: make(chan *wire, 2), over: make(chan struct{})}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l.address = at.Addr().String()
	server := &http.Server{
		ReadHeaderTimeout: time.Minute, ConnContext: withWire,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			w := q.Context().Value(wireKey{}).(*wire)
			_, _ = io.Copy(io.Discard, q.Body)
			l.wires <- w
			through := &passage{process: l.process, wire: w}
			arrives := through.arrives()
			if arrives {
				handle(l)
			}
			l.arrived <- arrives
		}),
	}
	r := l.process.run
	r.background.Go(func() { _ = server.Serve(listener{at, l.process}) })
	t.Cleanup(func() {
		_ = server.Close()
		r.background.Wait()
		require.Zero(t, r.open.Load())
	})
	return l
}

func (l *testLine) cut() {
	l.process.network.closeFor(time.Hour, l.over, &l.process.run.background, func() {})
}

// send sends a request.
func (l *testLine) send(t *testing.T) *net.TCPConn {
	t.Helper()
	connection, err := net.Dial("tcp", l.address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, err = connection.Write([]byte("GET /x HTTP/1.1\r\nHost: x\r\n\r\n"))
	require.NoError(t, err)
	return connection.(*net.TCPConn)
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
			connection := l.send(t)
			w := <-l.wires
			if name != "of the request" {
				require.True(t, <-l.arrived)
			}
			first, _ := w.state()
			w.mu.Lock()
			require.False(t, w.written)
			w.mu.Unlock()
			close(l.over)
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())

			_, err = connection.Write([]byte("GET /y HTTP/1.1\r\nHost: x\r\n\r\n"))
			require.NoError(t, err)
			second, reset := (<-l.wires).state()
			require.True(t, second.After(first))
			require.False(t, reset)
		})
	}
}

// After a cut, the system sends the request of a connection that its sender has closed, but not of one that it has reset.
func TestOnlyAResetDiscardsARequest(t *testing.T) {
	t.Parallel()
	for linger, arrives := range map[int]bool{-1: true, 0: false} {
		l := newTestLine(t, nothing)
		l.cut()
		connection := l.send(t)
		w := <-l.wires
		require.NoError(t, connection.SetLinger(linger))
		require.NoError(t, connection.Close())
		if !arrives {
			require.Eventually(t, func() bool {
				_, reset := w.state()
				return reset
			}, time.Minute, time.Millisecond)
		}
		close(l.over)
		require.Equal(t, arrives, <-l.arrived)
	}
}

// The worker sees how the service closes a connection.
func TestServiceEndsAConnection(t *testing.T) {
	t.Parallel()
	for reset, end := range map[bool]error{false: io.EOF, true: syscall.ECONNRESET} {
		l := newTestLine(t, nothing)
		connection := l.send(t)
		w := <-l.wires
		reader := bufio.NewReader(connection)
		response, err := http.ReadResponse(reader, nil)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		w.endsAs(ending{reset: reset, after: time.Millisecond})
		require.NoError(t, w.Close())
		_, err = reader.ReadByte()
		require.ErrorIs(t, err, end)
	}
}
