package slots

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

// On all cores, for the race detector. Package load of the module tests does the same in real time, for late timers.
func TestSlotLimiterRace(t *testing.T) { limiterBubble(t, race) }

func race(t *testing.T) {
	const allowance, window = 200, 50 * time.Millisecond
	l := newLimiter(allowance, window, 1)
	server := &lockedServer{server: &slidingServer{limit: allowance, window: window}}
	var (
		served, refused, stalled atomic.Int32
		wg                       sync.WaitGroup
	)
	start := time.Now()
	for worker := range 64 {
		wg.Go(func() {
			for served.Load() < 4*allowance {
				timeout := time.Minute
				if worker%4 == 0 {
					timeout = window / 20 // is refused, or gives up and passes its place on
				}
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				slot, err := l.Acquire(ctx, []ratelimit.Lane{ratelimit.Money, ratelimit.Call, ratelimit.Bulk}[worker%3])
				cancel()
				if stalls(l) {
					stalled.Add(1)
				}
				if err != nil {
					time.Sleep(time.Millisecond)
					continue
				}
				if server.admitNow(start) {
					served.Add(1)
				} else {
					refused.Add(1)
				}
				time.Sleep(1) // the way back
				slot.Release(responded)
			}
		})
	}
	wg.Wait()
	require.Zero(t, refused.Load())
	require.Zero(t, stalled.Load())
	require.GreaterOrEqual(t, time.Since(start), 3*window)
	requireIdle(t, l)
}

// stalls reports callers that nothing would ever wake: no request in flight, and no timer.
func stalls(l *Limiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting(Token) < LaneCount && l.stock.Free+len(l.resting) == l.stock.Held && l.armed == 0
}
