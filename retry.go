package prepaid

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cardprograms/prepaid/internal/exchange"
)

// retries makes the attempts of one call until another one could apply the call twice, would find no time or is one too
// many. do sets where it begins; after that only the methods of retries change its own fields.
type retries struct {
	attempts
	effect effect

	how       manner        // of the next attempt
	wait      time.Duration // before it
	tried     int           // attempts that count against MaxAttempts
	throttled time.Time     // of the first 429
	renewed   bool          // another token was asked for
	resent    bool          // after a kept connection broke
}

// effect is what is known of what the call did.
type effect struct {
	outcome   Outcome   // of the last attempt
	unknown   error     // cause of the first attempt that may have been applied
	notBefore time.Time // when a movement of unknown outcome may be repeated; that of an earlier call at first
}

// loop makes the attempts. Nearly every call ends with its first, which needs no loop around it.
func (c *retries) loop(ctx context.Context) {
	if c.attempt(ctx, &c.how); c.decide(ctx) {
		c.repeat(ctx)
	}
}

// repeat drives the further attempts with go-retryablehttp, which is shown the first one as the failure that it was.
// One small client per call: its hooks see this call's deadline, outcome and last response, and its shared habits
// (logging URLs, closing the pool's idle connections, following redirects) have nothing to act on.
func (c *retries) repeat(ctx context.Context) {
	bare := (&http.Request{Method: c.op.Method, URL: c.url, Host: c.url.Host, Header: http.Header{}}).WithContext(ctx)
	req, err := retryablehttp.FromRequest(bare)
	if err != nil { // cannot happen: FromRequest fails on unreadable bodies only
		return
	}
	further := &furtherAttempts{retries: c}
	retry := retryablehttp.Client{
		HTTPClient: &http.Client{Transport: further, CheckRedirect: noRedirect},
		RetryMax:   1 << 20, // bounded by decide
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (bool, error) {
			if !further.begun {
				further.begun = true
				return true, nil
			}
			return c.decide(ctx), nil
		},
		Backoff:      func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return c.wait },
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	_, _ = retry.Do(req) //nolint:bodyclose // the response is a bare acknowledgement; c.last holds the real one
}

// furtherAttempts is the RoundTripper of a call's own retry loop, so that each decision sees what the last attempt met.
type furtherAttempts struct {
	*retries
	begun bool // the loop has been shown the first attempt
}

// RoundTrip makes one attempt for go-retryablehttp. The loop decides by c.last; the response it gets carries nothing,
// so that net/http has nothing to redirect.
func (c *furtherAttempts) RoundTrip(req *http.Request) (*http.Response, error) {
	if c.begun {
		c.attempt(req.Context(), &c.how)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// decide reads the last attempt, keeps what is known of the effect, and reports whether another one follows.
func (c *retries) decide(ctx context.Context) bool {
	again := c.next(ctx)
	c.observe(ctx, again)
	return again
}

func (c *retries) next(ctx context.Context) bool {
	a := c.last
	c.tried++
	if c.gaveUp {
		return false
	}
	if a.succeeded(&c.op) {
		c.effect.outcome = OutcomeApplied
		if c.how.suspect != nil {
			c.core.manager.Adopt(c.token, c.how.suspect)
		}
		return false
	}
	v := c.op.judge(a.evidence(c.op.kind))
	c.effect.outcome = v.outcome
	if v.outcome == OutcomeUnknown {
		if c.effect.unknown == nil {
			c.effect.unknown = a.cause()
		}
		if c.op.class == classKeyed {
			c.effect.notBefore = c.core.repeats.notBefore(c.sent.last)
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
			c.how.suspect = c.token
		} else {
			c.how.rejected = c.token
		}
		c.tried-- // a lapsed token is no failed attempt, and one renewal bounds it
		c.wait = 0
	case errors.Is(a.err, exchange.ErrRepeated) && !c.resent:
		// The repeat that net/http would have made: at once, but with a slot, and not on another kept connection.
		c.resent, c.how.fresh = true, !a.exchange.HTTP2()
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
	if !c.effect.notBefore.IsZero() { // the first must have time to finish
		c.wait = max(c.wait, c.effect.notBefore.Sub(now))
	}
	if c.tried >= policy.MaxAttempts || a.retryAfter > policy.MaxRetryAfter {
		return false
	}
	if deadline, ok := ctx.Deadline(); ok && !now.Add(c.wait).Before(deadline) {
		return false // sleeping into the deadline would only lose the response that is there
	}
	return true
}

// observe reports the last attempt, unless none was made since the last report.
func (c *retries) observe(ctx context.Context, again bool) {
	a := c.last
	if c.gaveUp || a.started.IsZero() || !c.observer.wantsAttempts(ctx, again) {
		return
	}
	seen := Attempt{Number: a.number, StatusCode: a.status, WillRetry: again, Duration: time.Since(a.started)}
	if !a.succeeded(&c.op) {
		seen.Err = a.cause()
	}
	if again {
		seen.WillWait = c.wait
	}
	c.observer.attemptDone(ctx, c.op.Operation, seen, a.report)
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

// repeatRule is the one place that says when a request may be sent again under its request id, and which refusal of the
// repeat settles the unknown outcome of the first. A client's rule is that of its [Config]; an error that no client made
// is judged by the default one.
type repeatRule struct {
	wait  time.Duration
	codes []ErrorCode // that settle, in addition to CodeInvalidRequest
}

func (c Config) repeatRule() *repeatRule {
	whole := c.withDefaults()
	wait := whole.AttemptTimeout + whole.Retry.InFlightWait
	if wait < 0 { // out of range: both are at least zero
		wait = math.MaxInt64
	}
	return &repeatRule{wait: wait, codes: slices.Clone(whole.RefusalCodes)}
}

// errEarlierCall is the cause of an unknown outcome that a call takes over from one before it.
var errEarlierCall = errors.New("a call before this one, whose outcome is unknown")

// notBefore is zero when nothing was sent.
func (r *repeatRule) notBefore(lastSent time.Time) time.Time {
	if lastSent.IsZero() {
		return time.Time{}
	}
	return lastSent.Add(r.wait)
}

// settles reports whether a refusal of a request that was sent then proves that what was sent before it, and could still
// be under way until notBefore, moved no money. A zero notBefore means that this is not known.
func (r *repeatRule) settles(outcome Outcome, refusal error, sent, notBefore time.Time) bool {
	if outcome != OutcomeRejected || notBefore.IsZero() || sent.Before(notBefore) {
		return false
	}
	if errors.Is(refusal, ErrTransferFailed) {
		return true
	}
	response, ok := errors.AsType[*APIError](refusal)
	return ok && response.StatusCode == http.StatusBadRequest &&
		(response.Code == CodeInvalidRequest || slices.Contains(r.codes, response.Code)) &&
		// Gateways send an invalid_request of their own as application/json.
		strings.HasPrefix(mediaTypeOf(response.Header.Get("Content-Type")), "application/vnd.")
}

// settledBy is settles for a refusal that was returned to a caller.
func (r *repeatRule) settledBy(refusal *CallError, lastSent time.Time) bool {
	return r.settles(refusal.Outcome, refusal.Err, refusal.LastSent, r.notBefore(lastSent))
}

// SettlesDoubt reports whether err, the result of sending a transfer or direct entry out again under its request id,
// proves that no earlier sending moved the money. lastSent is the time of the last sending before it,
// [CallError].LastSent. The service returns the cached response for a request id that it has carried out (section 8), so
// its own refusal of the same params proves that it has not, under two conditions. The refused request, err's own LastSent,
// was sent no earlier than [AccountsService.NotBefore] of lastSent. And the refusal is a failed transfer
// ([ErrTransferFailed]), or a 400 in the service's own form with the code invalid_request or one of [Config].RefusalCodes,
// as application/vnd.<vendor>+json. Anything else proves nothing: another status or another code, such as one that refuses
// the repeat because the first is still under way, a refusal that a gateway may have sent, a request that was not
// processed, a fault found before sending.
//
// A zero lastSent means that the time is not known: nothing settles. The params must be those of the earlier sending. An
// error of a [Client] is judged by the client's own Config, any other by the defaults. The client applies this rule to
// the calls that it has made itself; what was sent by another process is for its caller to judge.
func SettlesDoubt(err error, lastSent time.Time) bool {
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
