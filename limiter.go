package prepaid

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/internal/slots"
)

// Lane is the queue of the limiter that an attempt waits in. A lane is first in, first out. LaneMoney goes before
// LaneCall, and LaneCall before LaneBulk. The token request has a lane of its own above LaneMoney. The zero value is
// LaneMoney.
//
// LaneCall and LaneBulk may use the whole allowance, at once if the client was idle. As soon as one of their requests has
// to wait, they are spaced evenly, at a pace that leaves room for LaneMoney, until no request has waited for a while. So
// slots return evenly, and LaneMoney, which is not spaced, gets one at once or waits for the next to return: about
// window / allowance, which is 10 ms for the whole allowance and 200 ms for a share of 0.05. The exception is a burst: if
// reads of an idle client use the whole allowance, payments wait for the rest of those 10 s.
//
// No lane starves: after 15 slots in a row for lanes above it, the next slot is its own.
type Lane uint8

const (
	// LaneMoney is for transfers and funding.
	LaneMoney Lane = iota
	// LaneCall is for every other call, and for a lane that the limiter does not know.
	LaneCall
	// LaneBulk is for prefetched pages and report polls. Next to calls that use every slot it gets one in 16.
	LaneBulk

	// laneToken is for POST /token, which every other lane depends on. Only the built-in limiter sees it.
	laneToken Lane = 255
)

// String names the lane, such as "money".
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

// Limiter admits attempts, so that the service has no cause to answer 429. An implementation is safe for
// concurrent use. A nil one leaves the built-in limiter in place.
//
// The built-in one keeps to 1,000 requests per 10 s from each address, times Config.RateShare. Its slots all start free,
// so an idle client may send its whole allowance at once. A process that starts within 10 s of another's end on
// the same address does not know what that one has used.
//
// A 429 pauses all lanes, including callers that wait already: for its Retry-After, at most RetryPolicy.MaxRetryAfter, or
// for a random 2.5 to 10 s if it has none. After the first 429, requests are also spaced evenly in every lane, at 99.5 % of
// the allowance, for the rest of the client's life: the average rate hardly changes, and another burst would only cause the
// next 429 from a service that weighs neighbouring windows.
type Limiter interface {
	// Acquire waits until the attempt may be sent and returns its slot, never nil without an error. It returns
	// ctx.Err() as soon as ctx is done, and at once a *ThrottledError when the wait would outlast the deadline of
	// ctx. After any error nothing is sent.
	Acquire(ctx context.Context, lane Lane) (Slot, error)
}

// Slot is an admitted attempt. A nil Slot without an error means admitted, with nothing to release.
type Slot interface {
	// Release is called exactly once, when the response headers have arrived or the attempt has failed. It does
	// not block.
	Release(Feedback)
}

// Feedback reports to a limiter how an attempt ended. The zero value is one that was sent and got no response.
type Feedback struct {
	// StatusCode is the HTTP status of the response, 0 without one.
	StatusCode int
	// RetryAfter is the wait that a 429 asked for; 0 when it named none.
	RetryAfter time.Duration
	// NotSent means that no byte of the request reached the service, so that it did not use up any allowance.
	// It is ignored when StatusCode is set.
	NotSent bool
}

// NoLimiter admits everything at once. It is for tests, and for callers that limit in a proxy. The zero value is ready.
type NoLimiter struct{}

// Acquire returns at once: a slot, or the error of a ctx that is done.
func (NoLimiter) Acquire(ctx context.Context, _ Lane) (Slot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return freeSlot{}, nil
}

// LimiterFunc adapts a function that waits for its turn, such as (*rate.Limiter).Wait. It does not distinguish lanes and
// does not learn of responses. A nil LimiterFunc admits everything, as NoLimiter does.
type LimiterFunc func(ctx context.Context) error

// Acquire calls f. An error of the context is returned as it is. Any other error of f is a refusal: it is wrapped
// together with a *ThrottledError, so that errors.Is finds both ErrRateLimited and the cause. Its Wait is the
// time that was left until the deadline of ctx (the true wait is longer), or 0 when ctx has none.
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

// newSlotLimiter returns the limiter of a process that may use the given share of the service's limit. maxPause and
// maxRandomPause bound the pause after a 429, the second one if it has no Retry-After.
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

// rank is the lane of the built-in limiter.
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

// admit asks limiter for a slot. A limiter of the caller's own never sees laneToken, and one that returns a nil
// slot without an error has admitted the attempt.
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
