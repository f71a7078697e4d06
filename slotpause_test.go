package prepaid

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSlotLimiterPause(t *testing.T) {
	tests := map[string]struct {
		maxPause   time.Duration
		retryAfter time.Duration
		least      time.Duration
		most       time.Duration
	}{
		"named":             {0, 4 * time.Second, 4 * time.Second, 4 * time.Second},
		"at the cap":        {0, 15 * time.Second, 15 * time.Second, 15 * time.Second},
		"a year":            {0, 365 * 24 * time.Hour, 15 * time.Second, 15 * time.Second},
		"the largest":       {0, noDeadline, 15 * time.Second, 15 * time.Second},
		"own cap":           {20 * time.Second, time.Minute, 20 * time.Second, 20 * time.Second},
		"none":              {0, 0, 2500 * time.Millisecond, 10 * time.Second},
		"negative":          {0, -time.Second, 2500 * time.Millisecond, 10 * time.Second},
		"none, cap below":   {time.Second, 0, time.Second, time.Second},
		"none, cap between": {5 * time.Second, 0, 2500 * time.Millisecond, 5 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			limiterBubble(t, func(t *testing.T) {
				for range 20 {
					l := newSlotLimiter(1000, 10*time.Second, 1, tt.maxPause)
					releaseSlots(acquireSlots(t, l, LaneCall, 1), Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: tt.retryAfter})
					var waits [4]time.Duration
					var wg sync.WaitGroup
					for i, lane := range []Lane{LaneMoney, LaneCall, LaneBulk, laneToken} {
						wg.Go(func() { waits[i] = slotWait(t, l, lane) })
					}
					wg.Wait()
					least := slices.Min(waits[:])
					require.GreaterOrEqual(t, least, tt.least)
					require.LessOrEqual(t, least, tt.most)
					require.LessOrEqual(t, slices.Max(waits[:]), least+40*time.Millisecond, "all lanes go on together, paced")
				}
			})
		})
	}
}

func TestSlotLimiterPauseIsDrawnOnce(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1000, 10*time.Second, 1, 0)
		slots := acquireSlots(t, l, LaneCall, 900)
		slots[0].Release(slotThrottled)
		until := l.pausedUntil
		releaseSlots(slots[1:800], slotThrottled)
		require.Equal(t, until, l.pausedUntil, "the echo of one burst is one pause")
		slots[800].Release(Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 13 * time.Second})
		require.Equal(t, 13*time.Second, l.pausedUntil, "a Retry-After counts even then")
		slots[801].Release(Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: time.Second})
		require.Equal(t, 13*time.Second, l.pausedUntil, "and never shortens a pause")
		releaseSlots(slots[802:], slotAnswered)

		require.Equal(t, 13*time.Second, slotWait(t, l, LaneCall))
		releaseSlots(acquireSlots(t, l, LaneCall, 1), slotThrottled)
		require.GreaterOrEqual(t, l.pausedUntil, 15500*time.Millisecond, "a later request tells of a new one")
	})
}

func TestSlotLimiterPaced(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newSlotLimiter(1000, 10*time.Second, 1, 0)
		releaseSlots(acquireSlots(t, l, LaneCall, 1), Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: time.Second})
		time.Sleep(time.Hour) // it does not wear off

		start := time.Now()
		for range 200 {
			slot, err := l.Acquire(t.Context(), LaneCall)
			require.NoError(t, err)
			slot.Release(slotAnswered)
		}
		took := time.Since(start)
		require.Equal(t, 199*l.interval-l.slack, took, "99.5 a second, of which 20 ms may be caught up")

		// A request that was not sent gives its turn back, but turns are not hoarded.
		for range 500 {
			slot, err := l.Acquire(t.Context(), LaneCall)
			require.NoError(t, err)
			slot.Release(Feedback{NotSent: true})
		}
		require.Less(t, time.Since(start)-took, 20*time.Millisecond)
		time.Sleep(time.Minute)
		start = time.Now()
		for range 12 {
			_, err := l.Acquire(t.Context(), LaneCall)
			require.NoError(t, err)
		}
		require.Greater(t, time.Since(start), 80*time.Millisecond)
	})
}
