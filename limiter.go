package prepaid

import (
	"context"
	"time"

	"github.com/cardprograms/prepaid/internal/slots"
	"github.com/cardprograms/prepaid/ratelimit"
)

// The service's limit for each whitelisted address.
const (
	allowance       = 1000
	allowanceWindow = 10 * time.Second
)

// newLimiter returns the limiter of a process that may use the given share of the service's limit. A pause after a 429 is at
// most maxPause, or maxRandomPause if the 429 has no Retry-After.
func newLimiter(share float64, maxPause, maxRandomPause time.Duration) *slots.Limiter {
	return slots.New(slots.Options{
		Allowance: allowance, Window: allowanceWindow, Share: share, MaxPause: maxPause, MaxRandomPause: maxRandomPause,
	})
}

// freeSlot is the slot of a limiter that returns none.
type freeSlot struct{}

// Release does nothing.
func (freeSlot) Release(ratelimit.Feedback) {}

// slot acquires a slot. If c.request.awaited is not nil, the request prefetches a page and waits in Bulk until awaited is
// closed. Until then a refusal does not count: if ctx has a deadline, Bulk may refuse a request that the call's lane admits.
func (c *call) slot(ctx context.Context) (ratelimit.Slot, error) {
	awaited := c.request.awaited
	if awaited == nil {
		return c.acquire(ctx, c.lane)
	}
	select {
	case <-awaited:
		return c.acquire(ctx, c.lane)
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
	if admitted, err := c.acquire(ahead, ratelimit.Bulk); err == nil {
		return admitted, nil
	}
	select {
	case <-awaited:
		return c.acquire(ctx, c.lane)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *call) acquire(ctx context.Context, lane ratelimit.Lane) (ratelimit.Slot, error) {
	admitted, err := c.core.limiter.Acquire(ctx, lane)
	if admitted == nil && err == nil {
		return freeSlot{}, nil
	}
	return admitted, err
}
