package hostile

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"
)

// barrier is the network of a process, or the service. While it is shut, nothing passes.
type barrier struct {
	mu   sync.Mutex
	shut chan struct{} // closed when the barrier opens; nil while the barrier is open
}

// closeFor shuts a barrier, and opens it after d or when the channel over is closed. If the barrier is already shut, it returns false.
func (b *barrier) closeFor(d time.Duration, over <-chan struct{}, background *sync.WaitGroup, opened func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut != nil {
		return false
	}
	shut := make(chan struct{})
	b.shut = shut
	background.Go(func() {
		select {
		case <-time.After(d):
		case <-over:
		}
		opened()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.shut = nil
		close(shut)
	})
	return true
}

// closed returns a channel that is closed when the barrier opens; nil while the barrier is open.
func (b *barrier) closed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shut
}

// pass waits until the barrier is open, and reports whether it was shut.
func (b *barrier) pass() (waited bool) {
	for shut := b.closed(); shut != nil; shut = b.closed() {
		waited = true
		<-shut
	}
	return waited
}

// listener wraps each connection of a process in a wire.
type listener struct {
	net.Listener
	process *process
}

// Accept returns a wire.
func (l listener) Accept() (net.Conn, error) {
	socket, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.process.run.open.Add(1)
	return &wire{Conn: socket, process: l.process, sent: time.Now()}, nil
}

// ending is how the worker sees the end of a connection that the service has closed. The zero value is an orderly end (FIN) at once.
type ending struct {
	reset bool // RST
	after time.Duration
}

// ending returns how a connection ends; half of the ends come before the worker's time-out, but not at once.
func (o Options) ending(r *rand.Rand) ending {
	e := ending{reset: r.IntN(2) == 0}
	if after := r.Int64N(int64(o.AttemptTimeout)); r.IntN(2) == 0 {
		e.after = time.Duration(after).Round(time.Microsecond)
	}
	return e
}

// wire is a connection of a process as the service sees it. It always reads, to detect a reset by the worker's side: after a cut, the
// worker's kernel would still send a request, even after the end of the worker, but not after a reset.
type wire struct {
	net.Conn
	process *process
	once    sync.Once

	mu      sync.Mutex // guards all below
	sent    time.Time  // when the request that the service is reading was sent
	written bool       // a response was written since that request
	reset   bool       // by the worker's side
	ending  ending
}

type wireKey struct{}

func withWire(ctx context.Context, connection net.Conn) context.Context {
	return context.WithValue(ctx, wireKey{}, connection)
}

// Read reads parts of a request. While a request is handled, the server calls it to detect the end of the connection.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n > 0 && w.written {
		w.sent, w.written = time.Now(), false
	}
	w.reset = w.reset || err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}

// state returns when the request that the service is reading was (probably) sent, and whether the worker's side has reset the connection.
func (w *wire) state() (sent time.Time, reset bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent, w.reset
}

// pass waits until the network is not cut, the service is not frozen, and the process can get responses.
func (w *wire) pass() {
	for w.process.network.pass() || w.process.run.service.pass() || w.process.responses.pass() { // until all are open at once
	}
}

// Write sends a part of a response.
func (w *wire) Write(p []byte) (int, error) {
	w.pass()
	w.mu.Lock()
	w.written = true
	w.mu.Unlock()
	return w.Conn.Write(p)
}

// endsAs chooses how the worker sees the end of the connection.
func (w *wire) endsAs(e ending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ending = e
}

// Close closes the connection later: while the network is cut, the worker does not see the end.
func (w *wire) Close() error {
	w.once.Do(func() { w.process.run.background.Go(w.end) })
	return nil
}

func (w *wire) end() {
	w.mu.Lock()
	ending := w.ending
	w.mu.Unlock()
	r := w.process.run
	select {
	case <-time.After(ending.after):
	case <-r.over:
	}
	w.pass()
	if socket, ok := w.Conn.(*net.TCPConn); ok && ending.reset {
		_ = socket.SetLinger(0)
	}
	_ = w.Conn.Close()
	r.open.Add(-1)
}
