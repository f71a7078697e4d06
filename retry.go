package prepaid

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cardprograms/prepaid/internal/exchange"
)

// retries makes the attempts of one call until another one could apply the call twice, would find no time or is one too
// many. Only the methods of retries change its own fields.
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
