package prepaid

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// connectionWatch gives an attempt one connection and records whether it got one. net/http repeats requests by itself:
// over HTTP/1.1 a GET whose kept connection broke before the response, even if the service has read it, and any request
// of which nothing was written, which is safe; over HTTP/2 also complete requests of any method, as often as the peer
// resets the stream. So a second connection ends the attempt before anything is written to it.
type connectionWatch struct {
	leash       leash
	hooks       httptrace.ClientTrace
	unwritten   bool // over HTTP/1.1 a further connection proves that nothing was written to the one before
	http2Only   bool
	asked       atomic.Bool
	connections atomic.Int32
	http2       atomic.Bool
}

// bodyWatch is one with room for the reader of the first body.
type bodyWatch struct {
	connectionWatch
	content bytes.Reader
}

// trace returns the hooks of one attempt. An [*http.Transport] repeats, over HTTP/1.1, only GET after something was
// written.
func (w *connectionWatch) trace(c *core, method string) *httptrace.ClientTrace {
	w.unwritten, w.http2Only = c.netHTTP && method != http.MethodGet, c.http2Only
	w.hooks = httptrace.ClientTrace{
		GetConn: func(string) { w.asked.Store(true) },
		GotConn: w.gotConn,
	}
	return &w.hooks
}

func (w *connectionWatch) gotConn(info httptrace.GotConnInfo) {
	conn, ok := info.Conn.(interface{ ConnectionState() tls.ConnectionState })
	shared := w.http2Only || ok && conn.ConnectionState().NegotiatedProtocol == "h2"
	if shared {
		w.http2.Store(true)
	}
	if w.connections.Add(1) == 1 || w.unwritten && !w.http2.Load() {
		return
	}
	w.leash.cancel(errRepeated) // HTTP/2 checks the context before it writes
	if !shared {
		_ = info.Conn.Close() // HTTP/1.1 writes before it checks
	}
}

// body gives net/http the body for another connection, but never over HTTP/2. It is of a type that net/http knows
// to be in memory, as the first is: it then writes the head and the body of a request at once, and nobody can answer, or
// cut the connection, between the two.
func (w *connectionWatch) body(content []byte) (io.ReadCloser, error) {
	if w.http2.Load() {
		return nil, errRepeated
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}
