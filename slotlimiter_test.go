package prepaid

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	slotAnswered  = Feedback{StatusCode: http.StatusOK}
	slotThrottled = Feedback{StatusCode: http.StatusTooManyRequests}
)

// limiterBubble runs test on fake time. Its end also proves that the limiter left no goroutine behind.
func limiterBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// acquireSlots takes n slots that must be free at once.
func acquireSlots(t *testing.T, l *slotLimiter, lane Lane, n int) []Slot {
	t.Helper()
	slots := make([]Slot, n)
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
func releaseSlots(slots []Slot, f Feedback) {
	for _, s := range slots {
		s.Release(f)
	}
}

// slotWait is how long the next slot of a lane takes. It is given back unused.
func slotWait(t *testing.T, l *slotLimiter, lane Lane) time.Duration {
	t.Helper()
	start := time.Now()
	slot, err := l.Acquire(t.Context(), lane)
	require.NoError(t, err)
	slot.Release(Feedback{NotSent: true})
	return time.Since(start)
}

// requireIdle proves that nothing waits, no timer runs and no slot was lost, with nothing in flight.
func requireIdle(t *testing.T, l *slotLimiter) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance()
	require.Zero(t, l.waiting)
	require.Zero(t, l.armed)
	require.Equal(t, l.size, l.free+l.resting.n)
}

// laneRecorder notes the order in which parked callers are let in.
type laneRecorder struct {
	mu    sync.Mutex
	names []string
	wg    sync.WaitGroup
}

// park starts a caller and returns when it waits. Once let in it uses its slot up.
func (r *laneRecorder) park(t *testing.T, l *slotLimiter, lane Lane, name string) {
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
		slot.Release(slotAnswered)
	})
	synctest.Wait()
}

// order is who has been let in so far.
func (r *laneRecorder) order() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.names)
}

func TestSlotLimiterBurst(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1000, 10*time.Second, 1, 0)
		slots := acquireSlots(t, l, laneToken, 1000)
		time.Sleep(300 * time.Millisecond)
		releaseSlots(slots, slotAnswered)
		require.Equal(t, 10*time.Second, slotWait(t, l, laneToken), "a slot rests from its answer, not from its sending")
		acquireSlots(t, l, laneToken, 1000)
	})
}

func TestSlotLimiterSlotReturns(t *testing.T) {
	tests := map[string]struct {
		feedback Feedback
		wait     time.Duration
	}{
		"answered":              {slotAnswered, 10 * time.Second},
		"server error":          {Feedback{StatusCode: http.StatusInternalServerError}, 10 * time.Second},
		"no answer":             {Feedback{}, 10 * time.Second},
		"not sent":              {Feedback{NotSent: true}, 0},
		"not sent but answered": {Feedback{NotSent: true, StatusCode: http.StatusOK}, 10 * time.Second},
		"stray Retry-After":     {Feedback{StatusCode: http.StatusServiceUnavailable, RetryAfter: time.Hour}, 10 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			limiterBubble(t, func(t *testing.T) {
				l := newSlotLimiter(1, 10*time.Second, 1, 0)
				releaseSlots(acquireSlots(t, l, LaneCall, 1), tt.feedback)
				require.Equal(t, tt.wait, slotWait(t, l, LaneCall))
			})
		})
	}
}

func TestSlotLimiterShare(t *testing.T) {
	t.Parallel()
	others := 0.9
	for share, size := range map[float64]int{1: 1000, 0.5: 500, 0.57: 570, 1 - others: 100, 1.0 / 3: 333, 0.0001: 1, 0: 1000, -1: 1000, 7: 1000} {
		require.Equal(t, size, newSlotLimiter(1000, time.Second, share, 0).size, share)
	}
	require.Equal(t, 1, newSlotLimiter(0, time.Second, 1, 0).size)
}

// TestSlotLimiterIdleBurst: in every lane an idle client sends its whole allowance at once, and what is saved up after
// a backlog is the time without one.
func TestSlotLimiterIdleBurst(t *testing.T) {
	for _, lane := range []Lane{LaneMoney, LaneCall, LaneBulk, laneToken} {
		for _, size := range []int{1, 3, 50, 1000} {
			t.Run(lane.String()+"/"+strconv.Itoa(size), func(t *testing.T) {
				limiterBubble(t, func(t *testing.T) {
					l := newSlotLimiter(size, 10*time.Second, 1, 0)
					for range 3 {
						releaseSlots(acquireSlots(t, l, lane, size), slotAnswered)
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						_, err := l.Acquire(ctx, lane)
						require.Equal(t, &ThrottledError{Wait: 10 * time.Second}, err)
						cancel()
						time.Sleep(11 * time.Second)
						require.Zero(t, l.waiting)
					}
				})
			})
		}
	}
}

// TestSlotLimiterSpacesBacklog: after a burst those who had to wait go one by one, and again from then on until nobody
// has waited for a window. Money goes at once.
func TestSlotLimiterSpacesBacklog(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1000, 10*time.Second, 1, 0)
		releaseSlots(acquireSlots(t, l, LaneBulk, 1000), slotAnswered)
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				slot, err := l.Acquire(t.Context(), []Lane{LaneCall, LaneBulk}[i%2])
				if err != nil {
					t.Error(err)
					return
				}
				slot.Release(slotAnswered)
			})
		}
		time.Sleep(11 * time.Second)
		releaseSlots(acquireSlots(t, l, LaneMoney, 100), slotAnswered)
		wg.Wait()
		require.Equal(t, l.window-l.slack+399*l.interval, time.Since(start), "what money used counts")

		time.Sleep(5 * time.Second)
		slots := acquireSlots(t, l, LaneCall, int(5*time.Second/l.interval))
		for slotWait(t, l, LaneCall) == 0 {
			slots = append(slots, acquireSlots(t, l, LaneCall, 1)...)
		}
		require.Less(t, len(slots), 502, "half a window saves up half the allowance")
	})
}

func TestSlotLimiterLanes(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1, 10*time.Second, 1, 0)
		slots := acquireSlots(t, l, LaneCall, 1)
		var r laneRecorder
		r.park(t, l, LaneBulk, "bulk 1")
		r.park(t, l, Lane(77), "call 1")
		r.park(t, l, LaneBulk, "bulk 2")
		r.park(t, l, LaneMoney, "money 1")
		r.park(t, l, LaneCall, "call 2")
		r.park(t, l, laneToken, "token")
		r.park(t, l, LaneMoney, "money 2")
		releaseSlots(slots, slotAnswered)
		r.wg.Wait()
		require.Equal(t, []string{"token", "money 1", "money 2", "call 1", "call 2", "bulk 1", "bulk 2"}, r.order())
	})
}

func TestSlotLimiterStarvesNoLane(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1, 10*time.Second, 1, 0)
		slots := acquireSlots(t, l, LaneCall, 1)
		var r laneRecorder
		for range 3 {
			r.park(t, l, LaneBulk, "bulk")
			r.park(t, l, LaneCall, "call")
		}
		for range 100 {
			r.park(t, l, LaneMoney, "money")
		}
		releaseSlots(slots, slotAnswered)
		r.wg.Wait()
		var want []string
		for range 3 {
			want = append(want, slices.Repeat([]string{"money"}, 15)...)
			want = append(want, "call", "bulk")
			// The bulk turn above counts for neither: both lanes start anew.
		}
		want = append(want, slices.Repeat([]string{"money"}, 55)...)
		require.Equal(t, want, r.order())
	})
}

// TestSlotLimiterBulkNextToMoney: payments that never have to wait keep bulk from its pace, and yet bulk gets on.
func TestSlotLimiterBulkNextToMoney(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1000, 10*time.Second, 1, 0)
		releaseSlots(acquireSlots(t, l, LaneBulk, 1000), slotAnswered)
		require.Equal(t, l.window, slotWait(t, l, LaneBulk))
		var r laneRecorder
		for len(r.order()) == 0 || l.waiting == 0 {
			r.park(t, l, LaneBulk, "bulk")
		}
		before, start := len(r.order()), time.Now()
		releaseSlots(acquireSlots(t, l, LaneMoney, 15), slotAnswered)
		synctest.Wait()
		require.Len(t, r.order(), before)
		releaseSlots(acquireSlots(t, l, LaneMoney, 1), slotAnswered)
		synctest.Wait()
		require.Len(t, r.order(), before+1)
		require.Zero(t, time.Since(start))
		r.wg.Wait()
		requireIdle(t, l)
	})
}

func TestSlotLimiterNotSentPassesOn(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1, 10*time.Second, 1, 0)
		slots := acquireSlots(t, l, LaneCall, 1)
		var r laneRecorder
		r.park(t, l, LaneCall, "next")
		time.Sleep(time.Second)
		start := time.Now()
		releaseSlots(slots, Feedback{NotSent: true})
		r.wg.Wait()
		require.Zero(t, time.Since(start))
	})
}

func TestSlotLimiterDoubleRelease(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(2, 10*time.Second, 1, 0)
		first := acquireSlots(t, l, LaneCall, 1)[0]
		first.Release(Feedback{NotSent: true})
		second := acquireSlots(t, l, LaneCall, 2)
		for _, f := range []Feedback{{NotSent: true}, slotAnswered, slotThrottled} {
			first.Release(f) // must touch neither the counts nor the two in flight
		}
		require.Zero(t, l.free)
		require.Zero(t, l.resting.n)
		require.False(t, l.paced)
		releaseSlots(second, slotAnswered)
		releaseSlots(second, slotAnswered)
		require.Equal(t, 10*time.Second, slotWait(t, l, LaneCall))
		require.Equal(t, 2, l.free)
		second[0].Release(Feedback{NotSent: true}) // after its rest
		require.Equal(t, 2, l.free)
	})
}

func TestSlotLimiterCancel(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1, 10*time.Second, 1, 0)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := l.Acquire(ctx, LaneCall)
		require.Equal(t, context.Canceled, err, "even while slots are free")

		releaseSlots(acquireSlots(t, l, LaneCall, 1), slotAnswered)
		ctx, cancel = context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := l.Acquire(ctx, LaneMoney)
			done <- err
		}()
		synctest.Wait()
		var r laneRecorder
		r.park(t, l, LaneMoney, "first")
		r.park(t, l, LaneMoney, "second")
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

// TestSlotLimiterCancelRace: the slot and the cancellation come at one instant; whoever wins, no slot is lost.
func TestSlotLimiterCancelRace(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(3, time.Second, 1, 0)
		var won, lost int
		for range 200 {
			releaseSlots(acquireSlots(t, l, LaneCall, 3), slotAnswered)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			slot, err := l.Acquire(ctx, LaneCall)
			if err == nil {
				won++
				slot.Release(Feedback{NotSent: true})
			} else {
				lost++
				require.Equal(t, context.Canceled, err)
			}
			synctest.Wait()
			time.Sleep(time.Second)
		}
		t.Logf("%d let in, %d cancelled", won, lost)
		acquireSlots(t, l, LaneCall, 3)
	})
}

// TestSlotLimiterCancelledWinner: the slot came after the context ended, but before the caller could leave.
func TestSlotLimiterCancelledWinner(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1, 10*time.Second, 1, 0)
		slots := acquireSlots(t, l, LaneCall, 1)
		winner := &waiter{ready: make(chan struct{}), deadline: noDeadline}
		l.queues[queueOf(LaneCall)].push(winner)
		l.waiting++
		var r laneRecorder
		r.park(t, l, LaneCall, "next")
		releaseSlots(slots, Feedback{NotSent: true})
		<-winner.ready
		synctest.Wait()
		require.Empty(t, r.order())
		start := time.Now()
		l.abandon(winner)
		r.wg.Wait()
		require.Zero(t, time.Since(start), "its slot goes to the next, unused")
		winner.slot.Release(Feedback{NotSent: true})
		requireIdle(t, l)
	})
}
