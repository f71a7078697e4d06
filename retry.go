package prepaid

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/cardprograms/prepaid/internal/pause"
)

// bounds limit the attempts of a call.
type bounds struct {
	tried     int       // attempts that count against MaxAttempts
	throttled time.Time // when the first 429 arrived
	renewed   bool      // another token was requested
}

// attempts makes the attempts of a call, and returns the last one and the one before. Few calls need a second one. It and all others are
// made by go-retryablehttp, with this call's hooks and none of the library's defaults, such as a log of URLs. For the first one the library
// would cost each call five allocations.
func (c *call) attempts(ctx context.Context) (last, previous *attempt) {
	last = c.try(ctx, 1)
	if !c.decide(ctx, last) || pause.For(ctx, c.next.pause()) != nil {
		return last, nil
	}
	l := &loop{call: c, last: last}
	retry := retryablehttp.Client{
		HTTPClient:   &http.Client{Transport: l, CheckRedirect: noRedirect},
		RetryMax:     math.MaxInt, // again has the bounds
		CheckRetry:   l.again,
		Backoff:      l.backoff,
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	// Each attempt makes its own header.
	bare := &http.Request{Method: c.request.op.Method, URL: &c.url, Host: c.url.Host, Header: http.Header{}}
	_, _ = retry.Do(&retryablehttp.Request{Request: bare.WithContext(ctx)}) //nolint:bodyclose // read by the attempt
	return l.last, l.previous
}

// loop makes the attempts after the first one, as the RoundTripper of a retryable client.
type loop struct {
	*call
	last, previous *attempt
}

// RoundTrip makes an attempt. It returns the service's response; its body was read, unless it is a stream.
func (l *loop) RoundTrip(bare *http.Request) (*http.Response, error) {
	a := l.try(bare.Context(), l.last.number+1)
	if errors.Is(a.err, errSameToken) { // no attempt was made: the last one counts
		return nil, errSameToken
	}
	if l.last, l.previous = a, l.last; !a.complete {
		return nil, a.err
	}
	return a.received, nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// again is the library's CheckRetry. The attempt shows more than the response, such as whether anything was sent.
func (l *loop) again(ctx context.Context, _ *http.Response, err error) (bool, error) {
	return !errors.Is(err, errSameToken) && l.decide(ctx, l.last), nil
}

// backoff is the library's Backoff. The wait was decided before: there is no other attempt if the deadline is sooner.
func (l *loop) backoff(time.Duration, time.Duration, int, *http.Response) time.Duration {
	return l.next.pause()
}

// pause returns the wait before the next attempt; 0 if that attempt itself waits for an earlier one that may be in progress.
func (n *nextAttempt) pause() time.Duration {
	if n.unknown.IsZero() {
		return n.wait
	}
	return 0
}

// decide judges an attempt and reports it, and whether another one follows: not if it might apply the call twice, would not start before
// the deadline or would exceed Config.Retry.
func (c *call) decide(ctx context.Context, a *attempt) (again bool) {
	if c.outcome = OutcomeApplied; a.err != nil {
		v := c.request.op.judge(a.evidence(c.request.op.kind, nil))
		// After a 401, the caller's source is asked for another token.
		v.spare = v.spare && (c.core.manager != nil || a.status != http.StatusUnauthorized)
		c.outcome = v.outcome
		c.learn(a, v)
		again = c.core.ended(ctx) == nil && c.plan(ctx, a, v)
	} else if c.next.suspect != nil {
		c.core.manager.Adopt(c.token, c.next.suspect)
	}
	if (again || c.observer.traces != nil) && !a.started.IsZero() {
		seen := Attempt{Number: a.number, StatusCode: a.status, WillRetry: again, Duration: a.took, Err: a.err}
		if again {
			seen.WillWait = c.next.wait
		}
		c.observer.attemptDone(ctx, seen, a.report)
	}
	return again
}

// learn keeps what a failed attempt shows about the token and about a movement of money.
func (c *call) learn(a *attempt, v decision) {
	if v.renew && !v.spare && c.core.manager != nil {
		c.core.manager.Refuse(c.token)
	}
	if v.outcome != OutcomeUnknown {
		return
	}
	if c.unknown == nil {
		c.unknown = a.err
	}
	if c.request.op.class == classKeyed {
		c.next.unknown = c.core.repeats.after(c.sent.latest, c.sent.last)
	}
}

// plan prepares the next attempt, and reports whether there is one.
func (c *call) plan(ctx context.Context, a *attempt, v decision) bool {
	policy, now := &c.core.config.Retry, time.Now()
	broken := a.sent && !a.complete
	closing := broken && !c.next.fresh && a.exchange.Shared() && !isTimeout(a.err) // by the service, before it read the request
	c.next.fresh = c.next.fresh || broken                                          // other kept connections may be dead or closing too
	switch {
	case v.renew && !c.bounds.renewed: // an expired token is not a failed attempt
		if c.bounds.renewed, c.next.wait = true, 0; v.spare {
			c.next.suspect = c.token
		} else {
			c.next.rejected = c.token
		}
	case !v.again:
		return false
	case closing && c.request.op.class == classRead: // at most once: the next connection is new
		c.next.wait = 0
	case a.status == http.StatusTooManyRequests: // costs time, not an attempt
		if c.bounds.throttled.IsZero() {
			c.bounds.throttled = now
		}
		c.next.wait = policy.throttleWait(a.retryAfter)
		if now.Add(c.next.wait).Sub(c.bounds.throttled) > policy.MaxThrottleWait {
			return false
		}
	default:
		c.bounds.tried++
		c.next.wait = policy.backoff(c.bounds.tried, a.retryAfter)
	}
	if !c.next.unknown.IsZero() { // the earlier request must have time to finish
		c.next.wait = max(c.next.wait, c.next.unknown.NotBefore.Sub(now))
		c.next.earliest = now.Add(c.next.wait)
	}
	if c.bounds.tried >= policy.MaxAttempts || c.request.once && c.bounds.tried > 0 || a.retryAfter > policy.MaxRetryAfter {
		return false
	}
	deadline, ok := ctx.Deadline()
	return !ok || now.Add(c.next.wait).Before(deadline) // waiting for the deadline would only hide the error of this attempt
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && timeout.Timeout()
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
