package prepaid

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
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

// newFreshTransport opens one HTTP/1.1 connection a request. Report start must not be repeated by net/http, as it
// does with any GET on a stale connection, and the 204 of a report poll has a body that would be read as the next
// answer.
func newFreshTransport() *http.Transport {
	t := NewTransport()
	t.ForceAttemptHTTP2 = false
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.DisableKeepAlives = true
	return t
}

// freshConnection asks the same of a caller's own RoundTripper: the connection is not kept, and the request looks
// as if it had a body that cannot be read twice.
type freshConnection struct{ next http.RoundTripper }

func (t freshConnection) RoundTrip(req *http.Request) (*http.Response, error) {
	once := *req
	once.Close = true
	once.Body, once.GetBody, once.ContentLength = io.NopCloser(emptyBody{}), nil, 0
	return t.next.RoundTrip(&once)
}

// emptyBody is an empty body that net/http does not know to be one.
type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }
