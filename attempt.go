package prepaid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/exchange"
)

const maxErrorBody = 64 << 10

// attempt is one request of a call and what came of it.
type attempt struct {
	response
	number        int
	sent          bool                  // something may have reached the service
	connectFailed bool                  // certain: no connection was made; another attempt may make one
	api           *APIError             // of an error status
	unusable      error                 // of any other response that is no success
	err           error                 // no complete response
	report        func(*Trace, Attempt) // to a trace, in the context that AttemptStart gave; nil when none did
	exchange      *exchange.Exchange    // may outlive the attempt, which may not outlive its call
}

// succeeded reports an expected status with a complete response that is no error, and has no body where none is due.
func (a *attempt) succeeded(op *operation) bool {
	return a.err == nil && a.unusable == nil && slices.Contains(op.success, a.status) &&
		(op.kind != responseNone || a.fromService() && a.empty())
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

// evidence is what operation.judge decides by.
func (a *attempt) evidence(kind responseKind) evidence {
	e := evidence{
		status: a.status, complete: a.err == nil, notSent: a.err != nil && !a.sent, connectFailed: a.connectFailed,
		declared: a.declared(kind),
	}
	if a.api != nil {
		e.code, e.serviceForm = a.api.Code, a.serviceForm()
	}
	return e
}

// serviceForm reports an error in the form of section 7: a JSON object with a non-empty string `error`, under the media type
// of the service or application/json, which proxies put in its place. Any other 4xx may be a gateway's own, given before or
// after the service took the request, and so may one whose code is the status in words, as many frameworks write it.
func (a *attempt) serviceForm() bool {
	return a.declared(responseJSON) && a.api.Code != "" && string(a.api.Code) != http.StatusText(a.status)
}

// attempts makes the attempts of one call, one after the other. Its fields are set when the call begins, and those of the
// second group change with each attempt; only the methods of attempts change them.
type attempts struct {
	request
	core     *core
	observer observer
	lane     Lane
	url      *url.URL
	content  []byte // the body of every attempt; nil for none
	buffer   *exchange.Buffer

	space  [2]attempt // for the last attempt and the one before
	last   *attempt
	made   int           // attempts begun, sent or not
	token  *oauth2.Token // of the last attempt
	sent   sentRecord
	gaveUp bool // no attempt was made, for want of another token
}

// sentRecord is what was sent, or may have been.
type sentRecord struct {
	attempts    int
	first, last time.Time
}

// manner is how the next attempt differs from an ordinary one.
type manner struct {
	fresh    bool          // it opens its own connection
	rejected *oauth2.Token // refused with 401; another one is sent
	suspect  *oauth2.Token // to which a 400 may have been due; another one is tried
}

// attempt makes one attempt, which is then c.last: authorize, take a slot, send once, read bounded.
func (c *attempts) attempt(ctx context.Context, how *manner) {
	previous := c.last
	a := &c.space[c.made%len(c.space)]
	if c.made >= len(c.space) {
		*a = attempt{}
	}
	c.made++
	a.number, a.vendor, c.last = c.made, c.core.mediaType, a
	if c.op.class != classToken {
		if a.err = c.authorize(ctx, how); a.err != nil {
			if errors.Is(a.err, errSameToken) {
				c.last, c.gaveUp = previous, true
			}
			return
		}
	}
	waiting := time.Time{}
	if c.observer.traced() {
		waiting = time.Now()
	}
	slot, err := admit(ctx, c.core.limiter, c.lane)
	if err != nil {
		a.err = limiterError(ctx, err)
		return
	}
	a.started = time.Now()
	if waited := a.started.Sub(waiting); c.observer.traced() && waited >= leastThrottled {
		c.observer.throttled(ctx, c.op.Operation, waited)
		a.started = time.Now()
	}
	observed := ctx
	if c.observer.wantsStarts() {
		observed = c.observer.attemptStart(ctx, c.op.Operation, a.number)
		a.report = func(t *Trace, seen Attempt) { t.AttemptDone(observed, c.op.Operation, seen) }
		a.started = time.Now()
	}
	if a.err = c.core.ended(observed); a.err != nil { // while it waited for its slot
		slot.Release(Feedback{NotSent: true})
		return
	}
	a.exchange = exchange.New(c.content != nil)
	c.send(a.exchange.Begin(observed, c.core.config.AttemptTimeout), a, slot, how.fresh)
	if a.sent {
		c.sent.count(a.started, c.core.config.AttemptTimeout)
	}
	if a.stream == nil {
		a.exchange.End()
	}
}

// count takes in an attempt that may have left. One that outlasted its limit, since its RoundTripper disregards the
// context or the process stood still, may have left as late as its end.
func (s *sentRecord) count(at time.Time, limit time.Duration) {
	if s.attempts++; s.attempts == 1 {
		s.first = at
	}
	s.last = at
	if due := time.Now().Add(-limit); due.After(at) {
		s.last = due
	}
}

// limiterError keeps a limiter's own refusal and the context's error, and makes anything else a refusal.
func limiterError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*ThrottledError](err); ok || ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("prepaid: limiter: %w", err)
}

// send makes the exchange and fills a.
func (c *attempts) send(ctx context.Context, a *attempt, slot Slot, fresh bool) {
	header := c.header()
	c.propagate(ctx, header)
	response, failure := a.exchange.Send(ctx, c.core.sender, exchange.Request{
		Method: c.op.Method, URL: c.url, Header: header, Body: c.content, Fresh: fresh || c.op.ownConnection(),
	})
	if response == nil {
		a.sent, a.connectFailed = failure.Sent, failure.MayConnect
		step := "connect"
		if a.sent {
			step = "answer"
		}
		a.err = &TransportError{Sent: a.sent, Step: step, Err: failure.Err}
		slot.Release(Feedback{NotSent: !a.sent})
		return
	}
	a.sent = true
	a.status, a.header = response.StatusCode, response.Header
	a.mediaType = mediaTypeOf(response.Header.Get("Content-Type"))
	if len(response.Header["Retry-After"]) > 0 {
		a.retryAfter = exchange.RetryAfter(response.Header, time.Now())
	}
	slot.Release(Feedback{StatusCode: a.status, RetryAfter: a.retryAfter})
	if c.op.kind == responseStream && a.status == http.StatusOK {
		a.stream = a.exchange.Stream(ctx, response.Body, c.core.config.BodyIdleTimeout, brokenBody)
		return
	}
	c.read(ctx, response, a)
}

// brokenBody is the error of a body that broke off.
func brokenBody(err error) error { return &TransportError{Sent: true, Step: "body", Err: err} }

// read takes the body, bounded, and makes the error of an error status.
func (c *attempts) read(ctx context.Context, response *http.Response, a *attempt) {
	success := slices.Contains(c.op.success, a.status)
	limit := c.core.config.MaxResponseBytes
	if !success {
		limit = min(limit, maxErrorBody)
	}
	body, err := c.buffer.Read(ctx, response, limit)
	switch {
	case err == nil:
	case errors.Is(err, exchange.ErrTooLarge) && !success:
		// What matters of an error response is its status.
	case errors.Is(err, exchange.ErrTooLarge):
		a.oversize = true
	case !success && a.status >= 300:
		// The status came whole: an error response that breaks off is still that error.
	default:
		a.err = brokenBody(err)
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

// apiError reads an error response; whatever its body is, the status counts.
func (c *attempts) apiError(a *attempt) *APIError {
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

// header returns the header of one attempt. The value slices are shared between requests: a RoundTripper may not
// change them.
func (c *attempts) header() http.Header {
	h := make(http.Header, 4)
	h["User-Agent"] = c.core.userAgent
	h["Accept"] = c.core.accept
	if c.op.kind == responseText || c.op.kind == responseData {
		h["Accept"] = c.core.acceptText
	}
	switch {
	case c.form != "":
		h["Content-Type"] = formType
	case c.body != nil:
		h["Content-Type"] = c.core.contentType
	}
	if c.basic != "" {
		h["Authorization"] = []string{c.basic}
	} else if c.token != nil {
		h["Authorization"] = c.core.bearer(c.token.AccessToken)
	}
	return h
}

var formType = []string{"application/x-www-form-urlencoded"}

// propagate adds the trace context of Config.Propagate to the header of one attempt.
func (c *attempts) propagate(ctx context.Context, header http.Header) {
	hook := c.core.config.Propagate
	if hook == nil {
		return
	}
	var added http.Header
	c.observer.guarded(func() { added = hook(ctx) })
	for name, values := range added {
		if !isTraceHeader(name) {
			continue
		}
		for _, value := range values {
			if value != "" && isHeaderValue(value) {
				header.Add(name, value)
			}
		}
	}
}

// isTraceHeader reports whether a header may come from outside. The others are the client's own or the connection's;
// with an idempotency key net/http would repeat a POST by itself.
func isTraceHeader(name string) bool {
	if name == "" || !ascii.IsName(name) {
		return false
	}
	name = strings.ToLower(name)
	for _, taken := range []string{
		"accept", "authorization", "connection", "content-", "cookie", "expect", "host", "if-", "keep-alive", "proxy-",
		"range", "te", "trailer", "transfer-", "upgrade", "user-agent",
	} {
		if name == taken || strings.HasPrefix(name, taken) && (strings.HasSuffix(taken, "-") || taken == "accept") {
			return false
		}
	}
	return !strings.Contains(name, "idempotency") && !strings.Contains(name, "http-method")
}

// isHeaderValue reports whether net/http would send a value as it is.
func isHeaderValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// authorize gets the token for this attempt; after a 401 it asks for another one.
func (c *attempts) authorize(ctx context.Context, how *manner) error {
	if err := c.core.ended(ctx); err != nil { // during a pause; a token source of the caller's does not know
		return err
	}
	if how.suspect != nil && c.token != how.suspect { // a further attempt with the spare token
		return nil
	}
	rejected := how.rejected
	if c.token != rejected { // it was replaced
		rejected = nil
	}
	token, err := c.anyToken(ctx, rejected, how.suspect)
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
	case rejected != nil && token.AccessToken == rejected.AccessToken,
		how.suspect != nil && token.AccessToken == how.suspect.AccessToken:
		return errSameToken
	}
	c.token = token
	return nil
}

// anyToken asks for the shared token, or for a spare one. Without a spare one the response to the other stands.
func (c *attempts) anyToken(ctx context.Context, rejected, suspect *oauth2.Token) (*oauth2.Token, error) {
	if suspect == nil {
		return c.core.tokens.Token(ctx, rejected)
	}
	if c.core.manager == nil { // a source of the caller's own is asked again after a 401 only
		return suspect, nil
	}
	token, err := c.core.manager.Spare(ctx, suspect)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		return suspect, nil
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

// printableText makes one line of a text, of at most longest characters: nothing in it moves a cursor or hides.
func printableText(text string) string {
	const longest = 200
	characters := []rune(strings.Join(strings.Fields(text), " "))
	if len(characters) > longest {
		characters = append(characters[:longest], '…')
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, string(characters))
}
