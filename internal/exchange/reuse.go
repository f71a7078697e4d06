package exchange

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// observed is a TCP connection, or the caller's wrapper of one, which can be asked whether anything was received after the
// last response. net/http reads a kept connection all the time, but its goroutine may not have run yet.
type observed struct {
	net.Conn

	raw   syscall.RawConn
	look  func(descriptor uintptr)
	empty bool // look found that the connection is open, and that the kernel has no bytes for it

	read   func(descriptor uintptr) bool // nil for the caller's own type, which reads by itself
	into   []byte
	n      int
	err    error
	reader atomic.Int32
	turned chan struct{} // reader has changed, or the connection was closed
	record record
}

// States of the reader of an observed connection. A reader that waits has used all bytes that it got.
const (
	readerBusy  = iota
	readerWaits // for a response
	readerTorn  // waits for the rest of a TLS record
)

// observe returns conn in a form that fit understands, if the system and the type of conn permit it.
func observe(conn net.Conn) net.Conn {
	tcp := innermost(conn)
	if tcp == nil || !receives {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn
	}
	o := &observed{Conn: conn, raw: raw, turned: make(chan struct{}, 1)}
	o.look = func(descriptor uintptr) {
		var one [1]byte
		_, o.empty, _ = receive(descriptor, one[:], true)
	}
	if conn == net.Conn(tcp) {
		o.read = o.receive
	}
	return o
}

// observing makes the connections of t observed.
func observing(t *http.Transport) {
	dial := t.DialContext
	switch old := t.Dial; { //nolint:staticcheck // a caller may set it
	case dial != nil:
	case old != nil:
		dial = func(_ context.Context, network, address string) (net.Conn, error) { return old(network, address) }
	default:
		dial = new(net.Dialer).DialContext
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err == nil {
			conn = observe(conn)
		}
		return conn, err
	}
}

// NetConn returns the connection below.
func (o *observed) NetConn() net.Conn { return o.Conn }

// Read reads like a *net.TCPConn.
func (o *observed) Read(p []byte) (int, error) {
	if o.read == nil || len(p) == 0 {
		o.wait()
		n, err := o.Conn.Read(p)
		o.reader.Store(readerBusy)
		o.record.follow(p[:n])
		return n, err
	}
	o.into = p
	err := o.raw.Read(o.read)
	o.into = nil
	switch {
	case err != nil:
		return 0, err
	case o.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: o.LocalAddr(), Addr: o.RemoteAddr(), Err: os.NewSyscallError("read", o.err)}
	case o.n == 0:
		return 0, io.EOF
	}
	o.record.follow(p[:o.n])
	return o.n, nil
}

func (o *observed) receive(descriptor uintptr) bool {
	o.reader.Store(readerBusy)
	var none bool
	if o.n, none, o.err = receive(descriptor, o.into, false); none {
		o.wait()
	}
	return !none
}

func (o *observed) wait() {
	if o.record.known == 0 {
		o.reader.Store(readerWaits)
	} else {
		o.reader.Store(readerTorn)
	}
	o.turn()
}

func (o *observed) turn() {
	select {
	case o.turned <- struct{}{}:
	default:
	}
}

// Close closes the connection.
func (o *observed) Close() error {
	defer o.turn()
	return o.Conn.Close()
}

// clean reports whether the connection is open and every byte that was received is used. net/http reads a kept connection all the time:
// if its goroutine does not wait for bytes, it is about to run, and will wait or find something.
func (o *observed) clean() bool {
	if o.raw.Control(o.look) != nil || !o.empty {
		return false
	}
	select {
	case <-o.turned: // earlier
	default:
	}
	if o.reader.Load() == readerBusy {
		select {
		case <-o.turned:
		case <-time.After(time.Second):
		}
	}
	return o.reader.Load() == readerWaits
}

// fit reports whether a connection may carry another request with an effect. It closes one that may not.
func fit(info httptrace.GotConnInfo, seen *atomic.Uint32) bool {
	seen.And(^uint32(seenUnfit))
	for conn := info.Conn; info.Reused; {
		if o, ok := conn.(*observed); ok && !o.clean() {
			seen.Or(seenUnfit)
			_ = innermost(o).Close() // at once, whatever Close of the caller's own type does
			_ = o.Close()
			return false
		}
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		conn = outer.NetConn()
	}
	return true
}

// passUnfit makes a round trip until its last connection was fit. After fit closed a connection, net/http may return an error or,
// from bytes that it had already read, a response to an earlier request; nothing of req was written.
func passUnfit(transport http.RoundTripper, req *http.Request, seen *atomic.Uint32) (*http.Response, error) {
	for {
		seen.And(^uint32(seenUnfit))
		response, err := roundTrip(transport, req)
		if seen.Load()&seenUnfit == 0 {
			return response, err
		}
		if err == nil {
			_ = response.Body.Close()
		}
		if req.Body != nil && req.GetBody == nil {
			return nil, ErrRepeated
		}
		if req.Body != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// record finds the ends of TLS records: a reader cannot use a part of one. Its zero value is outside TLS.
type record struct {
	inside bool
	header [5]byte
	known  int // bytes of header; 0 after the end of a record
	left   int // bytes of the record that have not arrived
}

func (r *record) follow(p []byte) {
	const handshake, major = 22, 3
	r.inside = r.inside || len(p) > 0 && p[0] == handshake // no text begins so: not a response to CONNECT, and not one without TLS
	for r.inside && len(p) > 0 {
		if n := copy(r.header[r.known:], p); n > 0 {
			r.known, p, r.left = r.known+n, p[n:], int(binary.BigEndian.Uint16(r.header[3:]))
		}
		if r.known > 1 && r.header[1] != major { // an address in the response of a SOCKS proxy, or compressed
			*r = record{}
			return
		}
		n := min(r.left, len(p))
		if r.left, p = r.left-n, p[n:]; r.left == 0 && r.known == len(r.header) {
			r.known = 0
		}
	}
}
