package exchange

import (
	"io"
	"net/http"
	"slices"
	"sync/atomic"
)

// Sender holds the transports to a service. It serves any number of exchanges concurrently.
type Sender struct {
	kept, fresh http.RoundTripper
	netHTTP     bool // both are *http.Transport
	http2Only   bool // both support only HTTP/2, with TLS or without
	owned       *http.Transport
	led         atomic.Bool // a request was the first on a kept connection
}

// NewSender returns a Sender for transport. If transport is nil, it creates one with own; it closes the connections of that
// one only.
func NewSender(transport http.RoundTripper, own func() *http.Transport) *Sender {
	netHTTP, isNetHTTP := transport.(*http.Transport)
	s := new(Sender)
	switch {
	case transport == nil || isNetHTTP && netHTTP == nil:
		netHTTP = own()
		s.owned = netHTTP
	case !isNetHTTP:
		s.kept, s.fresh = transport, freshConnection{next: transport}
		return s
	}
	s.kept, s.fresh, s.netHTTP, s.http2Only = netHTTP, freshOf(netHTTP), true, http2Only(netHTTP)
	return s
}

// CloseIdle closes the idle connections of the Sender's own transport.
func (s *Sender) CloseIdle() {
	if s.owned != nil {
		s.owned.CloseIdleConnections()
	}
}

// freshOf returns a clone of t that keeps no connection: each request opens one, over HTTP/1.1 unless t supports only HTTP/2
// or has its own TLS dialer.
func freshOf(t *http.Transport) *http.Transport {
	fresh := t.Clone()
	fresh.DisableKeepAlives = true
	if http2Only(t) || fresh.DialTLSContext != nil || fresh.DialTLS != nil { //nolint:staticcheck // a caller may
		return fresh
	}
	fresh.ForceAttemptHTTP2, fresh.TLSNextProto = false, nil
	fresh.Protocols = new(http.Protocols)
	fresh.Protocols.SetHTTP1(true)
	if settings := fresh.TLSClientConfig; settings != nil {
		settings.NextProtos = slices.DeleteFunc(slices.Clone(settings.NextProtos), func(name string) bool { return name == "h2" })
	}
	return fresh
}

func http2Only(t *http.Transport) bool { return t.Protocols != nil && !t.Protocols.HTTP1() }

// freshConnection requests the same from a RoundTripper that is not an [*http.Transport]: the connection is not kept, and a GET
// seems to have a body that cannot be read twice, so that net/http does not repeat it.
type freshConnection struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t freshConnection) RoundTrip(req *http.Request) (*http.Response, error) {
	once := *req
	once.Close = true
	if once.Method == http.MethodGet {
		once.Body, once.ContentLength = io.NopCloser(emptyBody{}), 0
	}
	return t.next.RoundTrip(&once)
}

// emptyBody is an empty body that net/http does not recognise as empty.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
