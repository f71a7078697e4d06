package slots

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

func TestSlotLimiterDeadline(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(2, 10*time.Second, 1)
		slots := acquireSlots(t, l, ratelimit.Money, 2)
		slots[0].Release(responded)
		time.Sleep(2 * time.Second)
		slots[1].Release(responded)

		refused := func(timeout, wait time.Duration) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			start := time.Now()
			slot, err := l.Acquire(ctx, ratelimit.Money)
			require.Zero(t, time.Since(start), "must not wait first")
			require.Nil(t, slot)
			cause, ok := errors.AsType[*ratelimit.RefusedError](err)
			require.True(t, ok)
			require.Equal(t, wait, cause.Wait)
			require.ErrorContains(t, err, wait.String())
		}
		refused(7*time.Second, 8*time.Second)
		refused(8*time.Second, 8*time.Second) // the slot arrives as the context ends
		require.Zero(t, l.armed, "a refused caller leaves no timer")

		var r laneRecorder
		r.park(t, l, ratelimit.Money, "a")
		refused(9*time.Second, 10*time.Second)
		r.park(t, l, ratelimit.Money, "b")
		refused(17*time.Second, 18*time.Second) // a's slot, after its next rest
		r.park(t, l, ratelimit.Money, "c")
		r.park(t, l, ratelimit.Money, "d")
		refused(28*time.Second, 28*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), 28*time.Second+1)
		defer cancel()
		start := time.Now()
		_, err := l.Acquire(ctx, ratelimit.Money)
		require.NoError(t, err)
		require.Equal(t, 28*time.Second, time.Since(start), "the prediction holds")
		r.wg.Wait()
	})
}

func TestSlotLimiterDeadlineInFlight(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1, 10*time.Second, 1)
		slots := acquireSlots(t, l, ratelimit.Call, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := l.Acquire(ctx, ratelimit.Call)
		require.Equal(t, &ratelimit.RefusedError{Wait: 10 * time.Second}, err, "even if it were released now")

		// A wait that looks possible but is then delayed ends with its context.
		ctx, cancel = context.WithTimeout(t.Context(), 11*time.Second)
		defer cancel()
		time.AfterFunc(2*time.Second, func() { releaseSlots(slots, responded) })
		start := time.Now()
		_, err = l.Acquire(ctx, ratelimit.Call)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 11*time.Second, time.Since(start))
	})
}

func TestSlotLimiterFarDeadline(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1, 10*time.Second, 1)
		releaseSlots(acquireSlots(t, l, ratelimit.Call, 1), responded)
		ctx, cancel := context.WithDeadline(t.Context(), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
		defer cancel()
		_, err := l.Acquire(ctx, ratelimit.Call)
		require.NoError(t, err)
	})
}

func TestSlotLimiterPauseRefusesWaiters(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(5, 10*time.Second, 1)
		slots := acquireSlots(t, l, ratelimit.Call, 5)
		releaseSlots(slots[:4], responded)
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
				slot, err := l.Acquire(ctx, ratelimit.Call)
				results[i] = result{err, time.Since(start)}
				if err == nil {
					slot.Release(responded)
				}
			})
			synctest.Wait()
		}
		time.Sleep(time.Second)
		slots[4].Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 13 * time.Second})
		wg.Wait()
		require.Equal(t, []result{
			{&ratelimit.RefusedError{Wait: 13 * time.Second}, time.Second},
			{nil, 14 * time.Second},
			// Paced: 5 slots at 99.5 % are one in 2.01 s, and 10 ms may be caught up.
			{&ratelimit.RefusedError{Wait: 13*time.Second - l.stock.slack + l.stock.interval}, time.Second},
		}, results)
		requireIdle(t, l)
	})
}

// The prediction is right for a lane that slots passed by: it gets a higher lane's slot.
func TestSlotLimiterPredictsTurn(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1000, 10*time.Second, 1)
		for range 1000 {
			releaseSlots(acquireSlots(t, l, ratelimit.Call, 1), responded)
			time.Sleep(time.Millisecond)
		}
		var r laneRecorder
		for range 20 {
			r.park(t, l, ratelimit.Call, "call")
		}
		wait := 9*time.Second - l.stock.slack + 15*l.stock.interval // the 16th to go
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		_, err := l.Acquire(ctx, ratelimit.Bulk)
		require.Equal(t, &ratelimit.RefusedError{Wait: wait}, err)

		start := time.Now()
		slot, err := l.Acquire(t.Context(), ratelimit.Bulk)
		require.NoError(t, err)
		require.Equal(t, wait, time.Since(start))
		slot.Release(responded)
		r.wg.Wait()
		requireIdle(t, l)
	})
}
