// Package transport makes and wraps the [*http.Transport] of a client. You need it to set a proxy or a client certificate, or to
// write an [http.RoundTripper] of your own; a client without Config.Transport uses [New].
//
// # Connections
//
// With an *http.Transport, a client knows that a request without a connection never left. Payments use a clone of the transport;
// requests that need their own connection use another clone. Limits such as MaxConnsPerHost apply to the original and to each
// clone. RegisterProtocol for http or https is not supported: the clones lack the registered protocol.
//
// A connection can die without a sign. After an attempt without a response, the next attempt of the call opens a connection, so that
// a dead one costs a call at most one time-out. After the time-out the client closes its idle connections, except those of your
// transport, which carry reads. It also closes a connection of HTTP/2 that stays silent while the service responds on another one.
// A read that ends because a kept connection closes is repeated at once, and does not count as an attempt.
//
// When an attempt of a call that changes something ends without a response, the client closes its TCP connection so that the
// system discards undelivered bytes. Otherwise the system would retransmit them for minutes, even after a payment was repeated.
// The client must therefore reach the *net.TCPConn. So a wrapper returned by your DialContext needs a method NetConn() net.Conn,
// like that of tls.Conn, and a RoundTripper of your own must pass on the request's context. Client.Check warns if the client
// cannot reach it. Bytes in a proxy, the network or the service's receive queue cannot be discarded.
//
// # A RoundTripper of your own
//
// Only an error for which [NotSent] is true means that the call was not processed. The client does not repeat such a call, unless
// the error is from [Wrappable]. After every other error, including a failed dial, the request may have arrived. If you wrap an
// *http.Transport, wrap it with Wrappable first: the client then knows which requests never left. If your RoundTripper uses HTTP/2
// without Wrappable, payments share a connection: closing it for one makes the outcome of the others unknown.
//
// An attempt gets one connection. If the RoundTripper takes a second one, to repeat, to hedge or to fail over, the client closes
// that connection and ends the attempt. Then the client itself repeats the request where that is safe. httputil.DumpRequestOut
// also takes a connection: pass it a req.Clone(context.Background()) with a body from req.GetBody.
package transport

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid/internal/exchange"
)

// New returns a transport with the client's default settings. Change it, for example to add a client certificate, a
// proxy or your own certificate authority, and set it as Config.Transport. A plain &http.Transport{} keeps only 2 idle
// connections to the service and has no timeout for any step.
//
// The transport keeps up to 128 idle connections per host and 256 in total, each for 90 s. The dial timeout is 10 s, with
// keep-alives every 30 s; the TLS handshake timeout is 10 s, with TLS 1.2 or later. It uses HTTP/2 if the service offers it,
// accepts response headers of up to 1 MiB and takes proxies from the environment. A connection of HTTP/2 that is silent for 15 s is
// checked with a ping, and closed if there is no reply within 10 s (field HTTP2): a dead connection then costs a read at most 25 s, and
// an idle one costs nothing. There is no ResponseHeaderTimeout:
// Config.AttemptTimeout is that limit. Client.Close does not close your transport: call CloseIdleConnections when all
// clients that use it are closed.
//
// A client keeps connections for reads, and separate HTTP/1.1 connections for transfers and direct entries: a payment shares
// its connection with no other request in progress. A transport that supports only HTTP/2, or has its own TLS dialer, opens a
// connection for each payment. Connections of payments are closed with a reset (linger 0), even if they are idle: by
// Client.Close, some time after the client becomes unreachable, or after IdleConnTimeout (90 s if it is zero).
//
// Token requests, operations that are never repeated, operations without a response body and polls of a report each open a new
// connection, over HTTP/1.1. The exception is the first token request: if the service offers HTTP/2, the calls that follow use
// its connection, so that the first call of a process makes one TLS handshake and not two.
func New() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    128, // the default, 2, would open and close connections all the time
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second}, // together less than AttemptTimeout
	}
}

// NotSent reports whether err, the error of a RoundTripper, means that the request never left. This is so if every leaf of
// err's tree has a method NotSent() bool that returns true, and no error above a leaf has such a method that returns false.
// A transport that tried two paths must be certain of both. A client applies this rule to a Config.Transport that is not
// an [*http.Transport]. For the error of a call use prepaid.OutcomeOf.
func NotSent(err error) bool { return exchange.NotSent(err) }

// Wrappable returns t in a form that your own RoundTripper can wrap, for example to trace, sign or record:
//
//	config.Transport = otelhttp.NewTransport(transport.Wrappable(transport.New()))
//
// A wrapper hides from the client whether an [*http.Transport] sent the request. Wrappable preserves this information:
// [NotSent] is true for the error of a request if t asked for a connection and got none. Such a call is not processed,
// and the client repeats it, as without the wrapper. A request with Close set opens its own connection, over HTTP/1.1
// unless t supports only HTTP/2. The wrapper must return errors unchanged or wrapped, and must not clear Close. If t is
// nil, [New] is used.
func Wrappable(t *http.Transport) http.RoundTripper {
	if t == nil {
		t = New()
	}
	return exchange.Wrappable(t)
}

// DropUnsolicited returns a writer for the standard logger. It drops the lines in which net/http prints data that
// followed a complete response, and writes all other lines to next:
//
//	log.SetOutput(transport.DropUnsolicited(log.Writer()))
//
// If a service counts Content-Length in characters, or sends a body with a 204, the response has excess bytes (a name, a
// card number). On a kept connection, net/http logs these bytes through package log, whatever its settings are. A client
// prevents this only for requests that open their own connection, see [New]. Call DropUnsolicited after
// slog.SetDefault, which also sets the output.
func DropUnsolicited(next io.Writer) io.Writer { return unsolicitedDropper{next} }

type unsolicitedDropper struct{ next io.Writer }

// Write handles one record: package log calls it once per record.
func (d unsolicitedDropper) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Unsolicited response received on idle HTTP channel")) {
		return len(line), nil
	}
	return d.next.Write(line)
}
