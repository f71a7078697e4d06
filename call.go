package prepaid

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/oauth2"
)

// pathValues are those of a path template's parameters, in order. None is empty.
type pathValues [2]string

// request is what a service method describes: everything that is sent, and what the error should name.
type request struct {
	op    operation
	path  pathValues
	query query
	body  any // encoded once; nil for none
	form  string
	basic string // Authorization of the token request
	// encoded is body on the wire, when it is known before the call; notBefore is when a movement of unknown outcome
	// under the same request id may be repeated, that of an earlier call at first.
	encoded   []byte
	notBefore time.Time
	moved     bool // by an earlier call with this request id and the same params

	faults    []Fault // found while describing; nothing is sent when there are any
	account   AccountID
	requestID RequestID
	bulk      bool // waits behind everything else in the limiter
	// correlationID is the caller's own, for funding.
	correlationID string
}

// call is one operation under way. It is the RoundTripper of its own retry loop, so that each decision sees what the
// last attempt really met.
type call struct {
	request
	core   *core
	lane   Lane
	buffer *bytes.Buffer
	// limited is between the buffer and an answer.
	limited io.LimitedReader
	space   [2]attempt // for the last attempt and the one before
	url     *url.URL
	sends   []byte // the body of every attempt; nil for none
	began   time.Time

	attempts  int // that may have left
	firstSent time.Time
	lastSent  time.Time
	last      *attempt
	made      int           // attempts begun, sent or not
	tried     int           // of them, those that count against MaxAttempts
	wait      time.Duration // before the next attempt
	throttled time.Time     // of the first 429
	unknown   error         // cause of the first attempt that may have been applied
	outcome   Outcome       // of the last attempt
	token     *oauth2.Token
	rejected  *oauth2.Token // answered with 401
	suspect   *oauth2.Token // to which a 400 may have been due; another one is tried
	renewed   bool
	resent    bool // after a kept connection broke
	fresh     bool // further attempts open their own connection
	gaveUp    bool
	shown     bool // go-retryablehttp has been shown the first attempt
	traces    []*Trace
}

// buffers holds answers while they are decoded. A body never outlives its call.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxPooledBuffer = 1 << 20

// calls are used again once they are over. What may outlive a call (hooks of the transport, a streamed body) holds on
// to the attempt's connectionWatch, never to the attempt or the call.
var calls = sync.Pool{New: func() any { return new(call) }}

// do takes a request through the whole of DESIGN.md's "One request, in order": validate, encode once, attempt
// loop, decode. Every error it returns is a *CallError.
func (c *core) do(ctx context.Context, r *request, decode func(*attempt) error) error {
	k := calls.Get().(*call)
	k.request, k.core, k.lane, k.began, k.outcome = *r, c, r.op.lane, time.Now(), OutcomeNotProcessed // the rest is zero
	if r.bulk {
		k.lane = LaneBulk
	}
	k.traces = c.tracesOf(ctx)
	ctx = k.observeCall(ctx)
	err := k.run(ctx, decode)
	if c.closed.Load() { // meanwhile: a transport that was used since keeps connections again
		c.closeIdle()
	}
	k.observeDone(ctx, err)
	*k = call{}
	calls.Put(k)
	return err
}

func (c *call) run(ctx context.Context, decode func(*attempt) error) error {
	if len(c.faults) > 0 {
		return c.fail(OutcomeRejected, &ValidationError{Faults: c.faults})
	}
	if c.core.closed.Load() {
		return c.fail(OutcomeNotProcessed, ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return c.fail(OutcomeNotProcessed, err)
	}
	var err error
	if c.sends, err = c.encodeBody(); err != nil {
		return c.fail(OutcomeRejected, err)
	}
	c.url = c.core.resolve(&c.request)
	c.buffer = buffers.Get().(*bytes.Buffer)
	defer func() {
		if c.buffer.Cap() <= maxPooledBuffer {
			buffers.Put(c.buffer)
		}
	}()
	c.loop(ctx)
	return c.conclude(ctx, decode)
}

func (c *call) encodeBody() ([]byte, error) {
	switch {
	case c.form != "":
		return []byte(c.form), nil
	case c.encoded != nil:
		return c.encoded, nil
	case c.body != nil:
		return encode(c.body)
	}
	return nil, nil
}

// loop makes the attempts. Nearly every call ends with its first, which needs no loop around it.
func (c *call) loop(ctx context.Context) {
	if c.makeAttempt(ctx); c.decide(ctx) {
		c.repeat(ctx)
	}
}

// repeat drives the further attempts with go-retryablehttp, which is shown the first one as the failure that it was.
// One small client per call: its hooks see this call's deadline, outcome and last answer, and its shared habits
// (logging URLs, closing the pool's idle connections, following redirects) have nothing to act on.
func (c *call) repeat(ctx context.Context) {
	bare := (&http.Request{Method: c.op.Method, URL: c.url, Host: c.url.Host, Header: http.Header{}}).WithContext(ctx)
	req, err := retryablehttp.FromRequest(bare)
	if err != nil { // cannot happen: FromRequest fails on unreadable bodies only
		c.last = &attempt{err: &TransportError{Step: "prepare", Err: err}}
		return
	}
	c.shown = false
	retry := retryablehttp.Client{
		HTTPClient: &http.Client{Transport: c, CheckRedirect: noRedirect},
		RetryMax:   1 << 20, // bounded by decide
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (bool, error) {
			if !c.shown {
				c.shown = true
				return true, nil
			}
			return c.decide(ctx), nil
		},
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return c.wait },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	_, _ = retry.Do(req) //nolint:bodyclose // the response is a bare acknowledgement; c.last holds the answer
}

// RoundTrip makes one attempt for go-retryablehttp. The loop decides by c.last; the response it gets carries nothing,
// so that net/http has nothing to redirect.
func (c *call) RoundTrip(req *http.Request) (*http.Response, error) {
	if c.shown {
		c.makeAttempt(req.Context())
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// decide reads the last attempt, keeps what is known of the effect, and says whether to go on.
func (c *call) decide(ctx context.Context) bool {
	again := c.next(ctx)
	c.observeAttempt(ctx, again)
	return again
}

func (c *call) next(ctx context.Context) bool {
	a := c.last
	c.tried++
	if c.gaveUp {
		return false
	}
	if a.succeeded(&c.op) {
		c.outcome = OutcomeApplied
		if c.suspect != nil {
			c.core.manager.Adopt(c.token, c.suspect)
		}
		return false
	}
	v := c.op.judge(a)
	c.outcome = v.outcome
	if v.outcome == OutcomeUnknown {
		if c.unknown == nil {
			c.unknown = a.cause()
		}
		if c.op.class == classKeyed {
			c.notBefore = c.core.repeats.notBefore(c.lastSent)
		}
	}
	if ctx.Err() != nil || c.core.closed.Load() || !(v.again || v.renew && !c.renewed) {
		return false
	}
	policy := &c.core.config.Retry
	now := time.Now()
	switch {
	case v.renew:
		if c.renewed = true; v.spare {
			c.suspect = c.token
		} else {
			c.rejected = c.token
		}
		c.tried-- // a lapsed token is no failed attempt, and one renewal bounds it
		c.wait = 0
	case errors.Is(a.err, errRepeated) && !c.resent:
		// The repeat that net/http would have made: at once, but with a slot, and not on another kept connection.
		c.resent, c.fresh = true, !a.watch.http2.Load()
		if c.op.class == classRead {
			c.tried--
		}
		c.wait = 0
	case a.status == http.StatusTooManyRequests:
		if c.throttled.IsZero() {
			c.throttled = now
		}
		c.tried-- // a 429 costs time, not one of the attempts
		c.wait = policy.throttleWait(a.retryAfter)
		if now.Add(c.wait).Sub(c.throttled) > policy.MaxThrottleWait {
			return false
		}
	default:
		c.wait = policy.backoff(c.tried, a.retryAfter)
	}
	if !c.notBefore.IsZero() { // the first must have time to finish
		c.wait = max(c.wait, c.notBefore.Sub(now))
	}
	if c.tried >= policy.MaxAttempts || a.retryAfter > policy.MaxRetryAfter {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && !now.Add(c.wait).Before(deadline) {
		return false // sleeping into the deadline would only lose the answer that is there
	}
	return true
}

// backoff doubles from MinWait to MaxWait, half of it jitter; a Retry-After is the least.
func (p *RetryPolicy) backoff(tried int, asked time.Duration) time.Duration {
	ceiling := p.MinWait << min(tried-1, 20)
	if ceiling > p.MaxWait || ceiling <= 0 {
		ceiling = p.MaxWait
	}
	return max(ceiling/2+rand.N(ceiling/2+1), asked)
}

// throttleWait is what a 429 asks for or, when it asks for nothing, 2.5 to 10 s: the service refuses for up to 10.
func (p *RetryPolicy) throttleWait(asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	low, high := min(minThrottlePause, p.MaxWait), min(maxThrottlePause, p.MaxWait)
	return low + rand.N(high-low+1)
}

const (
	minThrottlePause = 2500 * time.Millisecond
	maxThrottlePause = 10 * time.Second
)

// conclude turns the end of the loop into a result or an error.
func (c *call) conclude(ctx context.Context, decode func(*attempt) error) error {
	a := c.last
	if a.succeeded(&c.op) {
		err := error(nil)
		if a.oversize {
			err = a.undecodable(errBodyTooLarge)
		} else {
			err = decode(a)
		}
		c.core.capture(ctx, c)
		if err == nil {
			return nil
		}
		return c.fail(c.outcomeOfAnswer(a, err), err)
	}
	c.core.capture(ctx, c)
	err := a.cause()
	if before := c.before(); !a.sent && before != nil && c.unknown == nil {
		err = &bothCauses{last: err, earlier: before.cause()} // the last answer stays readable
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = &bothCauses{last: ended, earlier: err}
	}
	return c.fail(c.outcome, err)
}

// before is the attempt before the last one, when it reached the service.
func (c *call) before() *attempt {
	if c.made < 2 {
		return nil
	}
	if a := &c.space[(c.made-2)%len(c.space)]; a != c.last && a.sent {
		return a
	}
	return nil
}

// outcomeOfAnswer is what a success status means whose body was refused by the decoder.
func (c *call) outcomeOfAnswer(a *attempt, err error) Outcome {
	switch {
	case errors.Is(err, ErrTransferFailed):
		return OutcomeRejected
	case errors.Is(err, ErrReportNotReady):
		return OutcomeNotProcessed
	case c.op.class == classRead && !a.fromService():
		return OutcomeNotProcessed
	case c.op.class == classKeyed, c.op.class == classNever && (c.op.modelsFailure || !a.declared(c.op.kind)):
		return OutcomeUnknown
	}
	return OutcomeApplied
}

// fail makes the CallError. Once an attempt of this call, or of an earlier one with its request id, may have been applied,
// the outcome stays unknown until a success or a refusal that settles it.
func (c *call) fail(outcome Outcome, err error) error {
	if c.moved {
		outcome = OutcomeApplied
	}
	earlier := c.unknown
	if earlier == nil && !c.notBefore.IsZero() {
		earlier = errEarlierCall
	}
	if earlier != nil && outcome != OutcomeApplied && !c.core.repeats.settles(outcome, err, c.lastSent, c.notBefore) {
		outcome = OutcomeUnknown
		if !errors.Is(err, earlier) {
			err = &bothCauses{last: err, earlier: earlier, unknown: true}
		}
	}
	failure := &CallError{
		Operation:     c.op.Name,
		Outcome:       outcome,
		AccountID:     c.account,
		RequestID:     c.requestID,
		CorrelationID: c.correlationID,
		Attempts:      c.attempts,
		FirstSent:     c.firstSent,
		LastSent:      c.lastSent,
		Err:           err,
		repeats:       c.core.repeats,
	}
	if outcome == OutcomeUnknown && c.op.class == classKeyed {
		failure.NotBefore = c.notBefore
		if last := c.core.repeats.notBefore(c.lastSent); last.After(failure.NotBefore) {
			failure.NotBefore = last
		}
	}
	if failed, ok := errors.AsType[*TransferFailedError](err); ok {
		failure.CorrelationID = failed.CorrelationID
	}
	return failure
}

// countSent counts an attempt that may have left. One that outlasted AttemptTimeout, since its RoundTripper disregards the
// context or the process stood still, may have left as late as its end.
func (c *call) countSent(at time.Time) {
	if c.attempts++; c.attempts == 1 {
		c.firstSent = at
	}
	c.lastSent = at
	if due := time.Now().Add(-c.core.config.AttemptTimeout); due.After(at) {
		c.lastSent = due
	}
}

// header returns the header of one attempt. The value slices are shared between requests: a RoundTripper may not
// change them.
func (c *call) header() http.Header {
	h := make(http.Header, 4)
	h["User-Agent"] = c.core.userAgent
	h["Accept"] = c.core.accept
	if c.op.kind == answerText || c.op.kind == answerData {
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

// bearerHeader is the Authorization header of a token.
type bearerHeader struct {
	token string
	value []string
}

// bearer makes the header of a token once for all calls that send it.
func (c *core) bearer(token string) []string {
	header := c.authorization.Load()
	if header == nil || header.token != token {
		header = &bearerHeader{token: token, value: []string{"Bearer " + token}}
		c.authorization.Store(header)
	}
	return header.value
}
