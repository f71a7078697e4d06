package hostile

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// barrier is the network of a process, or the service. While it is shut, nothing passes.
type barrier struct {
	mu   sync.Mutex
	shut chan struct{} // closed when the barrier opens; nil while the barrier is open
	last bool          // never shuts again
}

// closeFor shuts a barrier, and opens it after d or when the channel over is closed. If the barrier is already shut, it returns false.
func (b *barrier) closeFor(d time.Duration, over <-chan struct{}, background *sync.WaitGroup, opened func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut != nil || b.last {
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

// stays waits until the barrier is open, and keeps the barrier open.
func (b *barrier) stays() {
	b.mu.Lock()
	b.last = true
	b.mu.Unlock()
	b.pass()
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
	far, near := net.Pipe()
	w := &wire{
		Conn: near, far: far, socket: socket.(*net.TCPConn), process: l.process, done: make(chan struct{}), over: make(chan struct{}), sent: time.Now(),
	}
	w.more.L = &w.mu
	r := l.process.run
	r.open.Add(1)
	r.background.Go(w.receive)
	r.background.Go(w.deliver)
	r.background.Go(func() {
		defer r.open.Add(-1)
		<-w.done
		w.end()
	})
	return w, nil
}

// ending is how the worker sees the end of a connection that the service has closed. The zero value is an orderly end (FIN) at once.
type ending struct {
	how   how
	after time.Duration
}

type how int

const (
	closes     how = iota // FIN
	halfCloses            // FIN, but the connection still accepts bytes, which are lost
	resets                // RST
	isSilent              // the worker sees nothing, and bytes that it sends are lost
	kindsOfEndings
)

// String describes an ending in a timeline.
func (e ending) String() string {
	text := [...]string{"closed", "half-closed", "reset", "silent"}[e.how]
	if e.after > 0 && e.how != isSilent {
		text += " after " + e.after.String()
	}
	return text
}

// wire is a connection of a process as the service sees it. It always reads its socket, to detect a reset by the worker's side. It
// keeps bytes that arrive during a cut, because the worker's kernel would still send them, even after the end of the worker. After
// a reset the kernel would not send them.
type wire struct {
	net.Conn // the service's end
	far      net.Conn
	socket   *net.TCPConn
	process  *process
	once     sync.Once
	done     chan struct{} // closed by Close
	over     chan struct{} // closed when the worker has ended the connection
	written  atomic.Bool   // a response was written since the last request

	mu       sync.Mutex // guards all below
	more     sync.Cond
	bytes    []byte
	held     bool      // bytes arrived during a cut
	ended    error     // read error of the socket
	sent     time.Time // when the request that the service is reading was sent
	released time.Time // when that request arrived, if it was held
	ending   ending
}

type wireKey struct{}

func withWire(ctx context.Context, connection net.Conn) context.Context {
	return context.WithValue(ctx, wireKey{}, connection)
}

// receive reads the socket.
func (w *wire) receive() {
	buffer := make([]byte, 32<<10)
	for {
		n, err := w.socket.Read(buffer)
		cut := w.process.network.closed() != nil
		w.mu.Lock()
		if n > 0 && w.written.Swap(false) {
			w.sent, w.released = time.Now(), time.Time{}
		}
		w.bytes, w.ended = append(w.bytes, buffer[:n]...), err
		w.held = w.held || cut
		w.mu.Unlock()
		w.more.Signal()
		if err != nil {
			return
		}
	}
}

// deliver passes the bytes from the socket to the service. After the service has closed the connection, they are lost.
func (w *wire) deliver() {
	defer close(w.over)
	defer func() { _ = w.far.Close() }()
	for {
		w.mu.Lock()
		for len(w.bytes) == 0 && w.ended == nil {
			w.more.Wait()
		}
		w.mu.Unlock()
		w.process.network.pass()
		w.mu.Lock()
		bytes, ended := w.bytes, w.ended
		if w.held && len(bytes) > 0 {
			w.released = time.Now()
		}
		if w.held && w.isReset() {
			bytes = nil
		}
		w.bytes, w.held = nil, false
		w.mu.Unlock()
		_, _ = w.far.Write(bytes) // fails if the service has closed the connection
		if ended != nil {
			return
		}
	}
}

// end ends the connection that the service has closed, after all bytes of the response. While the network is cut, the worker does not
// see the end.
func (w *wire) end() {
	w.mu.Lock()
	ending := w.ending
	w.mu.Unlock()
	select {
	case <-time.After(ending.after):
	case <-w.over:
	}
	w.pass()
	switch ending.how {
	case resets:
		_ = w.socket.SetLinger(0)
	case halfCloses:
		_ = w.socket.CloseWrite()
		<-w.over
	case isSilent:
		<-w.over
	}
	_ = w.socket.Close()
}

// endsAs chooses how the worker sees the end of the connection.
func (w *wire) endsAs(e ending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ending = e
}

// isReset reports whether the worker's side has reset the connection. The caller holds mu.
func (w *wire) isReset() bool {
	return w.ended != nil && !errors.Is(w.ended, io.EOF) && !errors.Is(w.ended, net.ErrClosed)
}

// gone is isReset for callers that do not hold mu.
func (w *wire) gone() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.isReset()
}

// times returns when the request that the service is reading was (probably) sent and, if the request was held, when it arrived.
func (w *wire) times() (sent, released time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent, w.released
}

// pass waits until the network is not cut, the service is not frozen, and the process can get responses.
func (w *wire) pass() {
	for w.process.network.pass() || w.process.run.service.pass() || w.process.responses.pass() { // until all are open at once
	}
}

// Write sends a part of a response.
func (w *wire) Write(p []byte) (int, error) {
	w.pass()
	w.written.Store(true)
	return w.socket.Write(p)
}

// Close closes the connection.
func (w *wire) Close() error {
	w.once.Do(func() { close(w.done) })
	return w.Conn.Close()
}

// RemoteAddr returns the worker's address.
func (w *wire) RemoteAddr() net.Addr { return w.socket.RemoteAddr() }

// LocalAddr returns the service's address.
func (w *wire) LocalAddr() net.Addr { return w.socket.LocalAddr() }
