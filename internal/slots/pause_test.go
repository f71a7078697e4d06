package slots

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

func TestSlotLimiterPause(t *testing.T) {
	const window, usual = 10 * time.Second, 15 * time.Second
	tests := map[string]struct {
		maxPause, maxRandom, retryAfter time.Duration
		least, most                     time.Duration
	}{
		"named":                 {usual, usual, 4 * time.Second, 4 * time.Second, 4 * time.Second},
		"at the cap":            {usual, usual, usual, usual, usual},
		"a year":                {usual, usual, 365 * 24 * time.Hour, usual, usual},
		"the largest":           {usual, usual, noDeadline, usual, usual},
		"own cap":               {2 * usual, usual, time.Minute, 2 * usual, 2 * usual},
		"none":                  {usual, usual, 0, window / 4, window},
		"negative":              {usual, usual, -time.Second, window / 4, window},
		"none, cap below":       {time.Second, usual, 0, time.Second, time.Second},
		"none, own cap below":   {usual, time.Second, 0, time.Second, time.Second},
		"none, own cap between": {usual, 5 * time.Second, 0, window / 4, 5 * time.Second},
		"named, over own cap":   {usual, time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			limiterBubble(t, func(t *testing.T) {
				for range 20 {
					l := New(Options{Allowance: 1000, Window: window, Share: 1, MaxPause: tt.maxPause, MaxRandomPause: tt.maxRandom})
					releaseSlots(acquireSlots(t, l, ratelimit.Call, 1), ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: tt.retryAfter})
					var waits [4]time.Duration
					var wg sync.WaitGroup
					for i, lane := range []ratelimit.Lane{ratelimit.Money, ratelimit.Call, ratelimit.Bulk, Token} {
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
		l := newLimiter(1000, 10*time.Second, 1)
		slots := acquireSlots(t, l, ratelimit.Call, 900)
		slots[0].Release(throttled)
		until := l.stock.PausedUntil
		releaseSlots(slots[1:800], throttled)
		require.Equal(t, until, l.stock.PausedUntil, "the echo of one burst is one pause")
		slots[800].Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 13 * time.Second})
		require.Equal(t, 13*time.Second, l.stock.PausedUntil, "a Retry-After counts even then")
		slots[801].Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: time.Second})
		require.Equal(t, 13*time.Second, l.stock.PausedUntil, "and never shortens a pause")
		releaseSlots(slots[802:], responded)

		require.Equal(t, 13*time.Second, slotWait(t, l, ratelimit.Call))
		releaseSlots(acquireSlots(t, l, ratelimit.Call, 1), throttled)
		require.GreaterOrEqual(t, l.stock.PausedUntil, 15500*time.Millisecond, "a later request reports a new one")
	})
}

func TestSlotLimiterPaced(t *testing.T) {
	limiterBubble(t, func(t *testing.T) {
		l := newLimiter(1000, 10*time.Second, 1)
		releaseSlots(acquireSlots(t, l, ratelimit.Call, 1), ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: time.Second})
		time.Sleep(time.Hour) // it does not wear off

		start := time.Now()
		for range 200 {
			slot, err := l.Acquire(t.Context(), ratelimit.Call)
			require.NoError(t, err)
			slot.Release(responded)
		}
		took := time.Since(start)
		require.Equal(t, 199*l.stock.interval-l.stock.slack, took, "99.5 a second, of which 10 ms may be caught up")

		// A request that was not sent gives its place back, but places are not saved.
		for range 500 {
			slot, err := l.Acquire(t.Context(), ratelimit.Call)
			require.NoError(t, err)
			slot.Release(ratelimit.Feedback{NotSent: true})
		}
		require.Less(t, time.Since(start)-took, 20*time.Millisecond)
		time.Sleep(time.Minute)
		start = time.Now()
		for range 12 {
			_, err := l.Acquire(t.Context(), ratelimit.Call)
			require.NoError(t, err)
		}
		require.Greater(t, time.Since(start), 80*time.Millisecond)
	})
}
