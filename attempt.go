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

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/pause"
)

const maxErrorBody = 64 << 10

// attempt is one request of a call and its result.
type attempt struct {
	response
	number        int
	sent          bool                  // something may have reached the service
	connectFailed bool                  // it is certain that no connection was made; another attempt may make one
	api           *APIError             // for an error status
	unusable      error                 // for any other response that is not a success
	err           error                 // if there is no complete response
	report        func(*Trace, Attempt) // reports to a trace with the context that AttemptStart returned; may be nil
	exchange      *exchange.Exchange    // may outlive the attempt; the attempt never outlives its call
}

// succeeded reports whether the response is complete, has an expected status, is not an error and has no unexpected body.
func (a *attempt) succeeded(op *operation) bool {
	return a.err == nil && a.unusable == nil && slices.Contains(op.success, a.status) &&
		(op.kind != responseNone || a.fromService() && a.empty())
}

// cause returns the error of an attempt that did not succeed. It returns the same value each time, so that errors.Is can tell
// attempts apart.
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

// evidence returns the input for operation.judge.
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

// serviceForm reports whether the error has the form of section 7: a JSON object with a non-empty string `error`, with the
// service's media type or application/json, which proxies substitute. Any other 4xx may come from a gateway, before or after
// the service accepted the request. So may one whose code is the status text, which many frameworks send.
func (a *attempt) serviceForm() bool {
	return a.declared(responseJSON) && a.api.Code != "" && string(a.api.Code) != http.StatusText(a.status)
}

// attempts makes the attempts of one call, one after the other. Its fields are set when the call begins; those of the second
// group change with each attempt, by methods of attempts only.
type attempts struct {
	request
	core     *core
	observer observer
	lane     Lane
	url      url.URL
	content  []byte // the body of every attempt; nil for none
	buffer   *exchange.Buffer

	space  [2]attempt // the last attempt and the one before
	last   *attempt
	made   int           // attempts begun, sent or not
	token  *oauth2.Token // of the last attempt
	sent   sentRecord
	gaveUp bool // no attempt was made, because there is no other token
}

// sentRecord counts the requests that may have been sent, with the times of the first and last.
type sentRecord struct {
	attempts    int
	first, last time.Time
	admitted    time.Time // a refusal of the last request proves nothing of one that may not be repeated before a later time
}

// attemptOptions are how the next attempt differs from the first.
type attemptOptions struct {
	fresh    bool          // it opens its own connection
	rejected *oauth2.Token // refused with 401; send another one
	suspect  *oauth2.Token // may have caused a 400; try another one
	// notBefore is when a movement of unknown outcome may be repeated, by this call or an earlier one; zero if there is none.
	// Only then earliest counts: the attempt itself waits.
	notBefore, earliest time.Time
}

// attempt makes one attempt and sets c.last: wait for an earlier one, authorize, take a slot, send once, read up to a limit.
func (c *attempts) attempt(ctx context.Context, options *attemptOptions) {
	previous := c.last
	a := &c.space[c.made%len(c.space)]
	if c.made >= len(c.space) {
		*a = attempt{}
	}
	c.made++
	a.number, a.own, c.last = c.made, &c.core.own, a
	if !options.notBefore.IsZero() {
		a.err = c.core.awaitRepeat(ctx, c.account, options.notBefore)
		if wait := time.Until(options.earliest); a.err == nil && wait > 0 {
			a.err = pause.For(ctx, wait)
		}
		if a.err != nil {
			return
		}
	}
	waiting := time.Time{}
	slot, err := c.admit(ctx, options, &waiting)
	if a.err = err; err != nil {
		if errors.Is(err, errSameToken) {
			c.last, c.gaveUp = previous, true
		}
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
	if a.err = c.core.ended(observed); a.err != nil { // ended while waiting for the slot
		slot.Release(Feedback{NotSent: true})
		return
	}
	admitted := c.admitted(a.started, options.notBefore)
	a.exchange = exchange.New(c.content != nil)
	c.send(a.exchange.Begin(observed, c.core.config.AttemptTimeout), a, slot, options.fresh)
	if a.sent {
		c.sent.count(a.started, c.core.config.AttemptTimeout)
		c.sent.admitted = admitted
	}
	if a.stream == nil {
		a.exchange.End()
	}
}

// admit authorizes the attempt and takes a slot, for which it waits since waiting. If the token was refused meanwhile, it waits once
// more for another.
func (c *attempts) admit(ctx context.Context, options *attemptOptions, waiting *time.Time) (Slot, error) {
	for range 2 {
		if c.op.class != classToken {
			if err := c.authorize(ctx, options); err != nil {
				return nil, err
			}
		}
		if c.observer.traced() {
			*waiting = time.Now()
		}
		slot, err := admitAhead(ctx, c.core.limiter, c.lane, c.awaited)
		if err != nil {
			return nil, limiterError(ctx, err)
		}
		if c.token == nil || c.core.manager == nil || options.suspect != nil {
			return slot, nil
		}
		if current := c.core.manager.Current(c.token); current != nil {
			c.token = current
			return slot, nil
		}
		slot.Release(Feedback{NotSent: true})
	}
	return nil, &TokenError{Err: errTokenRefused}
}

// count adds an attempt that may have left. If it outlasted its limit, because the RoundTripper ignores the context or the
// process was suspended, the request may have left as late as its end; last is then limit before that.
func (s *sentRecord) count(at time.Time, limit time.Duration) {
	if s.attempts++; s.attempts == 1 {
		s.first = at
	}
	s.last = at
	if time.Since(at) > limit {
		s.last = time.Now().Add(-limit)
	}
}

// limiterError returns a limiter's refusal and the context's error unchanged, and wraps anything else.
func limiterError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*ThrottledError](err); ok || ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("prepaid: limiter: %w", err)
}

// send makes the exchange and sets the fields of a.
func (c *attempts) send(ctx context.Context, a *attempt, slot Slot, fresh bool) {
	header := c.header()
	c.propagate(ctx, header)
	response, failure := a.exchange.Send(ctx, c.core.sender, exchange.Request{
		Method: c.op.Method, URL: &c.url, Header: header, Body: c.content, Fresh: fresh || c.op.ownConnection(),
		Effect: c.op.class != classRead && c.op.class != classToken, Limit: c.core.config.AttemptTimeout, Lead: c.op.class == classToken,
	})
	if response == nil {
		a.sent, a.connectFailed = failure.Sent, failure.MayConnect
		step := "connect"
		if a.sent {
			step = "headers"
		}
		a.err = &TransportError{Sent: a.sent, Step: step, Err: failure.Err}
		slot.Release(Feedback{NotSent: !a.sent})
		return
	}
	a.sent = true
	a.status, a.header = response.StatusCode, response.Header
	a.mediaType = c.core.mediaTypeOf(response.Header["Content-Type"])
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

// brokenBody returns the error of a body that ended early.
func brokenBody(err error) error { return &TransportError{Sent: true, Step: "body", Err: err} }

// read reads the body up to the limit and, for an error status, sets a.api.
func (c *attempts) read(ctx context.Context, response *http.Response, a *attempt) {
	success := slices.Contains(c.op.success, a.status)
	limit := c.core.config.MaxResponseBytes
	if !success {
		limit = min(limit, maxErrorBody)
	}
	body, err := c.buffer.Read(ctx, response, limit)
	if err != nil && !errors.Is(err, exchange.ErrTooLarge) {
		a.exchange.Abort()
	}
	switch {
	case err == nil:
	case errors.Is(err, exchange.ErrTooLarge) && !success:
		// The start is enough: what matters is the status.
	case errors.Is(err, exchange.ErrTooLarge):
		a.oversize = true
	case !success && a.status >= 300:
		// The status arrived: an error response whose body ends early is still that error.
	default:
		a.err = brokenBody(err)
		return
	}
	a.body = body
	switch {
	case a.status >= 300:
		a.api = c.apiError(a)
	case success:
		if err := a.errorWithin(c.op.kind); err != nil {
			a.unusable = a.undecodable(err)
		}
	}
	if err == nil && a.status < 500 && a.status != http.StatusTooManyRequests && c.op.class != classToken && isVendorType(a.mediaType) {
		c.core.alive.Responded(a.started)
	}
}

// apiError returns the error of an error status. The body may have any form.
func (c *attempts) apiError(a *attempt) *APIError {
	failure := &APIError{
		StatusCode:   a.status,
		RetryAfter:   a.retryAfter,
		Header:       a.header,
		Body:         bytes.Clone(a.body),
		inputStatus:  c.op.inputStatus,
		reportFailed: c.op.failedOn500 && a.status == http.StatusInternalServerError,
	}
	failure.Code, failure.Description, _ = a.errorShape()
	if c.core.config.ShowDescriptions {
		failure.shown = printableText(failure.Description)
	}
	return failure
}

// header returns the header of one attempt. The value slices are shared by all requests: a RoundTripper must not change them.
func (c *attempts) header() http.Header {
	var h http.Header
	if c.token != nil {
		h = c.core.bearer(c.token.AccessToken)
	} else {
		h = c.core.header(c.basic)
	}
	if c.op.kind == responseText || c.op.kind == responseData {
		h["Accept"] = c.core.acceptText
	}
	switch {
	case c.form != "":
		h["Content-Type"] = formType
	case c.content != nil:
		h["Content-Type"] = c.core.contentType
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

// authorize sets the token for this attempt; after a 401, a new one.
func (c *attempts) authorize(ctx context.Context, options *attemptOptions) error {
	if err := c.core.ended(ctx); err != nil { // ended during a pause; the caller's token source does not know about Close
		return err
	}
	if options.suspect != nil && c.token != options.suspect { // a further attempt with the spare token
		return nil
	}
	rejected := options.rejected
	if c.token != rejected { // already replaced
		rejected = nil
	}
	token, err := c.requestToken(ctx, rejected, options.suspect)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrClosed):
		return ErrClosed
	case err != nil:
		return tokenError(err)
	case token == nil || token.AccessToken == "":
		return &TokenError{Err: errNoToken}
	case !c.core.sends(token.AccessToken) && !isHeaderText(token.AccessToken):
		return &TokenError{Err: errTokenText}
	case rejected != nil && token.AccessToken == rejected.AccessToken && c.core.manager == nil, // the manager's has begun later
		options.suspect != nil && token.AccessToken == options.suspect.AccessToken:
		return errSameToken
	}
	c.token = token
	return nil
}

// requestToken returns the shared token or, if there is a suspect, a spare one. If it returns suspect itself, the response to it
// is final.
func (c *attempts) requestToken(ctx context.Context, rejected, suspect *oauth2.Token) (*oauth2.Token, error) {
	if suspect == nil {
		return c.core.tokens.Token(ctx, rejected)
	}
	if c.core.manager == nil { // the caller's source is called again only after a 401
		return suspect, nil
	}
	token, err := c.core.manager.Spare(ctx, suspect)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		return suspect, nil
	}
	return token, err
}

var (
	errSameToken    = errors.New("the token source returned the rejected token")
	errNoToken      = errors.New("the token source returned no token")
	errTokenText    = errors.New("the token source returned a token with white space or control characters")
	errTokenRefused = errors.New("the service refused it, and there is no other one in time")
)

// tokenError wraps err once, without the parts of x/oauth2's errors that may contain the credentials.
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
		err = wrapped.Err // from the caller's source
	}
	return &TokenError{Err: err}
}

// isHeaderText reports whether a token is valid in the Authorization header. For any other, net/http returns an error that
// looks like a broken exchange.
func isHeaderText(token string) bool {
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return false
		}
	}
	return true
}

// printableText returns text as one line of at most longest printable characters.
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
