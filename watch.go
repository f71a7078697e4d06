package prepaid

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net/http/httptrace"
	"sync/atomic"
)

// connectionWatch sees on which connections an attempt goes out, and keeps net/http from sending it again by
// itself. Over HTTP/1.1 it does so when nothing was written, which is safe. Over HTTP/2 it also does so after the
// whole request was received, for any method, as often as the peer resets the stream.
type connectionWatch struct {
	leash       leash
	hooks       httptrace.ClientTrace
	asked       atomic.Bool
	connections atomic.Int32
	http2       atomic.Bool
}

// bodyWatch is one with room for the reader of the first body.
type bodyWatch struct {
	connectionWatch
	content bytes.Reader
}

// maxConnections is how many connections one attempt may try: a stale one, and one more.
const maxConnections = 2

func (w *connectionWatch) trace() *httptrace.ClientTrace {
	w.hooks = httptrace.ClientTrace{
		GetConn: func(string) { w.asked.Store(true) },
		GotConn: func(info httptrace.GotConnInfo) {
			conn, ok := info.Conn.(interface{ ConnectionState() tls.ConnectionState })
			if ok && conn.ConnectionState().NegotiatedProtocol == "h2" {
				w.http2.Store(true)
			}
			if w.connections.Add(1) > maxConnections { // a request without a body needs no GetBody to go again
				w.leash.cancel(errRepeated)
			}
		},
	}
	return &w.hooks
}

// body gives net/http the body for another connection, once, and over HTTP/2 never. It is of a type that net/http knows
// to be in memory, as the first is: it then writes the head and the body of a request at once, and nobody can answer, or
// cut the connection, between the two.
func (w *connectionWatch) body(content []byte) (io.ReadCloser, error) {
	if w.http2.Load() || w.connections.Load() >= maxConnections {
		return nil, errors.New("sent once")
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}
