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

	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/internal/redact"
	"github.com/cardprograms/prepaid/internal/token"
	"github.com/cardprograms/prepaid/ratelimit"
)

const maxErrorBody = 64 << 10

// attempt is one request of a call and its result.
type attempt struct {
	response
	number        int
	sent          bool                  // something may have reached the service
	connectFailed bool                  // it is certain that no connection was made; another attempt may make one
	complete      bool                  // a response was read to its end
	err           error                 // why it is no success; nil if the status is expected and the body has no error
	took          time.Duration         // from started on
	report        func(*Trace, Attempt) // reports to a trace with the context that AttemptStart returned; may be nil
	exchange      *exchange.Exchange    // may outlive the attempt; the attempt never outlives its call
}

// nextAttempt is when the next attempt is made, and how it differs from the first.
type nextAttempt struct {
	wait     time.Duration
	fresh    bool          // the attempt opens its own connection
	rejected *oauth2.Token // refused with 401; send another token
	suspect  *oauth2.Token // may have caused a 400; try another token
	// unknown is a movement of unknown outcome, sent by this or an earlier call; zero if there is none. If it is set, the attempt
	// itself waits until the movement may be repeated, and until earliest, when wait has passed.
	unknown  liveness.Request
	earliest time.Time
}

// try makes one attempt: wait for an earlier attempt, authorize, take a slot, send once, read up to a limit.
func (c *call) try(ctx context.Context, number int) *attempt {
	a := &c.first
	if number > 1 {
		a = new(attempt)
	}
	a.number, a.own = number, &c.core.own
	if !c.next.unknown.IsZero() {
		if a.err = c.awaitTurn(ctx); a.err != nil {
			return a
		}
	}
	slot, err := c.admit(ctx)
	if a.err = err; err != nil {
		return a
	}
	a.started = time.Now()
	observed := ctx
	if c.observer.traces != nil {
		if started := c.observer.attemptStart(ctx, number); started != nil {
			observed = started
			a.report = func(t *Trace, seen Attempt) { t.AttemptDone(started, c.request.op.Operation, seen) }
			a.started = time.Now()
		}
	}
	if a.err = c.core.ended(observed); a.err != nil { // ended while waiting for the slot
		slot.Release(ratelimit.Feedback{NotSent: true})
		return a
	}
	limit := c.core.config.AttemptTimeout
	var limited context.Context
	if c.request.op.class == classKeyed {
		a.exchange, limited = c.core.sender.BeginWatched(observed, a.started, limit, c.core.watcher, string(c.request.account))
	} else {
		a.exchange, limited = c.core.sender.Begin(observed, a.started, limit, c.request.encoded != nil)
	}
	c.send(limited, a, slot)
	if a.sent {
		c.sent.add(a, limit)
		c.sent.admitted = c.next.unknown.NotBefore
	}
	if a.stream == nil {
		a.exchange.End()
	}
	return a
}

// awaitTurn waits until the repeat cannot overtake an earlier request.
func (c *call) awaitTurn(ctx context.Context) error {
	observer := c.observer
	observer.op.Name = awaitRepeat // not the limiter's wait
	stop := observer.waiting(ctx)
	defer stop()
	err := c.core.awaitRepeat(ctx, c.request.account, c.next.unknown)
	if wait := time.Until(c.next.earliest); err == nil && wait > 0 {
		err = pause.For(ctx, wait)
	}
	return err
}

// admit authorizes the attempt and takes a slot. If the token was refused meanwhile, admit does both again.
func (c *call) admit(ctx context.Context) (ratelimit.Slot, error) {
	for range 2 {
		if c.request.op.class != classToken {
			if err := c.authorize(ctx); err != nil {
				return nil, err
			}
		}
		slot, err := c.acquire(ctx)
		switch {
		case err != nil:
			return nil, limiterError(ctx, err)
		case slot == nil:
			slot = freeSlot{}
		}
		if c.token == nil || c.core.manager == nil || c.next.suspect != nil {
			return slot, nil
		}
		if current := c.core.manager.Current(c.token); current != nil {
			c.token = current
			return slot, nil
		}
		slot.Release(ratelimit.Feedback{NotSent: true})
	}
	return nil, &TokenError{Err: token.ErrRefused}
}

// authorize sets the token for this attempt. After a 401 it is a new token.
func (c *call) authorize(ctx context.Context) error {
	if err := c.core.ended(ctx); err != nil { // ended during a pause: request no token, as the caller's source does not know about Close
		return err
	}
	suspect, rejected := c.next.suspect, c.next.rejected
	if suspect != nil && c.token != suspect { // a further attempt with the spare token
		return nil
	}
	if c.token != rejected { // already replaced
		rejected = nil
	}
	access, err := suspect, error(nil) // the caller's source is called again only after a 401
	switch {
	case suspect == nil:
		access, err = c.core.tokens(ctx, rejected)
	case c.core.manager != nil:
		access, err = c.spareToken(ctx, suspect)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrClosed):
		return ErrClosed
	case err != nil:
		return tokenError(err)
	case access == nil || access.AccessToken == "":
		return &TokenError{Err: errNoToken}
	case c.core.manager == nil && !isHeaderText(access.AccessToken): // a manager's token was checked when it arrived
		return &TokenError{Err: errTokenText}
	case rejected != nil && access.AccessToken == rejected.AccessToken && c.core.manager == nil, // a manager returns another token
		suspect != nil && access.AccessToken == suspect.AccessToken:
		return errSameToken
	}
	c.token = access
	return nil
}

// spareToken returns the manager's spare token, or suspect if there is none: the response to suspect is then final.
func (c *call) spareToken(ctx context.Context, suspect *oauth2.Token) (*oauth2.Token, error) {
	spare, err := c.core.manager.Spare(ctx, suspect)
	if err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		return suspect, nil
	}
	return spare, err
}

var (
	errSameToken = errors.New("the token source returned the rejected token")
	errNoToken   = errors.New("the token source returned no token")
	errTokenText = errors.New("the token source returned a token with white space or control characters")
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

// isHeaderText reports whether a token is valid in the Authorization header. For other text, net/http returns an error
// like that of a broken exchange.
func isHeaderText(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// acquire takes a slot, and reports how long that took.
func (c *call) acquire(ctx context.Context) (ratelimit.Slot, error) {
	if !c.observer.has(func(t *Trace) bool { return t.Throttled != nil }) {
		return c.await(ctx)
	}
	began := time.Now()
	slot, err := c.await(ctx)
	if waited := time.Since(began); err == nil && waited >= leastThrottled {
		c.observer.throttled(ctx, waited)
	}
	return slot, err
}

func (c *call) await(ctx context.Context) (ratelimit.Slot, error) {
	if c.request.awaited != nil {
		return c.slotAhead(ctx, c.request.awaited) // nobody waits for a prefetched page yet
	}
	stop := c.observer.waiting(ctx)
	defer stop()
	return c.core.limiter.Acquire(ctx, c.lane)
}

// limiterError returns a limiter's refusal and the context's error unchanged, and wraps anything else.
func limiterError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*ratelimit.RefusedError](err); ok || ctx.Err() != nil || errors.Is(err, ErrClosed) {
		return err
	}
	return fmt.Errorf("prepaid: limiter: %w", err)
}

// send makes the exchange and sets the fields of a.
func (c *call) send(ctx context.Context, a *attempt, slot ratelimit.Slot) {
	header := c.header()
	if c.core.config.Propagate != nil {
		c.propagate(ctx, header)
	}
	response, failure := a.exchange.Send(ctx, exchange.Request{
		Method: c.request.op.Method, URL: &c.url, Header: header, Body: c.request.encoded, Fresh: c.next.fresh || c.request.op.ownConnection(),
		Effect: c.request.op.class != classRead && c.request.op.class != classToken, Lead: c.request.op.class == classToken,
	})
	if response == nil {
		a.took = time.Since(a.started)
		a.sent, a.connectFailed = failure.Sent, failure.MayConnect
		step := "connect"
		if a.sent {
			step = "headers"
		}
		a.err = &TransportError{Sent: a.sent, Step: step, Err: failure.Err}
		slot.Release(ratelimit.Feedback{NotSent: !a.sent})
		return
	}
	a.sent, a.received = true, response
	a.status = response.StatusCode
	a.mediaType = exchange.MediaType(response.Header)
	if len(response.Header["Retry-After"]) > 0 {
		a.retryAfter = exchange.RetryAfter(response.Header, time.Now())
	}
	slot.Release(ratelimit.Feedback{StatusCode: a.status, RetryAfter: a.retryAfter})
	if c.request.op.kind == responseStream && a.status == http.StatusOK {
		a.stream = a.exchange.Stream(ctx, response.Body, c.core.config.BodyIdleTimeout, brokenBody)
		a.complete, a.took = true, time.Since(a.started) // as far as the attempt is concerned
		return
	}
	c.read(ctx, response, a)
}

// header returns the header of one attempt. The value slices are shared by all requests: a RoundTripper must not change them.
func (c *call) header() http.Header {
	var h http.Header
	if c.token != nil {
		h = c.core.bearer(c.token.AccessToken)
	} else {
		h = c.core.header(c.request.basic)
	}
	if c.request.op.kind == responseText || c.request.op.kind == responseData {
		h["Accept"] = c.core.acceptText
	}
	switch {
	case c.request.basic != "":
		h["Content-Type"] = formType
	case c.request.encoded != nil:
		h["Content-Type"] = c.core.contentType
	}
	for name, values := range c.request.header {
		name = http.CanonicalHeaderKey(name)
		h[name] = append(h[name], values...)
	}
	return h
}

var formType = []string{"application/x-www-form-urlencoded"}

// propagate adds the trace context of Config.Propagate to the header of one attempt.
func (c *call) propagate(ctx context.Context, header http.Header) {
	var added http.Header
	c.observer.guarded(func() { added = c.core.config.Propagate(ctx) })
	for name, values := range added {
		if !isFreeHeader(name) {
			continue
		}
		for _, value := range values {
			if value != "" && isHeaderValue(value) {
				header.Add(name, value)
			}
		}
	}
}

// brokenBody returns the error of a body that ended early.
func brokenBody(err error) error { return &TransportError{Sent: true, Step: "body", Err: err} }

// read reads the body up to the limit. It sets a.complete and, unless the response is a success, a.err.
func (c *call) read(ctx context.Context, response *http.Response, a *attempt) {
	op := &c.request.op
	success := slices.Contains(op.success, a.status)
	limit := c.core.config.MaxResponseBytes
	if !success {
		limit = min(limit, maxErrorBody)
	}
	body, err := c.buffer.Read(ctx, response, limit)
	a.took, response.Body = time.Since(a.started), http.NoBody
	if err != nil && !errors.Is(err, exchange.ErrTooLarge) {
		a.exchange.Abort()
	}
	switch {
	case err == nil:
	case errors.Is(err, exchange.ErrTooLarge):
		a.oversize = success // of another status, the body's start is enough
	case success || a.status < 300: // an error response whose body ends early is still that error
		a.err = brokenBody(err)
		return
	}
	a.complete = true
	if a.body = body; a.status >= 300 || op.kind != responseData && op.kind != responseRaw {
		a.body = bytes.TrimPrefix(body, []byte("\uFEFF")) // before JSON, some proxies and frameworks write a byte order mark
	}
	if a.status >= 300 {
		a.err = c.apiError(a)
	} else if within := a.errorWithin(op.kind); success && within != nil {
		a.err = a.undecodable(within)
	} else if !success || op.kind == responseNone && !(a.fromService() && a.empty()) {
		a.err = a.undecodable(errUnexpectedResponse)
	}
	if err == nil && op.class != classToken && c.core.provesLife(a) {
		c.core.alive.Responded(a.started, a.started.Add(a.took))
	}
}

// apiError returns the error of an error status. The body may have any form.
func (c *call) apiError(a *attempt) *APIError {
	failure := &APIError{
		StatusCode:   a.status,
		RetryAfter:   a.retryAfter,
		Header:       a.received.Header,
		Body:         bytes.Clone(a.body),
		inputStatus:  c.request.op.inputStatus,
		reportFailed: c.request.op.failedOn500 && a.status == http.StatusInternalServerError,
	}
	failure.Code, failure.Description, _ = a.errorShape()
	if c.core.config.ShowDescriptions {
		failure.shown = redact.Line(failure.Description)
	}
	return failure
}

// sentRecord counts the requests that may have been sent, with the times of the first and last.
type sentRecord struct {
	count       int
	first, last time.Time
	latest      time.Time // the start of the last one, from which on it can have been sent
	admitted    time.Time // NotBefore of the movement that the last request repeats
}

// add counts an attempt that may have been sent. If the attempt outlasted its limit, because the RoundTripper ignores the context or the
// process was suspended, the request may have been sent as late as the attempt's end: s.last is then this end minus limit.
func (s *sentRecord) add(a *attempt, limit time.Duration) {
	if s.count++; s.count == 1 {
		s.first = a.started
	}
	s.latest, s.last = a.started, a.started.Add(max(0, a.took-limit))
}

// evidence returns the input for operation.judge. refused is why the decoder did not accept a success, or nil.
func (a *attempt) evidence(kind responseKind, refused error) evidence {
	e := evidence{
		status: a.status, complete: a.complete, notSent: a.err != nil && !a.sent, connectFailed: a.connectFailed,
		declared: a.declared(kind), refused: refused,
	}
	if api, ok := a.err.(*APIError); ok { //nolint:errorlint // its own
		e.code, e.serviceForm = api.Code, a.serviceForm(api.Code)
	}
	if refused != nil {
		e.fromService = a.fromService()
	}
	return e
}

// serviceForm reports whether the error has the form of section 7: a JSON object with a non-empty string `error`, sent as the service's
// media type or as application/json, to which proxies change it. Any other 4xx may come from a gateway, before or after the service
// accepted the request. So may an error that has the status text instead of a code, as many frameworks write it. If the media type is
// not the service's own, so may any other text, and the status text in the form of a code, except for one that the reference lists.
func (a *attempt) serviceForm(code ErrorCode) bool {
	text, words := string(code), http.StatusText(a.status)
	return a.declared(responseJSON) && text != "" && text != words && (a.mediaType == (*a.own)[0] ||
		isCodeWord(text) && (code == CodeUnauthorized || !strings.EqualFold(strings.ReplaceAll(text, "_", " "), words)))
}
