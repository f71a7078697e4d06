package prepaid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

const (
	maxErrorBody   = 64 << 10
	maxHeaderBytes = 1 << 20
)

var (
	errAttemptTimeout = error(timeoutError("attempt timed out"))
	errBodyTooLarge   = errors.New("answer larger than MaxResponseBytes")
	errMalformed      = errors.New("malformed HTTP answer")
	errQuoted         = errors.New("the transport failed")
	errRepeated       = errors.New("the connection ended without a response")
)

// timeoutError is a text that says Timeout, as the errors of net do.
type timeoutError string

func (e timeoutError) Error() string { return string(e) }

// Timeout reports true.
func (timeoutError) Timeout() bool { return true }

// attempt is one request of a call and what came of it.
type attempt struct {
	number        int
	started       time.Time
	sent          bool // something may have reached the service
	connectFailed bool // certain: no connection was made; another attempt may make one
	status        int  // 0 without an answer
	header        http.Header
	mediaType     string
	vendor        string // the media type the service should answer with
	body          []byte
	stream        io.ReadCloser // instead of body
	api           *APIError     // of an error status
	unusable      error         // of any other response that is no success
	retryAfter    time.Duration
	err           error                 // no complete answer
	oversize      bool                  // a success longer than MaxResponseBytes
	report        func(*Trace, Attempt) // to a trace, in the context that AttemptStart gave; nil when none did
	watch         *connectionWatch      // may outlive the attempt, which may not outlive its call
	content       *bytes.Reader         // of the body; may, too
}

// succeeded reports an expected status with a complete response that is no error, and has no body where none is due.
func (a *attempt) succeeded(op *operation) bool {
	return a.err == nil && a.unusable == nil && slices.Contains(op.success, a.status) &&
		(op.kind != answerNone || a.fromService() && a.empty())
}

// fromService reports whether the answer's media type can be the service's; proxies put application/json in its
// place, or a page of their own.
func (a *attempt) fromService() bool {
	switch a.mediaType {
	case a.vendor, "application/json", "application/octet-stream":
		return true
	case "", "text/plain":
		return !bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("<"))
	}
	return false
}

// declared reports whether the media type is one that the reference declares, or application/json in its place. With any
// other, a success that cannot be read proves nothing.
func (a *attempt) declared(kind answerKind) bool {
	switch a.mediaType {
	case a.vendor, "application/json":
		return true
	case "application/octet-stream":
		return kind == answerText || kind == answerData
	}
	return false
}

// cause is the error of an attempt that did not succeed, the same one each time, which distinguishes attempts.
func (a *attempt) cause() error {
	switch {
	case a.err != nil:
		return a.err
	case a.api != nil:
		return a.api
	case a.unusable == nil:
		a.unusable = a.undecodable(errUnexpectedResponse)
	}
	return a.unusable
}

// makeAttempt makes one attempt of the call, which is then c.last: authorize, take a slot, send once, read bounded.
func (c *call) makeAttempt(ctx context.Context) {
	previous := c.last
	a := &c.space[c.made%len(c.space)]
	if c.made >= len(c.space) {
		*a = attempt{}
	}
	a.number, a.vendor = c.made+1, c.core.mediaType
	c.last = a
	c.made++
	if c.op.class != classToken {
		if a.err = c.authorize(ctx); a.err != nil {
			if errors.Is(a.err, errSameToken) {
				c.last, c.gaveUp = previous, true
			}
			return
		}
	}
	waiting := time.Time{}
	if len(c.traces) > 0 {
		waiting = time.Now()
	}
	slot, err := admit(ctx, c.core.limiter, c.lane)
	if err != nil {
		a.err = limiterError(ctx, err)
		return
	}
	a.started = time.Now()
	if waited := a.started.Sub(waiting); len(c.traces) > 0 && waited >= leastThrottled {
		c.observeThrottled(ctx, waited)
		a.started = time.Now()
	}
	observed := ctx
	if c.startsObserved() {
		observed = c.observeStart(ctx, a.number)
		a.report = func(t *Trace, seen Attempt) { t.AttemptDone(observed, c.op.Operation, seen) }
		a.started = time.Now()
	}
	if a.err = c.ended(observed); a.err != nil { // while it waited for its slot
		slot.Release(Feedback{NotSent: true})
		return
	}
	if c.sends != nil {
		w := new(bodyWatch)
		a.watch, a.content = &w.connectionWatch, &w.content
	} else {
		a.watch = new(connectionWatch)
	}
	c.send(a.watch.leash.hold(observed, c.core.config.AttemptTimeout), a, slot)
	if a.sent {
		c.countSent(a.started)
	}
	if a.stream == nil {
		a.watch.leash.free()
	}
}

// ended is why a call must not send any more.
func (c *call) ended(ctx context.Context) error {
	if c.core.closed.Load() {
		return ErrClosed
	}
	return ctx.Err()
}

// limiterError keeps a limiter's own refusal and the context's error, and makes anything else a refusal.
func limiterError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*ThrottledError](err); ok || ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("prepaid: limiter: %w", err)
}

// send makes the exchange and fills a.
func (c *call) send(ctx context.Context, a *attempt, slot Slot) {
	watch := a.watch
	out := (&http.Request{Method: c.op.Method, URL: c.url, Host: c.url.Host, Header: c.header()}).
		WithContext(httptrace.WithClientTrace(ctx, watch.trace(c.core, c.op.Method)))
	c.propagate(ctx, out.Header)
	if c.sends != nil {
		body := c.sends
		out.ContentLength = int64(len(body))
		a.content.Reset(body)
		out.Body = io.NopCloser(a.content)
		out.GetBody = func() (io.ReadCloser, error) { return watch.body(body) }
	}
	transport := c.core.transport
	if c.fresh || c.op.ownConnection() {
		transport = c.core.fresh
	}
	response, err := roundTrip(transport, out)
	if err != nil {
		a.sent = !c.core.neverLeft(watch, err)
		a.connectFailed = !a.sent && mayConnect(err)
		if query := out.URL.RawQuery; query != "" && strings.Contains(err.Error(), query) {
			err = errQuoted // names and numbers stand in a query
		}
		a.err = transportError(ctx, a.sent, "connect", err)
		if a.sent {
			a.err = transportError(ctx, true, "answer", err)
		}
		slot.Release(Feedback{NotSent: !a.sent})
		return
	}
	a.sent = true
	a.status, a.header = response.StatusCode, response.Header
	a.mediaType = mediaTypeOf(response.Header.Get("Content-Type"))
	if len(response.Header["Retry-After"]) > 0 {
		a.retryAfter = retryAfter(response.Header, time.Now())
	}
	slot.Release(Feedback{StatusCode: a.status, RetryAfter: a.retryAfter})
	if c.op.kind == answerStream && a.status == http.StatusOK {
		a.stream = watch.leash.stream(ctx, response.Body, c.core.config.BodyIdleTimeout)
		return
	}
	c.read(ctx, response, a)
}

// roundTrip keeps a transport that panics, or answers as none may, from taking the caller's goroutine with it while a
// slot is held.
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
		err = errors.New("the transport gave neither an answer nor an error")
	case response.Body == nil:
		response.Body = http.NoBody
	}
	return response, err
}

// read takes the body, bounded, and makes the error of an error status.
func (c *call) read(ctx context.Context, response *http.Response, a *attempt) {
	defer func() { _ = response.Body.Close() }()
	success := slices.Contains(c.op.success, a.status)
	limit := c.core.config.MaxResponseBytes
	if !success {
		limit = min(limit, maxErrorBody)
	}
	body, err := c.readBounded(response, limit)
	switch {
	case err == nil:
	case errors.Is(err, errBodyTooLarge) && !success:
		// What matters of an error answer is its status.
	case errors.Is(err, errBodyTooLarge):
		a.oversize = true
	case !success && a.status >= 300:
		// The status came whole: an error answer that breaks off is still that error.
	default:
		a.err = transportError(ctx, true, "body", err)
		return
	}
	a.body = body
	switch {
	case a.status >= 300:
		a.api = c.apiError(a)
	case success:
		if code := a.saysError(c.op.kind); code != "" {
			a.unusable = a.undecodable(ErrorCode(printableCode(code)))
		}
	}
}

// readBounded reads at most limit bytes into the call's buffer.
func (c *call) readBounded(response *http.Response, limit int64) ([]byte, error) {
	buffer := c.buffer
	buffer.Reset()
	if length := response.ContentLength; length > 0 && length <= limit {
		buffer.Grow(int(min(length, maxPooledBuffer)) + bytes.MinRead)
	}
	c.limited = io.LimitedReader{R: response.Body, N: limit + 1}
	n, err := buffer.ReadFrom(&c.limited)
	if n > limit {
		return buffer.Bytes()[:limit], errBodyTooLarge
	}
	return buffer.Bytes(), err
}

// apiError reads an error answer; whatever its body is, the status counts.
func (c *call) apiError(a *attempt) *APIError {
	failure := &APIError{
		StatusCode:   a.status,
		RetryAfter:   a.retryAfter,
		Header:       a.header,
		Body:         bytes.Clone(a.body),
		inputStatus:  c.op.inputStatus,
		reportFailed: c.op.failedOn500 && a.status == http.StatusInternalServerError,
	}
	failure.Code, failure.Description = a.errorShape()
	if c.core.config.ShowDescriptions {
		failure.shown = printableText(failure.Description)
	}
	return failure
}

// transportError describes a broken exchange: the context's error when that ended it, never an address with a
// query or a piece of an answer.
func transportError(ctx context.Context, sent bool, step string, err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errAttemptTimeout), errors.Is(cause, errRepeated):
		err = cause
	case ctx.Err() != nil:
		err = ctx.Err()
	case strings.HasPrefix(err.Error(), "http2: server sent GOAWAY"): // with its debug data, which may be anything
		err = errRepeated
	case strings.Contains(err.Error(), "malformed") || sent && strings.Contains(err.Error(), `"`):
		err = errMalformed // net/http quotes what it could not read
	}
	return &TransportError{Sent: sent, Step: step, Err: err}
}

// retryAfter reads the header as seconds or as a date; zero when absent or nonsense.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		const longest = int64(365 * 24 * time.Hour / time.Second)
		return time.Duration(min(max(seconds, 0), longest)) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// authorize gets the token for this attempt; after a 401 it asks for another one.
func (c *call) authorize(ctx context.Context) error {
	if err := c.ended(ctx); err != nil { // during a pause; a token source of the caller's does not know
		return err
	}
	if c.suspect != nil && c.token != c.suspect { // a further attempt with the spare token
		return nil
	}
	token, err := c.anyToken(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrClosed):
		return ErrClosed
	case err != nil:
		return tokenError(err)
	case token == nil || token.AccessToken == "":
		return &TokenError{Err: errNoToken}
	case !isHeaderText(token.AccessToken):
		return &TokenError{Err: errTokenText}
	case c.rejected != nil && token.AccessToken == c.rejected.AccessToken,
		c.suspect != nil && token.AccessToken == c.suspect.AccessToken:
		return errSameToken
	}
	c.token, c.rejected = token, nil
	return nil
}

// anyToken asks for the shared token, or for a spare one. Without a spare one the response to the other stands.
func (c *call) anyToken(ctx context.Context) (*oauth2.Token, error) {
	if c.suspect == nil {
		return c.core.tokens.Token(ctx, c.rejected)
	}
	if c.core.manager == nil { // a source of the caller's own is asked again after a 401 only
		return c.suspect, nil
	}
	token, err := c.core.manager.Spare(ctx, c.suspect)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		return c.suspect, nil
	}
	return token, err
}

var (
	errSameToken = errors.New("the rejected token again")
	errNoToken   = errors.New("the token source returned no token")
	errTokenText = errors.New("the token source returned a token with white space or control characters")
)

// tokenError wraps err once, without the parts of x/oauth2's errors that hold the credentials.
func tokenError(err error) error {
	if already, ok := errors.AsType[*TokenError](err); ok {
		return already
	}
	if retrieve, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		failure := &APIError{Code: ErrorCode(retrieve.ErrorCode)}
		if retrieve.Response != nil {
			failure.StatusCode = retrieve.Response.StatusCode
		}
		return &TokenError{Err: failure}
	}
	if inner, ok := errors.AsType[*CallError](err); ok {
		err = inner.Err
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // of a foreign source
	}
	return &TokenError{Err: err}
}

// isHeaderText reports whether a token can stand in the Authorization header: net/http would refuse anything else
// in a way that looks like a broken exchange.
func isHeaderText(token string) bool {
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return false
		}
	}
	return true
}
