package slots

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

var (
	responded = ratelimit.Feedback{StatusCode: http.StatusOK}
	throttled = ratelimit.Feedback{StatusCode: http.StatusTooManyRequests}
)

// newLimiter returns a limiter that pauses for at most 15 s.
func newLimiter(allowance int, window time.Duration, share float64) *Limiter {
	const maxPause = 15 * time.Second
	return New(Options{Allowance: allowance, Window: window, Share: share, MaxPause: maxPause, MaxRandomPause: maxPause})
}

// limiterBubble runs test on fake time. Its end also proves that the limiter left no goroutine behind.
func limiterBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// acquireSlots takes n slots that must be free at once.
func acquireSlots(t *testing.T, l *Limiter, lane ratelimit.Lane, n int) []ratelimit.Slot {
	t.Helper()
	slots := make([]ratelimit.Slot, n)
	start := time.Now()
	for i := range slots {
		var err error
		slots[i], err = l.Acquire(t.Context(), lane)
		require.NoError(t, err)
	}
	require.Zero(t, time.Since(start), "a free slot must not wait")
	return slots
}

// releaseSlots gives slots back.
func releaseSlots(slots []ratelimit.Slot, f ratelimit.Feedback) {
	for _, s := range slots {
		s.Release(f)
	}
}

// slotWait returns how long the next slot of a lane takes. The slot is given back.
func slotWait(t *testing.T, l *Limiter, lane ratelimit.Lane) time.Duration {
	t.Helper()
	start := time.Now()
	slot, err := l.Acquire(t.Context(), lane)
	require.NoError(t, err)
	slot.Release(ratelimit.Feedback{NotSent: true})
	return time.Since(start)
}

// requireIdle checks that nothing waits, no timer runs and no slot was lost, with nothing in flight.
func requireIdle(t *testing.T, l *Limiter) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance()
	require.Equal(t, LaneCount, l.waiting(Token))
	require.Zero(t, l.armed)
	require.Equal(t, l.stock.Held, l.stock.Free+len(l.resting))
	needed := 0
	for _, n := range l.stock.Need {
		needed += n
	}
	require.Equal(t, len(l.resting), needed)
}

// laneRecorder records the order in which waiting callers get their slots.
type laneRecorder struct {
	mu    sync.Mutex
	names []string
	wg    sync.WaitGroup
}

// park starts a caller and returns when it waits. Once admitted it uses its slot up.
func (r *laneRecorder) park(t *testing.T, l *Limiter, lane ratelimit.Lane, name string) {
	t.Helper()
	r.wg.Go(func() {
		slot, err := l.Acquire(t.Context(), lane)
		r.mu.Lock()
		defer r.mu.Unlock()
		if err != nil {
			r.names = append(r.names, name+": "+err.Error())
			return
		}
		r.names = append(r.names, name)
		slot.Release(responded)
	})
	synctest.Wait()
}

// order returns the admissions so far.
func (r *laneRecorder) order() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.names)
}

func TestSlotLimiterSlotReturns(t *testing.T) {
	tests := map[string]struct {
		feedback ratelimit.Feedback
		wait     time.Duration
	}{
		"response":              {responded, 10 * time.Second},
		"server error":          {ratelimit.Feedback{StatusCode: http.StatusInternalServerError}, 10 * time.Second},
		"no response":           {ratelimit.Feedback{}, 10 * time.Second},
		"not sent":              {ratelimit.Feedback{NotSent: true}, 0},
		"not sent but response": {ratelimit.Feedback{NotSent: true, StatusCode: http.StatusOK}, 10 * time.Second},
		"stray Retry-After":     {ratelimit.Feedback{StatusCode: http.StatusServiceUnavailable, RetryAfter: time.Hour}, 10 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			limiterBubble(t, func(t *testing.T) {
				l := newLimiter(1, 10*time.Second, 1)
				releaseSlots(acquireSlots(t, l, ratelimit.Call, 1), tt.feedback)
				require.Equal(t, tt.wait, slotWait(t, l, ratelimit.Call))
			})
		})
	}
}

func TestSlotLimiterShare(t *testing.T) {
	t.Parallel()
	others := 0.9
	for share, size := range map[float64]int{1: 1000, 0.5: 500, 0.57: 570, 1 - others: 100, 1.0 / 3: 333, 0.0001: 1} {
		require.Equal(t, size, newLimiter(1000, time.Second, share).stock.Held, share)
	}
}

// In every lane an idle client sends its whole allowance at once, and after a backlog it saves time without a backlog.
func TestSlotLimiterIdleBurst(t *testing.T) {
	for _, lane := range []ratelimit.Lane{ratelimit.Money, ratelimit.Call, ratelimit.Bulk, Token} {
		for _, size := range []int{1, 3, 50, 1000} {
			t.Run(fmt.Sprintf("lane %d/%d", lane, size), func(t *testing.T) {
				limiterBubble(t, func(t *testing.T) {
					l := newLimiter(size, 10*time.Second, 1)
					for range 3 {
						releaseSlots(acquireSlots(t, l, lane, size), responded)
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						_, err := l.Acquire(ctx, lane)
						require.Equal(t, &ratelimit.RefusedError{Wait: 10 * time.Second}, err)
						cancel()
						time.Sleep(11 * time.Second)
						require.Equal(t, LaneCount, l.waiting(Token))
					}
				})
			})
		}
	}
}

// After a burst waiting callers go one by one, and so do later ones until none has waited for a window. Money
// goes at once.
func TestSlotLimiterSpacesBacklog(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1000, 10*time.Second, 1)
		releaseSlots(acquireSlots(t, l, ratelimit.Bulk, 1000), responded)
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				slot, err := l.Acquire(t.Context(), []ratelimit.Lane{ratelimit.Call, ratelimit.Bulk}[i%2])
				if err != nil {
					t.Error(err)
					return
				}
				slot.Release(responded)
			})
		}
		time.Sleep(11 * time.Second)
		releaseSlots(acquireSlots(t, l, ratelimit.Money, 100), responded)
		wg.Wait()
		require.Equal(t, l.options.Window-l.stock.slack+399*l.stock.interval, time.Since(start), "what money used counts")

		time.Sleep(5 * time.Second)
		slots := acquireSlots(t, l, ratelimit.Call, int(5*time.Second/l.stock.interval))
		for slotWait(t, l, ratelimit.Call) == 0 {
			slots = append(slots, acquireSlots(t, l, ratelimit.Call, 1)...)
		}
		require.Less(t, len(slots), 502, "half a window saves up half the allowance")
	})
}

func TestSlotLimiterLanes(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1, 10*time.Second, 1)
		slots := acquireSlots(t, l, ratelimit.Call, 1)
		var r laneRecorder
		r.park(t, l, ratelimit.Bulk, "bulk 1")
		r.park(t, l, ratelimit.Call, "call 1")
		r.park(t, l, ratelimit.Bulk, "bulk 2")
		r.park(t, l, ratelimit.Money, "money 1")
		r.park(t, l, ratelimit.Call, "call 2")
		r.park(t, l, Token, "token")
		r.park(t, l, ratelimit.Money, "money 2")
		releaseSlots(slots, responded)
		r.wg.Wait()
		require.Equal(t, []string{"token", "money 1", "money 2", "call 1", "call 2", "bulk 1", "bulk 2"}, r.order())
	})
}

func TestSlotLimiterStarvesNoLane(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1, 10*time.Second, 1)
		slots := acquireSlots(t, l, ratelimit.Call, 1)
		var r laneRecorder
		for range 3 {
			r.park(t, l, ratelimit.Bulk, "bulk")
			r.park(t, l, ratelimit.Call, "call")
		}
		for range 100 {
			r.park(t, l, ratelimit.Money, "money")
		}
		releaseSlots(slots, responded)
		r.wg.Wait()
		var want []string
		for range 3 {
			want = append(want, slices.Repeat([]string{"money"}, 15)...)
			want = append(want, "call", "bulk")
			// The slot of bulk above counts for neither: both lanes start anew.
		}
		want = append(want, slices.Repeat([]string{"money"}, 55)...)
		require.Equal(t, want, r.order())
	})
}

// Payments that never have to wait slow bulk down, and yet bulk gets on.
func TestSlotLimiterBulkNextToMoney(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1000, 10*time.Second, 1)
		releaseSlots(acquireSlots(t, l, ratelimit.Bulk, 1000), responded)
		require.Equal(t, l.options.Window, slotWait(t, l, ratelimit.Bulk))
		var r laneRecorder
		for len(r.order()) == 0 || l.waiting(Token) == LaneCount {
			r.park(t, l, ratelimit.Bulk, "bulk")
		}
		before, start := len(r.order()), time.Now()
		releaseSlots(acquireSlots(t, l, ratelimit.Money, 15), responded)
		synctest.Wait()
		require.Len(t, r.order(), before)
		releaseSlots(acquireSlots(t, l, ratelimit.Money, 1), responded)
		synctest.Wait()
		require.Len(t, r.order(), before+1)
		require.Zero(t, time.Since(start))
		r.wg.Wait()
		requireIdle(t, l)
	})
}

func TestSlotLimiterDoubleRelease(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(2, 10*time.Second, 1)
		first := acquireSlots(t, l, ratelimit.Call, 1)[0]
		first.Release(ratelimit.Feedback{NotSent: true})
		second := acquireSlots(t, l, ratelimit.Call, 2)
		for _, f := range []ratelimit.Feedback{{NotSent: true}, responded, throttled} {
			first.Release(f) // must touch neither the counts nor the two in flight
		}
		require.Zero(t, l.stock.Free)
		require.Empty(t, l.resting)
		require.False(t, l.stock.paced)
		releaseSlots(second, responded)
		releaseSlots(second, responded)
		require.Equal(t, 10*time.Second, slotWait(t, l, ratelimit.Call))
		require.Equal(t, 2, l.stock.Free)
		second[0].Release(ratelimit.Feedback{NotSent: true}) // after its rest
		require.Equal(t, 2, l.stock.Free)
	})
}

func TestSlotLimiterCancel(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1, 10*time.Second, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := l.Acquire(ctx, ratelimit.Call)
		require.Equal(t, context.Canceled, err, "even while slots are free")

		releaseSlots(acquireSlots(t, l, ratelimit.Call, 1), responded)
		ctx, cancel = context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := l.Acquire(ctx, ratelimit.Money)
			done <- err
		}()
		synctest.Wait()
		var r laneRecorder
		r.park(t, l, ratelimit.Money, "first")
		r.park(t, l, ratelimit.Money, "second")
		start := time.Now()
		time.Sleep(4 * time.Second)
		cancel()
		require.Equal(t, context.Canceled, <-done)
		require.Equal(t, 4*time.Second, time.Since(start), "a cancelled wait ends at once")
		synctest.Wait()
		require.Empty(t, r.order())
		r.wg.Wait()
		require.Equal(t, []string{"first", "second"}, r.order())
		require.Equal(t, 20*time.Second, time.Since(start), "its place went to the next")
		requireIdle(t, l)
	})
}

// The slot arrives after the context ended, but before the caller could leave.
func TestSlotLimiterCancelledWinner(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1, 10*time.Second, 1)
		slots := acquireSlots(t, l, ratelimit.Call, 1)
		winner := &waiter{ready: make(chan struct{}), deadline: noDeadline}
		l.queues[ratelimit.Call].push(winner)
		l.stock.Need[ratelimit.Call]++
		var r laneRecorder
		r.park(t, l, ratelimit.Call, "next")
		releaseSlots(slots, ratelimit.Feedback{NotSent: true})
		<-winner.ready
		synctest.Wait()
		require.Empty(t, r.order())
		start := time.Now()
		l.abandon(winner)
		r.wg.Wait()
		require.Zero(t, time.Since(start), "its slot goes to the next, unused")
		winner.slot.Release(ratelimit.Feedback{NotSent: true})
		requireIdle(t, l)
	})
}
