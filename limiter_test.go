package prepaid

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

// laneLimiter records the requested lane, and may return a nil slot.
type laneLimiter struct {
	lane ratelimit.Lane
	slot ratelimit.Slot
	err  error
}

func (l *laneLimiter) Acquire(_ context.Context, lane ratelimit.Lane) (ratelimit.Slot, error) {
	l.lane = lane
	return l.slot, l.err
}

// The caller's limiter never gets the token lane, and may return no slot.
func TestForeignLimiter(t *testing.T) {
	t.Parallel()
	foreign := &laneLimiter{}
	var c core
	c.begin(Config{Limiter: foreign, Logger: slog.New(slog.DiscardHandler)}.withDefaults(), new(url.URL))
	k := &call{core: &c, lane: c.tokenLane, request: request{op: opToken}}
	slot, err := k.admit(t.Context())
	require.NoError(t, err)
	require.Equal(t, ratelimit.Money, foreign.lane)
	slot.Release(ratelimit.Feedback{}) // not nil, although the limiter returned nil

	foreign.err = errors.New("no")
	slot, err = k.admit(t.Context())
	require.Nil(t, slot)
	require.ErrorIs(t, err, foreign.err)
}

// The built-in limiter has the service's limit, supports every lane, and refuses with a RefusedError.
func TestSlotLimiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(0.005, 3*time.Second, time.Second)
		var taken [5]ratelimit.Slot
		for i := range taken {
			var err error
			taken[i], err = l.Acquire(t.Context(), ratelimit.Money)
			require.NoError(t, err)
		}
		taken[0].Release(ratelimit.Feedback{})
		taken[1].Release(ratelimit.Feedback{NotSent: true})
		_, err := l.Acquire(t.Context(), ratelimit.Money)
		require.NoError(t, err, "an attempt that was not sent costs nothing")

		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		_, err = l.Acquire(ctx, ratelimit.Money)
		require.Equal(t, &ratelimit.RefusedError{Wait: allowanceWindow}, err)
		require.ErrorIs(t, err, ErrRateLimited)
		cancel()
		_, err = l.Acquire(ctx, ratelimit.Money)
		require.Equal(t, context.Canceled, err)

		for retryAfter, pause := range map[time.Duration]time.Duration{0: time.Second, 2 * time.Second: 2 * time.Second, time.Hour: 3 * time.Second} {
			l = newLimiter(1, 3*time.Second, time.Second)
			throttled, err := l.Acquire(t.Context(), ratelimit.Money)
			require.NoError(t, err)
			throttled.Release(ratelimit.Feedback{StatusCode: 429, RetryAfter: retryAfter})
			began := time.Now()
			_, err = l.Acquire(t.Context(), ratelimit.Money)
			require.NoError(t, err)
			require.Equal(t, pause, time.Since(began))
		}
	})
	for lane := ratelimit.Lane(-1); lane < 9; lane++ {
		_, err := newLimiter(1, time.Second, time.Second).Acquire(t.Context(), lane)
		require.NoError(t, err, "an unknown lane is Call")
	}
}
