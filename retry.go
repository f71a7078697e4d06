package prepaid

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/pause"
)

// effect is the known effect of the call.
type effect struct {
	outcome Outcome // of the last attempt
	unknown error   // cause of the first attempt that may have been applied
}

// progress bounds the attempts of a call.
type progress struct {
	tried     int       // attempts that count against MaxAttempts
	throttled time.Time // when the first 429 arrived
	renewed   bool      // another token was requested
	gaveUp    bool      // no attempt was made, because there is no other token
}

// repeat makes the further attempts with go-retryablehttp. Few calls need any. Each of these calls has its own retryable client, whose
// hooks see the call's deadline, outcome and last response, and which has none of the library's defaults (logging URLs, closing idle
// connections, following redirects).
func (c *call) repeat(ctx context.Context) {
	address := c.url // a copy: the call is reused
	bare := (&http.Request{Method: c.request.op.Method, URL: &address, Host: address.Host, Header: http.Header{}}).WithContext(ctx)
	req, err := retryablehttp.FromRequest(bare)
	if err != nil { // cannot happen: FromRequest fails on unreadable bodies only
		return
	}
	retry := retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: furtherAttempts{c}, CheckRedirect: noRedirect},
		RetryMax:     1 << 20, // bounded by decide
		CheckRetry:   func(ctx context.Context, _ *http.Response, _ error) (bool, error) { return c.decide(ctx), nil },
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return c.sleep() },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	_, _ = retry.Do(req) //nolint:bodyclose // it has none; c.last has what was read
}

// furtherAttempts is the RoundTripper of a call's retry loop.
type furtherAttempts struct{ *call }

// RoundTrip makes one attempt and returns its status or error. The loop decides by c.last.
func (c furtherAttempts) RoundTrip(req *http.Request) (*http.Response, error) {
	if c.try(req.Context()); c.last.err != nil {
		return nil, c.last.err
	}
	return &http.Response{StatusCode: c.last.status, Body: http.NoBody, Request: req}, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// decide evaluates the last attempt, updates the effect, and reports whether another attempt follows: not if it might apply the call twice,
// would not start before the deadline or would exceed MaxAttempts.
func (c *call) decide(ctx context.Context) (again bool) {
	if !c.last.succeeded(&c.request.op) {
		again = c.again(ctx)
	} else if c.effect.outcome = OutcomeApplied; c.next.suspect != nil {
		c.core.manager.Adopt(c.token, c.next.suspect)
	}
	if again || c.observer.traces != nil {
		c.observeAttempt(ctx, again)
	}
	return again
}

// again evaluates an attempt without success.
func (c *call) again(ctx context.Context) bool {
	a := c.last
	c.progress.tried++
	if c.progress.gaveUp {
		return false
	}
	v := c.request.op.judge(a.evidence(c.request.op.kind))
	c.effect.outcome = v.outcome
	v.spare = v.spare && (c.core.manager != nil || a.status != http.StatusUnauthorized) // after a 401, the caller's source is asked for another token
	if v.renew && !v.spare && c.core.manager != nil {
		c.core.manager.Refuse(c.token)
	}
	if v.outcome == OutcomeUnknown {
		if c.effect.unknown == nil {
			c.effect.unknown = a.cause()
		}
		if c.request.op.class == classKeyed {
			c.next.unknown = c.core.repeats.after(c.sent.latest, c.sent.last)
		}
	}
	if c.core.ended(ctx) != nil || !(v.again || v.renew && !c.progress.renewed) {
		return false
	}
	policy := &c.core.config.Retry
	now := time.Now()
	closed := false
	if a.err != nil && a.sent {
		timeout, ok := errors.AsType[interface {
			error
			Timeout() bool
		}](a.err)
		closed = !c.next.fresh && a.exchange.Shared() && !(ok && timeout.Timeout())
		c.next.fresh = true // other kept connections may be dead or closing too
	}
	switch {
	case v.renew:
		if c.progress.renewed = true; v.spare {
			c.next.suspect = c.token
		} else {
			c.next.rejected = c.token
		}
		c.progress.tried-- // an expired token is not a failed attempt; there is at most one renewal
		c.next.wait = 0
	case closed && c.request.op.class == classRead: // at most once: the next connection is new
		c.progress.tried--
		c.next.wait = 0
	case a.status == http.StatusTooManyRequests:
		if c.progress.throttled.IsZero() {
			c.progress.throttled = now
		}
		c.progress.tried-- // a 429 costs time, not an attempt
		c.next.wait = policy.throttleWait(a.retryAfter)
		if now.Add(c.next.wait).Sub(c.progress.throttled) > policy.MaxThrottleWait {
			return false
		}
	default:
		c.next.wait = policy.backoff(c.progress.tried, a.retryAfter)
	}
	if !c.next.unknown.IsZero() { // the earlier request must have time to finish
		c.next.wait = max(c.next.wait, c.next.unknown.NotBefore.Sub(now))
		c.next.earliest = now.Add(c.next.wait)
	}
	if c.progress.tried >= policy.MaxAttempts || c.request.once && c.progress.tried > 0 || a.retryAfter > policy.MaxRetryAfter {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && !now.Add(c.next.wait).Before(deadline) {
		return false // waiting for the deadline would only hide the error of this attempt
	}
	return true
}

// sleep returns the pause before the next attempt; 0 if that attempt itself waits for an earlier one that may be in progress.
func (c *call) sleep() time.Duration {
	if c.next.unknown.IsZero() {
		return c.next.wait
	}
	return 0
}

// observeAttempt reports the last attempt to traces and log, unless none was made since the last report.
func (c *call) observeAttempt(ctx context.Context, again bool) {
	a := c.last
	if c.progress.gaveUp || a.started.IsZero() {
		return
	}
	seen := Attempt{Number: a.number, StatusCode: a.status, WillRetry: again, Duration: time.Since(a.started)}
	if !a.succeeded(&c.request.op) {
		seen.Err = a.cause()
	}
	if again {
		seen.WillWait = c.next.wait
	}
	c.observer.attemptDone(ctx, seen, a.report)
}

// backoff returns the pause after a number of attempts. The pause doubles from MinWait up to MaxWait, half of it is jitter, and it is at
// least retryAfter.
func (p *RetryPolicy) backoff(tried int, retryAfter time.Duration) time.Duration {
	ceiling := p.MinWait << min(tried-1, 20)
	if ceiling > p.MaxWait || ceiling <= 0 {
		ceiling = p.MaxWait
	}
	return max(ceiling/2+rand.N(ceiling/2+1), retryAfter)
}

// throttleWait returns the wait that a 429 requests or, if unspecified, 2.5 to 10 s: the service refuses for up to 10 s.
func (p *RetryPolicy) throttleWait(retryAfter time.Duration) time.Duration {
	if retryAfter > 0 {
		return retryAfter
	}
	low, high := min(minThrottlePause, p.MaxWait), min(maxThrottlePause, p.MaxWait)
	return low + rand.N(high-low+1)
}

const (
	minThrottlePause = 2500 * time.Millisecond
	maxThrottlePause = 10 * time.Second
)

// repeatRule decides when a request may be sent again with its request ID, and which refusal of the repeat resolves the unknown outcome of
// the first request. A client's rule follows its [Config]; for an error that no client returned, the default Config applies.
type repeatRule struct {
	wait    time.Duration // after a request of this client
	longest *atomic.Int64 // wait after a request of any client that shares its request IDs; if nil, wait applies
	codes   []ErrorCode   // of refusals that resolve, in addition to CodeInvalidRequest
	own     string        // media type of the service's responses; empty if the vendor is unknown
	alive   *liveness.Tracker
}

// share makes r a rule of a family of clients.
func (r *repeatRule) share(longest *atomic.Int64) {
	r.longest = longest
	for now := longest.Load(); now < int64(r.wait) && !longest.CompareAndSwap(now, int64(r.wait)); {
		now = longest.Load()
	}
}

func (c Config) repeatRule() *repeatRule {
	whole := c.withDefaults()
	wait := whole.AttemptTimeout + whole.Retry.InFlightWait
	if wait < 0 { // overflow: neither is negative
		wait = math.MaxInt64
	}
	r := &repeatRule{wait: wait, codes: whole.RefusalCodes}
	if c.Vendor != "" {
		r.own = strings.ToLower(vendorType(c.Vendor))
	}
	return r
}

func vendorType(vendor string) string { return "application/vnd." + vendor + "+json" }

// errEarlierCall is the cause of an unknown outcome that a call inherits from an earlier one.
var errEarlierCall = errors.New("an earlier call with unknown outcome")

// after returns the request of unknown outcome that this client sent between first and last; zero if last is zero.
func (r *repeatRule) after(first, last time.Time) liveness.Request {
	if last.IsZero() {
		return liveness.Request{}
	}
	return liveness.Request{First: first, Last: last, NotBefore: last.Add(r.wait)}
}

// afterAny is after for a request that any client of the family may have sent.
func (r *repeatRule) afterAny(first, last time.Time) liveness.Request {
	if r.longest == nil {
		return r.after(first, last)
	}
	return (&repeatRule{wait: time.Duration(r.longest.Load())}).after(first, last)
}

// provesNotApplied reports whether the refusal of a request proves that an earlier request, which may have been in progress until
// notBefore, moved no money. sent is when the refused request was sent. A zero notBefore means unknown.
func (r *repeatRule) provesNotApplied(outcome Outcome, refusal error, sent, notBefore time.Time) bool {
	if outcome != OutcomeRejected || notBefore.IsZero() || sent.Before(notBefore) {
		return false
	}
	if errors.Is(refusal, ErrTransferFailed) {
		return true
	}
	response, ok := errors.AsType[*APIError](refusal)
	return ok && response.StatusCode == http.StatusBadRequest &&
		(response.Code == CodeInvalidRequest || slices.Contains(r.codes, response.Code)) &&
		r.isOwn(exchange.MediaType(response.Header))
}

// isOwn reports whether only the service sends a media type. Gateways send their own errors as application/json or
// application/vnd.error+json.
func (r *repeatRule) isOwn(mediaType string) bool {
	if r.own == "" {
		return strings.HasPrefix(mediaType, "application/vnd.")
	}
	return mediaType == r.own
}

// provesLife reports whether a response shows that the network and the service work. A response with an Age comes from a cache.
func (c *core) provesLife(a *attempt) bool {
	return a.status >= http.StatusOK && a.status < http.StatusInternalServerError && a.status != http.StatusTooManyRequests &&
		c.repeats.isOwn(a.mediaType) && len(a.header["Age"]) == 0
}

// awaitRepeat waits until a movement of source may be repeated after a request of unknown outcome. See [AccountsService.AwaitRepeat].
func (c *core) awaitRepeat(ctx context.Context, source AccountID, unknown liveness.Request) error {
	return pause.Aside(ctx, func(ctx context.Context) error {
		return c.alive.Await(ctx, unknown, 2*min(c.repeats.wait, math.MaxInt64/2), c.reader(source))
	})
}

// watch is called while an attempt to move money from source has no response for a third of its time. It makes sure that a
// repeat need not wait for the first of its two responses.
func (c *core) watch(ctx context.Context, source string, since time.Time) {
	defer func() { _ = recover() }() // of the caller's limiter or token source: the attempt goes on
	c.alive.Sign(untraced{ctx}, since, c.config.AttemptTimeout, c.reader(AccountID(source)))
}

// untraced hides the caller's [httptrace.ClientTrace], which expects one request at a time.
type untraced struct{ context.Context } //nolint:containedctx // it is a context

func (c untraced) Value(key any) any {
	value := c.Context.Value(key)
	if _, ok := value.(*httptrace.ClientTrace); ok {
		return nil
	}
	return value
}

// reader reads the summary of an account; no cache on the way may respond. Each read has a connection of its own: a kept one may
// be dead.
func (c *core) reader(source AccountID) liveness.Reader {
	return liveness.Reader{Subject: string(source), Read: func(ctx context.Context) (final bool, err error) {
		r := request{op: c.summary, account: source, path: pathValues{string(source)}, header: noCache, once: true, fresh: true}
		if err = c.do(ctx, &r, func(*response) error { return nil }); errors.Is(err, ErrClosed) {
			return true, ErrClosed
		}
		if call, ok := errors.AsType[*CallError](err); ok {
			err = call.Err
		}
		if response, ok := errors.AsType[*APIError](err); ok && c.repeats.isOwn(exchange.MediaType(response.Header)) {
			err = &liveness.RefusedError{Err: err}
		}
		return false, err
	}}
}

var noCache = http.Header{"Cache-Control": {"no-cache"}}

// settledBy is provesNotApplied for an error that was returned to a caller, after a request that another client may have sent.
func (r *repeatRule) settledBy(refusal *CallError, lastSent time.Time) bool {
	earlier := r.afterAny(lastSent, lastSent)
	if refusal.rule != nil && refusal.admitted.Before(earlier.NotBefore) && !r.alive.Admitted(earlier, refusal.LastSent) {
		return false // the first may still have been in flight
	}
	return r.provesNotApplied(refusal.Outcome, refusal.Err, refusal.LastSent, earlier.NotBefore)
}

// ProvesNotApplied reports whether err, the result of sending a payment again with the same request ID and params, proves that no earlier
// request moved the money. lastSent is [CallError].LastSent of the earlier call; if it is zero, the result is false. The conditions:
//
//   - The refused request (LastSent of err) was sent no earlier than NotBefore of lastSent, and after the wait of
//     [AccountsService.AwaitRepeat].
//   - The refusal is a failed transfer ([ErrTransferFailed]), or a 400 of type application/vnd.<vendor>+json in the service's own form,
//     with the code invalid_request or one of [Config].RefusalCodes.
//
// For an error of a [Client], its Config applies, with the longest wait of its derived clients. For other errors, the defaults and
// NotBefore alone apply. A client applies this to its own calls and, if the params have LastSent, to those of other processes.
func ProvesNotApplied(err error, lastSent time.Time) bool {
	call, ok := errors.AsType[*CallError](err)
	if !ok || call == nil {
		return false
	}
	rule := call.rule
	if rule == nil {
		rule = Config{}.repeatRule()
	}
	return rule.settledBy(call, lastSent)
}
