package exchange

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Sender holds the transports to a service. It serves any number of exchanges concurrently.
type Sender struct {
	kept, alone, fresh http.RoundTripper // alone keeps connections of HTTP/1.1 for requests with an effect
	netHTTP            bool              // all three use *http.Transport
	shared             bool              // kept is the caller's *http.Transport; the others are clones
	http2Only          bool              // all three support only HTTP/2, with TLS or without
	own                []closer
	made               time.Time
	led                atomic.Bool // leads has returned true
	hidden             atomic.Bool // the TCP connection of a request could not be reached
	silence
}

// NewSender returns a Sender for transport. If transport is nil, own creates the transport. CloseIdle closes the
// connections of that transport and of all clones, not those of the caller's transport.
func NewSender(transport http.RoundTripper, own func() *http.Transport) *Sender {
	netHTTP, isNetHTTP := transport.(*http.Transport)
	s := &Sender{made: time.Now()}
	switch {
	case transport == nil || isNetHTTP && netHTTP == nil:
		netHTTP = withProxyStatus(own())
		s.own = append(s.own, netHTTP)
	case !isNetHTTP:
		s.kept, s.alone, s.fresh = transport, transport, freshConnection{next: transport}
		return s
	}
	alone, fresh := separate(aloneOf(netHTTP)), separate(freshOf(netHTTP))
	s.kept, s.alone, s.fresh = netHTTP, alone, fresh
	s.netHTTP, s.shared, s.http2Only = true, s.own == nil, http2Only(netHTTP)
	s.own = append(s.own, alone, fresh)
	return s
}

// CloseIdle closes the idle connections of the Sender's own transports. It also ends the dials that no request waits for.
func (s *Sender) CloseIdle() {
	for _, t := range s.own {
		t.CloseIdleConnections()
	}
}

// Hidden reports whether the TCP connection of a request could not be reached, so that the bytes of an abandoned request are not
// discarded. Such a connection may also have ended, or have surplus bytes, when a request is written to it (see fit), as on systems
// other than Unix and under a RoundTripper that uses net/http without Wrappable. Surplus bytes may also be missed while the caller's
// own type with NetConn, or the TLS layer of a proxy, holds them.
func (s *Sender) Hidden() bool { return s.hidden.Load() }

// http1Of returns a clone of t that uses HTTP/1.1 only. ok is false if that is impossible because t supports only HTTP/2
// or has its own TLS dialer.
func http1Of(t *http.Transport) (clone *http.Transport, ok bool) {
	clone = cloneOf(t)
	if http2Only(t) || clone.DialTLSContext != nil || clone.DialTLS != nil { //nolint:staticcheck // a caller may set it
		return clone, false
	}
	clone.ForceAttemptHTTP2, clone.TLSNextProto = false, nil
	clone.Protocols = new(http.Protocols)
	clone.Protocols.SetHTTP1(true)
	if settings := clone.TLSClientConfig; settings != nil {
		settings.NextProtos = slices.DeleteFunc(settings.NextProtos, func(name string) bool { return name == "h2" })
	}
	return clone, true
}

// cloneOf returns a clone of t that shares nothing that net/http changes: it appends to NextProtos.
func cloneOf(t *http.Transport) *http.Transport {
	clone := withProxyStatus(t.Clone())
	if settings := clone.TLSClientConfig; settings != nil {
		settings.NextProtos = slices.Clone(settings.NextProtos)
	}
	return clone
}

// freshOf returns a clone of t that keeps no connection: each request opens a connection, over HTTP/1.1 if possible.
func freshOf(t *http.Transport) *http.Transport {
	fresh, _ := http1Of(t)
	fresh.DisableKeepAlives = true
	return fresh
}

// aloneOf returns a clone of t whose connections carry one request at a time: they use HTTP/1.1, or carry only one request.
// They never stay idle for ever: the caller cannot close those of a client that was dropped.
func aloneOf(t *http.Transport) *http.Transport {
	alone, http1 := http1Of(t)
	if alone.DisableKeepAlives = alone.DisableKeepAlives || !http1; http1 {
		observing(alone)
	}
	alone.IdleConnTimeout = cmp.Or(alone.IdleConnTimeout, 90*time.Second)
	return alone
}

// closer is a transport with connections.
type closer interface {
	http.RoundTripper
	CloseIdleConnections()
}

// separate returns t if t never uses HTTP/2; otherwise, a transport that opens a connection for each request. Even without
// keep-alives, concurrent requests of one *http.Transport share an HTTP/2 connection, and aborting one request ends the others.
func separate(t *http.Transport) closer {
	if p := t.Protocols; p != nil && !p.HTTP2() && !p.UnencryptedHTTP2() {
		return t
	}
	t.IdleConnTimeout = time.Second // closes a connection that its request did not wait for
	return single{t}
}

type single struct{ *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (s single) RoundTrip(req *http.Request) (*http.Response, error) {
	clone := cloneOf(s.Transport)
	response, err := clone.RoundTrip(req)
	if err != nil {
		clone.CloseIdleConnections() // ends a dial that is still in progress
	}
	return response, err
}

func http2Only(t *http.Transport) bool { return t.Protocols != nil && !t.Protocols.HTTP1() }

// aloneContext asks a RoundTripper other than an [*http.Transport] for a connection that is not shared. Only Wrappable
// understands it.
type aloneContext struct{ context.Context } //nolint:containedctx // it is a context

type aloneKey struct{}

func (c *aloneContext) Value(key any) any {
	if key == (aloneKey{}) {
		return true
	}
	return c.Context.Value(key)
}

// freshConnection asks a RoundTripper other than an [*http.Transport] for a new connection, which is not kept. It gives a
// GET a body that seems to be readable only once, so that net/http does not repeat the GET.
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
