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

// slotAhead acquires a slot for a prefetched page. It waits in Bulk until awaited is closed. Until then a refusal does not count:
// if ctx has a deadline, Bulk may refuse a request that the call's lane admits.
func (c *call) slotAhead(ctx context.Context, awaited <-chan struct{}) (ratelimit.Slot, error) {
	select {
	case <-awaited:
		return c.core.limiter.Acquire(ctx, c.lane)
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
	if admitted, err := c.core.limiter.Acquire(ahead, ratelimit.Bulk); err == nil {
		return admitted, nil
	}
	select {
	case <-awaited:
		return c.core.limiter.Acquire(ctx, c.lane)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
