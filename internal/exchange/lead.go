package exchange

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptrace"
)

// errNotHTTP2 ends a call of lead before anything is written.
var errNotHTTP2 = errors.New("not HTTP/2")

// leads reports whether lead may send r, which has Lead set, on a connection that is kept. It returns true only once for each Sender.
func (s *Sender) leads(r Request) bool {
	t, ok := s.kept.(*http.Transport)
	return ok && !s.http2Only && r.URL.Scheme == "https" &&
		t.DialTLSContext == nil && t.DialTLS == nil && s.led.CompareAndSwap(false, true) //nolint:staticcheck // a caller may set it
}

// lead sends a request on a kept connection that uses HTTP/2: over HTTP/2, net/http never reads or logs bytes after a
// response. Over HTTP/1.1, lead sends nothing and returns errNotHTTP2. net/http still completes the dial of the cancelled
// request, and keeps the connection for the next request.
func (x *Exchange) lead(out *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(out.Context()) // ends with the context of the exchange
	check := func(state tls.ConnectionState) (ok bool) {
		if ok = state.NegotiatedProtocol == "h2"; !ok {
			cancel(errNotHTTP2)
		}
		return ok
	}
	response, err := roundTrip(x.sender.kept, out.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeDone: func(state tls.ConnectionState, err error) {
			if err == nil {
				check(state)
			}
		},
		GotConn: func(info httptrace.GotConnInfo) { // called even if the context ends at the same time
			if conn, ok := info.Conn.(*tls.Conn); !ok || !check(conn.ConnectionState()) {
				_ = info.Conn.Close()
			}
		},
	})))
	if err != nil && errors.Is(context.Cause(ctx), errNotHTTP2) {
		out.Body, err = out.GetBody()
		if err == nil {
			err = errNotHTTP2
		}
	}
	return response, err
}
