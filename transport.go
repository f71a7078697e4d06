package prepaid

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// NewTransport returns a new transport like the client's own, to change before it becomes [Config.Transport]: a client
// certificate, a proxy, an authority of your own. An &http.Transport{} in its place keeps only 2 idle connections to the
// service and has no limit on any step.
//
// It keeps up to 128 idle connections to a host and 256 in all, each for 90 s; dials within 10 s, with keep-alives every
// 30 s; shakes hands within 10 s, with TLS 1.2 or later; uses HTTP/2 where the service offers it; takes headers of up to
// 1 MiB and proxies from the environment. There is no ResponseHeaderTimeout: [Config.AttemptTimeout] is that limit.
// [Client.Close] leaves a transport of yours alone: call CloseIdleConnections when all that use it are closed.
//
// A [Client] uses kept connections for reads and transfers. Requests for a token, operations that are never repeated,
// operations without a response body and polls of a report open a connection each, over HTTP/1.1.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    128, // net/http keeps two, and churns through connections beyond that
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// freshOf returns a transport like t that keeps no connection: each request opens one, over HTTP/1.1 unless t speaks HTTP/2
// only or has its own TLS dialer.
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

// freshConnection asks the same of a RoundTripper that is no [*http.Transport]: the connection is not kept, and a GET
// looks as if it had a body that cannot be read twice, so that net/http does not repeat it.
type freshConnection struct{ next http.RoundTripper }

func (t freshConnection) RoundTrip(req *http.Request) (*http.Response, error) {
	once := *req
	once.Close = true
	if once.Method == http.MethodGet {
		once.Body, once.ContentLength = io.NopCloser(emptyBody{}), 0
	}
	return t.next.RoundTrip(&once)
}

// emptyBody is an empty body that net/http does not know to be one.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
