package prepaid

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSlotLimiterDeadline(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(2, 10*time.Second, 1, 0)
		slots := acquireSlots(t, l, LaneMoney, 2)
		slots[0].Release(slotAnswered)
		time.Sleep(2 * time.Second)
		slots[1].Release(slotAnswered)

		refused := func(timeout, wait time.Duration) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			start := time.Now()
			slot, err := l.Acquire(ctx, LaneMoney)
			require.Zero(t, time.Since(start), "must not sleep first")
			require.Nil(t, slot)
			require.ErrorIs(t, err, ErrRateLimited)
			cause, ok := errors.AsType[*ThrottledError](err)
			require.True(t, ok)
			require.Equal(t, wait, cause.Wait)
		}
		refused(7*time.Second, 8*time.Second)
		refused(8*time.Second, 8*time.Second) // the slot comes as the context ends
		require.Nil(t, l.timer, "a refused caller leaves no timer")

		var r laneRecorder
		r.park(t, l, LaneMoney, "a")
		refused(9*time.Second, 10*time.Second)
		r.park(t, l, LaneMoney, "b")
		refused(17*time.Second, 18*time.Second) // a's slot, after its next rest
		r.park(t, l, LaneMoney, "c")
		r.park(t, l, LaneMoney, "d")
		refused(28*time.Second, 28*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), 28*time.Second+1)
		defer cancel()
		start := time.Now()
		_, err := l.Acquire(ctx, LaneMoney)
		require.NoError(t, err)
		require.Equal(t, 28*time.Second, time.Since(start), "the prediction holds")
		r.wg.Wait()
	})
}

func TestSlotLimiterDeadlineInFlight(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1, 10*time.Second, 1, 0)
		slots := acquireSlots(t, l, LaneCall, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := l.Acquire(ctx, LaneCall)
		require.Equal(t, &ThrottledError{Wait: 10 * time.Second}, err, "even if it were released now")

		// One that looks possible but is then held up ends with its context.
		ctx, cancel = context.WithTimeout(t.Context(), 11*time.Second)
		defer cancel()
		time.AfterFunc(2*time.Second, func() { releaseSlots(slots, slotAnswered) })
		start := time.Now()
		_, err = l.Acquire(ctx, LaneCall)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 11*time.Second, time.Since(start))
	})
}

func TestSlotLimiterFarDeadline(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1, 10*time.Second, 1, 0)
		releaseSlots(acquireSlots(t, l, LaneCall, 1), slotAnswered)
		ctx, cancel := context.WithDeadline(t.Context(), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
		defer cancel()
		_, err := l.Acquire(ctx, LaneCall)
		require.NoError(t, err)
	})
}

func TestSlotLimiterPauseRefusesWaiters(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(5, 10*time.Second, 1, 0)
		slots := acquireSlots(t, l, LaneCall, 5)
		releaseSlots(slots[:4], slotAnswered)
		type result struct {
			err  error
			took time.Duration
		}
		results := make([]result, 3)
		var wg sync.WaitGroup
		for i, timeout := range []time.Duration{13 * time.Second, 14*time.Second + 1, 15900 * time.Millisecond} {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				defer cancel()
				start := time.Now()
				slot, err := l.Acquire(ctx, LaneCall)
				results[i] = result{err, time.Since(start)}
				if err == nil {
					slot.Release(slotAnswered)
				}
			})
			synctest.Wait()
		}
		time.Sleep(time.Second)
		slots[4].Release(Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 13 * time.Second})
		wg.Wait()
		require.Equal(t, []result{
			{&ThrottledError{Wait: 13 * time.Second}, time.Second},
			{nil, 14 * time.Second},
			// Paced: 5 slots at 99.5 % are one in 2.01 s, and 20 ms may be caught up.
			{&ThrottledError{Wait: 13*time.Second - 20*time.Millisecond + l.interval}, time.Second},
		}, results)
		requireIdle(t, l)
	})
}

// TestSlotLimiterPredictsTurn: a lane that is passed by is promised what it gets, the turn of a higher lane.
func TestSlotLimiterPredictsTurn(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1000, 10*time.Second, 1, 0)
		for range 1000 {
			releaseSlots(acquireSlots(t, l, LaneCall, 1), slotAnswered)
			time.Sleep(time.Millisecond)
		}
		var r laneRecorder
		for range 20 {
			r.park(t, l, LaneCall, "call")
		}
		wait := 9*time.Second - l.slack + 15*l.interval // the 16th to go
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		_, err := l.Acquire(ctx, LaneBulk)
		require.Equal(t, &ThrottledError{Wait: wait}, err)

		start := time.Now()
		slot, err := l.Acquire(t.Context(), LaneBulk)
		require.NoError(t, err)
		require.Equal(t, wait, time.Since(start))
		slot.Release(slotAnswered)
		r.wg.Wait()
		requireIdle(t, l)
	})
}
