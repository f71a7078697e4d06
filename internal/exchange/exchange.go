// Package exchange sends one HTTP request once and reads its response.
//
// A Sender holds three transports. Two keep connections; one of these two is for requests with an effect. The third opens a
// connection for each request. An Exchange is one request. It limits the time of the request and the time and size of the response
// body, and reports whether the request may have been sent. It uses one connection, so that net/http repeats nothing by itself.
//
// The package promises that "not sent" is certain, that no error contains an address, credentials or a part of a
// response, and that a request with an effect does not outlive its exchange: the kernel discards undelivered bytes.
//
// The package does not decide the meaning of a response or whether a request is sent again. It does not know tokens or rate limits.
package exchange

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/internal/redact"
)

var (
	// ErrTimeout ends an exchange that outlasts its limit.
	ErrTimeout = error(timeoutError("attempt timed out"))
	// ErrRepeated ends an exchange that net/http was about to repeat.
	ErrRepeated = errors.New("the connection ended without a response")
	// errSecondConnection is ErrRepeated for a RoundTripper that took a second connection by itself.
	errSecondConnection = secondConnectionError("the transport took a second connection for one attempt, see Config.Transport")
	// ErrTooLarge means that a body is longer than its limit.
	ErrTooLarge = errors.New("response larger than MaxResponseBytes")

	// ErrProxyCredentials is the refusal of a proxy that does not accept its user or password: to repeat it may lock the user.
	ErrProxyCredentials error = proxyError("the proxy refused its credentials (status 407)")

	errMalformed = errors.New("malformed HTTP response")
	errQuoted    = errors.New("the transport failed")
)

// timeoutError is a [net.Error].
type timeoutError string

func (e timeoutError) Error() string { return string(e) }

// Timeout reports true.
func (timeoutError) Timeout() bool { return true }

// Temporary reports true.
func (timeoutError) Temporary() bool { return true }

// Is matches [os.ErrDeadlineExceeded], like the time-outs of package net.
func (timeoutError) Is(target error) bool { return target == os.ErrDeadlineExceeded }

type secondConnectionError string

func (e secondConnectionError) Error() string { return string(e) }

// Is matches ErrRepeated: the two errors have the same consequences.
func (secondConnectionError) Is(target error) bool { return target == ErrRepeated }

// Exchange is one request. It gets only one connection, because net/http repeats requests by itself. Over HTTP/1.1, net/http
// repeats a GET whose kept connection broke before the response, even if the service has read the GET. It also repeats
// (safely) any request of which nothing was written. Over HTTP/2, it repeats even complete requests, as often as the
// peer resets the stream. A second connection ends the exchange before anything is written to that connection.
//
// Transport hooks and a body that is read later refer to an Exchange, so an Exchange may outlive its call and is
// never reused. Call [Sender.Begin], Send and, unless the body is streamed, End.
type Exchange struct {
	cancel    context.CancelCauseFunc
	timer     *time.Timer                 // limits an attempt or, while a body is streamed, each pause
	ends      time.Duration               // when its time ends, counted from Sender.made
	conn      atomic.Pointer[net.TCPConn] // carries a request with an effect, or is a reused HTTP/2 connection
	hooks     httptrace.ClientTrace
	request   http.Request
	url       url.URL
	content   *content // nil for a request without a body
	sender    *Sender
	effect    bool
	unwritten bool // over HTTP/1.1, a second connection proves that nothing was written to the first one
	seen      atomic.Uint32
}

// Events that the hooks have seen, as bits: with a field for each event, an Exchange would need the next larger block of memory.
const (
	seenAsked     = 1 << iota // asked for a connection; a transport of the Sender's own always asks
	seenConnected             // got a connection
	seenHTTP2                 // the connection uses HTTP/2
	seenNew                   // the first connection was new: net/http then uses no second one
	seenReused                // the first connection has carried an earlier request
	seenUnfit                 // the last connection was closed unwritten, see fit
)

// Begin returns an Exchange and its context, which ends limit after started, the present time. The reader of a body is allocated together
// with the Exchange.
func (s *Sender) Begin(ctx context.Context, started time.Time, limit time.Duration, withBody bool) (*Exchange, context.Context) {
	x, ctx := s.begin(ctx, started, limit, withBody)
	x.timer = time.AfterFunc(limit, x.expire)
	return x, ctx
}

func (s *Sender) begin(ctx context.Context, started time.Time, limit time.Duration, withBody bool) (*Exchange, context.Context) {
	var x *Exchange
	if withBody {
		both := new(struct {
			exchange Exchange
			content  content
		})
		x = &both.exchange
		x.content = &both.content
	} else {
		x = new(Exchange)
	}
	x.sender, x.ends = s, started.Sub(s.made)+limit
	ctx, x.cancel = context.WithCancelCause(ctx)
	return x, ctx
}

func (x *Exchange) expire() { x.cancel(ErrTimeout) }

// left returns how much of the time of the exchange is left.
func (x *Exchange) left() time.Duration { return x.ends - time.Since(x.sender.made) }

// BeginWatched is Begin for a request with a body. If the request may have been sent, and the exchange has not ended after a third of
// limit, watch is called in its own goroutine, with the argument subject and a context that ends with the exchange.
func (s *Sender) BeginWatched(ctx context.Context, started time.Time, limit time.Duration, watch func(ctx context.Context, subject string, since time.Time), subject string) (*Exchange, context.Context) {
	x, ctx := s.begin(ctx, started, limit, true)
	x.timer = time.AfterFunc(limit/3, func() {
		left := x.left() // the process may have been suspended
		rest := time.AfterFunc(left, x.expire)
		if left > 0 && (!x.sender.netHTTP || x.has(seenConnected)) {
			watch(ctx, subject, time.Now())
		}
		<-ctx.Done()
		rest.Stop()
	})
	return x, ctx
}

// End stops the timer of the exchange and cancels its context: its body cannot be read any more.
func (x *Exchange) End() {
	x.timer.Stop()
	x.conn.Store(nil) // another exchange may use it
	x.cancel(nil)
}

// content is the part of an Exchange for a request with a body.
type content struct {
	reader bytes.Reader
	alone  aloneContext
}

// Request is the request of an Exchange.
type Request struct {
	Method string
	// URL is copied.
	URL    *url.URL
	Header http.Header
	// Body is nil for a request without a body; otherwise the Exchange began with one.
	Body []byte
	// Fresh opens a connection for this request alone.
	Fresh bool
	// Effect marks a request that changes something. The connection of the request carries no other request at the same
	// time. Unless Fresh is set, the connection uses HTTP/1.1 and is kept for the next request with an effect. When the
	// exchange or the process ends, the kernel discards undelivered bytes.
	Effect bool
	// Lead is an exception from Fresh, for requests with a body. If the service offers HTTP/2, the Sender's first request
	// that sets Lead opens a connection that later requests use too.
	Lead bool
}

// Failure is why there is no response. The zero value means that there is a response.
type Failure struct {
	// Err is the cause, without the address; nil if there is a response.
	Err error
	// Sent is false only if it is certain that nothing reached the service.
	Sent bool
	// MayConnect reports that nothing was sent, and that another attempt may find a connection.
	MayConnect bool
}

// Send sends r. ctx is the context that Begin returned. The caller closes the body of the response.
func (x *Exchange) Send(ctx context.Context, r Request) (*http.Response, Failure) {
	s := x.sender
	x.url, x.effect = *r.URL, r.Effect
	x.unwritten = s.netHTTP && r.Method != http.MethodGet // once something was written, net/http repeats only a GET
	x.hooks.GotConn = x.gotConn
	if s.shared && (r.Lead || !r.Fresh && !r.Effect) {
		x.hooks.GetConn = func(string) { x.seen.Or(seenAsked) } // a registered protocol may never ask for a connection
	} else {
		x.seen.Store(seenAsked)
	}
	if r.Effect && !s.netHTTP { // the RoundTripper may hold a response for which net/http needs the connection no longer
		x.hooks.PutIdleConn = func(err error) {
			if err == nil {
				x.conn.Store(nil)
			}
		}
	}
	if r.Effect && !s.netHTTP && x.content != nil {
		x.content.alone.Context = ctx
		ctx = &x.content.alone
	}
	out := &x.request
	*out = *(&http.Request{Method: r.Method, URL: &x.url, Host: x.url.Host, Header: r.Header}).
		WithContext(httptrace.WithClientTrace(ctx, &x.hooks))
	if r.Body != nil {
		out.ContentLength = int64(len(r.Body))
		x.content.reader.Reset(r.Body)
		out.Body = io.NopCloser(&x.content.reader) // net/http knows this type, see body
		body := r.Body                             // if it used r.Body, the function would keep all of r in memory
		out.GetBody = func() (io.ReadCloser, error) { return x.body(body) }
	}
	transport := s.kept
	switch {
	case r.Fresh:
		transport = s.fresh
	case r.Effect:
		transport = s.alone
	}
	heard := s.heardLike(x).Load()
	var response *http.Response
	err := errNotHTTP2
	if r.Lead && s.leads(r) {
		response, err = x.lead(out)
	}
	switch {
	case !errors.Is(err, errNotHTTP2):
	case s.netHTTP:
		response, err = passUnfit(transport, out, &x.seen)
	default:
		response, err = roundTrip(transport, out)
		if err == nil && x.has(seenUnfit) { // to an earlier request
			_ = response.Body.Close()
			response, err = nil, ErrRepeated
		}
	}
	if err == nil {
		if !x.has(seenConnected) {
			s.hidden.Store(true)
		}
		s.responded(x)
		return response, Failure{}
	}
	failure := x.failed(ctx, err)
	s.silent(x, heard, failure.Err)
	return nil, failure
}

// failed ends the exchange after an error of the transport, and describes the error without the address.
func (x *Exchange) failed(ctx context.Context, err error) Failure {
	x.Abort()
	s, out := x.sender, &x.request
	if kept, ok := s.kept.(*http.Transport); ok && !x.has(seenConnected) {
		err = proxyRefusal(kept, out, err)
	}
	failure := Failure{Sent: !s.neverLeft(x, err)}
	failure.MayConnect = !failure.Sent && mayConnect(err)
	if quotes(err.Error(), out) {
		err = errQuoted // path and query contain names and numbers
	}
	failure.Err = describe(ctx, failure.Sent, err)
	if text, line := failure.Err.Error(), redact.Line(failure.Err.Error()); line != text {
		failure.Err = &lineError{failure.Err, line}
	}
	return failure
}

// lineError shows an error as one printable line.
type lineError struct {
	error
	line string
}

func (e *lineError) Error() string { return e.line }

func (e *lineError) Unwrap() error { return e.error }

// quotes reports whether the text of an error contains the path, the query or the credentials of a request.
func quotes(text string, r *http.Request) bool {
	_, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return slices.ContainsFunc([]string{r.URL.RawQuery, r.URL.Path, r.URL.EscapedPath(), credentials}, func(part string) bool {
		return len(part) > 1 && strings.Contains(text, part)
	})
}

// Shared reports whether the connection has carried an earlier request or, over HTTP/2, may have: the peer may have been closing it.
func (x *Exchange) Shared() bool { return x.has(seenReused | seenHTTP2) }

func (x *Exchange) has(bit uint32) bool { return x.seen.Load()&bit != 0 }

func (x *Exchange) gotConn(info httptrace.GotConnInfo) {
	conn, ok := info.Conn.(interface{ ConnectionState() tls.ConnectionState })
	shared := x.sender.http2Only || ok && conn.ConnectionState().NegotiatedProtocol == "h2"
	if shared {
		x.seen.Or(seenHTTP2)
	}
	// If the process was frozen while it connected, a timer may not have fired yet.
	cause := error(nil)
	if deadline, ok := x.request.Context().Deadline(); ok && !time.Now().Before(deadline) {
		cause = context.DeadlineExceeded
	} else if x.left() <= 0 {
		cause = ErrTimeout
	}
	if cause != nil {
		x.seen.Or(seenConnected)
		x.refuse(info.Conn, shared, cause)
		return
	}
	if x.effect && !fit(info, &x.seen) {
		return
	}
	first := x.seen.Or(seenConnected)&seenConnected == 0
	switch {
	case first && info.Reused:
		x.seen.Or(seenReused)
	case first && !shared:
		x.seen.Or(seenNew)
	}
	if first || x.unwritten && !x.has(seenHTTP2) {
		x.take(info)
		return
	}
	cause = ErrRepeated
	if !x.sender.netHTTP && x.has(seenNew) {
		cause = errSecondConnection
	}
	x.refuse(info.Conn, shared, cause)
}

// refuse ends the exchange before anything is written to conn.
func (x *Exchange) refuse(conn net.Conn, shared bool, cause error) {
	x.cancel(cause) // HTTP/2 checks the context before it writes
	if !shared {    // HTTP/1.1 writes before it checks
		if tcp := innermost(conn); tcp != nil {
			_ = tcp.Close() // at once, whatever Close of the caller's own type does
		}
		_ = conn.Close()
	}
}

// take prepares the connection for a request with an effect, before anything is written. Every such request needs this:
// the connection may have been dialled for another request.
func (x *Exchange) take(info httptrace.GotConnInfo) {
	if !x.effect && info.Reused && !x.has(seenHTTP2) {
		return
	}
	conn := innermost(info.Conn)
	switch {
	case conn == nil:
		x.sender.hidden.Store(true)
	case !x.effect:
		x.conn.Store(conn)
	default:
		limit := x.left()
		if deadline, ok := x.request.Context().Deadline(); ok {
			limit = min(limit, time.Until(deadline))
		}
		discardOnClose(conn, limit)
		x.conn.Store(conn)
		if !x.sender.netHTTP { // the RoundTripper may ignore the end of the context
			context.AfterFunc(x.request.Context(), x.Abort)
		}
	}
}

// innermost returns the TCP connection below conn, or nil if a type without NetConn hides it.
func innermost(conn net.Conn) *net.TCPConn {
	for {
		switch c := conn.(type) {
		case *net.TCPConn:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// discardOnClose makes the kernel discard undelivered bytes. By default the kernel retransmits them for minutes, even after
// a close. After this call, the kernel discards them when the connection is closed, even by the end of the process (linger
// 0: the peer gets a reset). It also does so when the peer acknowledges nothing for the given time, even while the process is stopped.
func discardOnClose(conn *net.TCPConn, after time.Duration) {
	_ = conn.SetLinger(0) // fails only if the connection is closed already
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(descriptor uintptr) { limitRetransmission(descriptor, min(after, 24*time.Hour)) })
}

// Abort closes the TCP connection of a request with an effect, so that the kernel discards the undelivered bytes of the request.
// Call Abort if the response did not arrive or is incomplete. Abort does not wait, whereas tls.Conn.Close may wait to write its alert.
func (x *Exchange) Abort() {
	if !x.effect {
		return
	}
	if conn := x.conn.Load(); conn != nil {
		_ = conn.Close() // before another call of Abort can return
		x.conn.CompareAndSwap(conn, nil)
	}
}

// body returns the request's body again, for another connection; over HTTP/2 it returns ErrRepeated. The type of the
// body shows net/http that the body is in memory. net/http then writes the head and the body of the request at once, so
// that no response or disconnection can fall between head and body.
func (x *Exchange) body(content []byte) (io.ReadCloser, error) {
	if x.has(seenHTTP2) {
		return nil, ErrRepeated
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// roundTrip turns a panic or an invalid result of a transport into an error: otherwise the caller's goroutine would end
// while it holds a slot.
func roundTrip(transport http.RoundTripper, req *http.Request) (response *http.Response, err error) {
	defer func() {
		if recover() != nil {
			response, err = nil, errors.New("the transport panicked")
		}
	}()
	response, err = transport.RoundTrip(req)
	switch {
	case err != nil:
	case response == nil:
		err = errors.New("the transport returned neither a response nor an error")
	case response.Body == nil:
		response.Body = http.NoBody
	}
	return response, err
}

// describe returns the error of a broken exchange, or the context's error if the context ended the exchange. The result
// never contains a query or a part of a response.
func describe(ctx context.Context, sent bool, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrTimeout), errors.Is(cause, ErrRepeated), errors.Is(cause, context.DeadlineExceeded):
		return cause
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.HasPrefix(err.Error(), "http2: server sent GOAWAY"): // contains debug data, which may be anything
		return ErrRepeated
	case strings.Contains(err.Error(), "malformed") || sent && strings.Contains(err.Error(), `"`):
		return errMalformed // net/http quotes the text that it could not read
	}
	return err
}

// MostKept is the capacity up to which a Buffer should be kept for another call.
const MostKept = 1 << 20

// Buffer holds the body of a response while it is decoded. It is reused for each body.
type Buffer struct {
	bytes.Buffer
	limited io.LimitedReader // between the buffer and a response
}

// Read reads the body of a response to its end and closes it. A body of more than limit bytes is truncated, with
// ErrTooLarge. ctx is the context that Begin returned. The result is valid until the next Read.
func (b *Buffer) Read(ctx context.Context, response *http.Response, limit int64) ([]byte, error) {
	defer func() { _ = response.Body.Close() }()
	b.Reset()
	if length := response.ContentLength; length > 0 && length <= limit {
		b.Grow(int(min(length, MostKept)) + bytes.MinRead)
	}
	b.limited = io.LimitedReader{R: response.Body, N: limit + 1}
	n, err := b.ReadFrom(&b.limited)
	b.limited.R = nil
	switch {
	case n > limit:
		return b.Bytes()[:limit], ErrTooLarge
	case err != nil:
		return b.Bytes(), describe(ctx, true, err)
	}
	return b.Bytes(), nil
}
