package prepaid

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/internal/slots"
)

// Lane is the queue in which an attempt waits for the limiter. A lane is first in, first out. LaneMoney has priority
// over LaneCall, and LaneCall over LaneBulk. The token request has its own lane above LaneMoney. The zero value is
// LaneMoney.
//
// LaneCall and LaneBulk may use the whole allowance, at once if the client was idle. As soon as one of their requests
// has to wait, they are spaced evenly, at a rate that leaves room for LaneMoney, until no request has waited for a
// while. Slots then become free at an even rate, and LaneMoney, which is not spaced, gets one at once or waits for the
// next: about window / allowance, which is 10 ms for the whole allowance and 200 ms for a share of 0.05. The exception
// is a burst: if reads of an idle client use the whole allowance, payments wait for the rest of those 10 s.
//
// No lane starves: after 15 slots in a row for lanes above it, a lane gets the next slot.
type Lane uint8

const (
	// LaneMoney is for transfers and funding.
	LaneMoney Lane = iota
	// LaneCall is for all other calls, and for a lane that the limiter does not know.
	LaneCall
	// LaneBulk is for report polls, and for prefetched pages until you wait for them, which moves them to LaneCall. If calls
	// use every slot, it gets one in 16.
	LaneBulk

	// laneToken is for POST /token, which every other lane depends on. Only the built-in limiter sees it.
	laneToken Lane = 255
)

// String returns the name of the lane, such as "money".
func (l Lane) String() string {
	switch l {
	case LaneMoney:
		return "money"
	case LaneCall:
		return "call"
	case LaneBulk:
		return "bulk"
	case laneToken:
		return "token"
	}
	return "lane(" + strconv.Itoa(int(l)) + ")"
}

// Limiter admits attempts, so that the service has no reason to respond with 429. Implementations must be safe for
// concurrent use. Nil means the built-in limiter.
//
// The built-in limiter admits 1,000 requests per 10 s from each address, times Config.RateShare. All its slots are free
// at the start, so an idle client may send its whole allowance at once. A process that starts within 10 s of the end of
// another on the same address does not know how many requests that one has sent.
//
// A 429 pauses all lanes, including callers that already wait: for its Retry-After, at most RetryPolicy.MaxRetryAfter,
// or for a random 2.5 to 10 s if it has none. After the first 429, requests are also spaced evenly in every lane, at
// 99.5 % of the allowance, for the rest of the client's life. This hardly changes the average rate, and another burst
// would only cause the next 429 from a service that also weighs neighbouring windows.
type Limiter interface {
	// Acquire waits until the attempt may be sent and returns its slot. It returns ctx.Err() as soon as ctx is done. If
	// the wait would outlast the deadline of ctx, it returns a *ThrottledError immediately. After any error nothing is
	// sent.
	Acquire(ctx context.Context, lane Lane) (Slot, error)
}

// Slot is an admitted attempt. A nil Slot without an error means admitted, with nothing to release.
type Slot interface {
	// Release is called exactly once, when the response headers have arrived or the attempt has failed. It does
	// not block.
	Release(Feedback)
}

// Feedback reports to a limiter how an attempt ended. The zero value means that it was sent and got no response.
type Feedback struct {
	// StatusCode is the HTTP status of the response, or 0 if there is none.
	StatusCode int
	// RetryAfter is the wait that a 429 requested, or 0.
	RetryAfter time.Duration
	// NotSent means that no byte of the request reached the service, so it used none of the allowance. It is ignored if
	// StatusCode is set.
	NotSent bool
}

// NoLimiter admits everything immediately. It is for tests, and for callers that limit in a proxy.
type NoLimiter struct{}

// Acquire returns immediately: a slot, or ctx.Err() if ctx is done.
func (NoLimiter) Acquire(ctx context.Context, _ Lane) (Slot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return freeSlot{}, nil
}

// LimiterFunc adapts a function that waits, such as (*rate.Limiter).Wait. It does not distinguish lanes and gets no
// feedback. A nil LimiterFunc admits everything, as NoLimiter does.
type LimiterFunc func(ctx context.Context) error

// Acquire calls f. It returns an error of the context unchanged. It treats any other error of f as a refusal and wraps
// it together with a *ThrottledError, so that errors.Is finds both ErrRateLimited and the cause. Its Wait is the time
// until the deadline of ctx (the actual wait is longer), or 0 if ctx has none.
func (f LimiterFunc) Acquire(ctx context.Context, lane Lane) (Slot, error) {
	if f == nil {
		return NoLimiter{}.Acquire(ctx, lane)
	}
	err := f(ctx)
	switch {
	case err == nil:
		return freeSlot{}, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrRateLimited):
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	refused := &ThrottledError{}
	if deadline, ok := ctx.Deadline(); ok {
		refused.Wait = max(time.Until(deadline), 0)
	}
	return nil, fmt.Errorf("%w: %w", refused, err)
}

// freeSlot is the slot of limiters that do not count.
type freeSlot struct{}

// Release does nothing.
func (freeSlot) Release(Feedback) {}

// The service's limit for each whitelisted address.
const (
	allowance       = 1000
	allowanceWindow = 10 * time.Second
)

// slotLimiter is the built-in limiter.
type slotLimiter struct{ *slots.Limiter }

// newSlotLimiter returns the limiter of a process that may use the given share of the service's limit. A pause after a
// 429 is at most maxPause, or maxRandomPause if it has no Retry-After.
func newSlotLimiter(share float64, maxPause, maxRandomPause time.Duration) slotLimiter {
	return slotLimiter{slots.New(slots.Options{
		Allowance: allowance, Window: allowanceWindow, Share: share, MaxPause: maxPause, MaxRandomPause: maxRandomPause,
	})}
}

// Acquire implements Limiter.
func (l slotLimiter) Acquire(ctx context.Context, lane Lane) (Slot, error) {
	s, err := l.Limiter.Acquire(ctx, lane.rank())
	if err == nil {
		return slot{s}, nil
	}
	if refused, ok := errors.AsType[*slots.Refused](err); ok {
		return nil, &ThrottledError{Wait: refused.Wait}
	}
	return nil, err
}

// rank returns the lane of the built-in limiter.
func (l Lane) rank() slots.Lane {
	switch l {
	case LaneMoney:
		return slots.Money
	case LaneBulk:
		return slots.Bulk
	case laneToken:
		return slots.Token
	default:
		return slots.Call
	}
}

// slot is a single pointer, so that it becomes a Slot without an allocation.
type slot struct{ *slots.Slot }

// Release implements Slot.
func (s slot) Release(f Feedback) { s.Slot.Release(slots.Feedback(f)) }

// admit acquires a slot from limiter. The caller's own limiter never sees laneToken. If it returns a nil slot without
// an error, the attempt is admitted.
func admit(ctx context.Context, limiter Limiter, lane Lane) (Slot, error) {
	if _, ok := limiter.(slotLimiter); !ok && lane == laneToken {
		lane = LaneMoney
	}
	admitted, err := limiter.Acquire(ctx, lane)
	if err != nil {
		return nil, err
	}
	if admitted == nil {
		return freeSlot{}, nil
	}
	return admitted, nil
}

// admitAhead is admit for a request that may be ahead of need: until awaited is closed, it waits in LaneBulk. A refusal counts
// only after that: if ctx has a deadline, LaneBulk may refuse what lane admits. A nil awaited means that it is needed now.
func admitAhead(ctx context.Context, limiter Limiter, lane Lane, awaited <-chan struct{}) (Slot, error) {
	if awaited == nil {
		return admit(ctx, limiter, lane)
	}
	select {
	case <-awaited:
		return admit(ctx, limiter, lane)
	default:
	}
	ahead, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-awaited:
			cancel()
		case <-ahead.Done():
		}
	}()
	if admitted, err := admit(ahead, limiter, LaneBulk); err == nil {
		return admitted, nil
	}
	select {
	case <-awaited:
		return admit(ctx, limiter, lane)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
