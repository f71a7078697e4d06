package prepaid

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/slots"
)

func TestLaneString(t *testing.T) {
	t.Parallel()
	require.Equal(t, "money call bulk token lane(9)",
		fmt.Sprintf("%v %v %v %v %v", LaneMoney, LaneCall, LaneBulk, laneToken, Lane(9)))
}

func TestNoLimiter(t *testing.T) {
	t.Parallel()
	for range 5000 {
		slot, err := NoLimiter{}.Acquire(t.Context(), LaneBulk)
		require.NoError(t, err)
		slot.Release(Feedback{StatusCode: 429, RetryAfter: time.Hour})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	slot, err := NoLimiter{}.Acquire(ctx, LaneCall)
	require.Nil(t, slot)
	require.ErrorIs(t, err, context.Canceled)
}

func TestLimiterFuncAdmits(t *testing.T) {
	t.Parallel()
	calls := 0
	var limiter Limiter = LimiterFunc(func(context.Context) error { calls++; return nil })
	slot, err := limiter.Acquire(t.Context(), LaneMoney)
	require.NoError(t, err)
	slot.Release(Feedback{})
	require.Equal(t, 1, calls)

	slot, err = LimiterFunc(nil).Acquire(t.Context(), LaneMoney)
	require.NoError(t, err)
	slot.Release(Feedback{})
}

// tokenWait waits like (*rate.Limiter).Wait with the given time until its next token.
func tokenWait(next time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < next {
			return errors.New("rate: Wait(n=1) would exceed context deadline")
		}
		select {
		case <-time.After(next):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestLimiterFuncErrors(t *testing.T) {
	t.Parallel()
	unavailable := errors.New("store unavailable")
	own := &ThrottledError{Wait: time.Minute}
	tests := map[string]struct {
		wait     func(context.Context) error
		timeout  time.Duration // 0 means none
		cancel   time.Duration // 0 for never
		takes    time.Duration
		is       []error
		isNot    []error
		throttle *ThrottledError
	}{
		"waits":             {wait: tokenWait(time.Second), timeout: time.Minute, takes: time.Second},
		"deadline too near": {wait: tokenWait(time.Minute), timeout: 2 * time.Second, is: []error{ErrRateLimited}, isNot: []error{context.DeadlineExceeded}, throttle: &ThrottledError{Wait: 2 * time.Second}},
		"cancelled":         {wait: tokenWait(time.Minute), cancel: time.Second, takes: time.Second, is: []error{context.Canceled}, isNot: []error{ErrRateLimited}},
		"broken":            {wait: func(context.Context) error { return unavailable }, is: []error{ErrRateLimited, unavailable}, throttle: &ThrottledError{}},
		"wrapped context": {wait: func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("gave up: %w", ctx.Err()) },
			timeout: time.Second, takes: time.Second, is: []error{context.DeadlineExceeded}, isNot: []error{ErrRateLimited}},
		"hidden context": {wait: func(ctx context.Context) error { <-ctx.Done(); return unavailable },
			cancel: time.Second, takes: time.Second, is: []error{context.Canceled}, isNot: []error{ErrRateLimited}},
		"throttled itself": {wait: func(context.Context) error { return own }, timeout: time.Second, is: []error{own}, throttle: own},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.timeout > 0 {
					ctx, cancel = context.WithTimeout(ctx, tt.timeout)
					defer cancel()
				}
				if tt.cancel > 0 {
					time.AfterFunc(tt.cancel, cancel)
				}
				start := time.Now()
				slot, err := LimiterFunc(tt.wait).Acquire(ctx, LaneCall)
				require.Equal(t, tt.takes, time.Since(start))
				if tt.is == nil {
					require.NoError(t, err)
					slot.Release(Feedback{StatusCode: 200})
					return
				}
				require.Nil(t, slot)
				for _, target := range tt.is {
					require.ErrorIs(t, err, target)
				}
				for _, target := range tt.isNot {
					require.NotErrorIs(t, err, target)
				}
				throttled, ok := errors.AsType[*ThrottledError](err)
				require.Equal(t, tt.throttle != nil, ok)
				require.Equal(t, tt.throttle, throttled)
			})
		})
	}
}

// laneLimiter records the requested lane, and may return a nil slot.
type laneLimiter struct {
	lane Lane
	slot Slot
	err  error
}

func (l *laneLimiter) Acquire(_ context.Context, lane Lane) (Slot, error) {
	l.lane = lane
	return l.slot, l.err
}

func TestAdmit(t *testing.T) {
	t.Parallel()
	foreign := &laneLimiter{}
	slot, err := admit(t.Context(), foreign, laneToken)
	require.NoError(t, err)
	require.Equal(t, LaneMoney, foreign.lane, "laneToken must not leave the package")
	slot.Release(Feedback{}) // not nil, although the limiter returned nil

	_, err = admit(t.Context(), foreign, LaneBulk)
	require.NoError(t, err)
	require.Equal(t, LaneBulk, foreign.lane)

	foreign.err = errors.New("no")
	slot, err = admit(t.Context(), foreign, LaneCall)
	require.Nil(t, slot)
	require.ErrorIs(t, err, foreign.err)
}

// The built-in limiter has the service's limit, supports every lane, and refuses with a ThrottledError.
func TestSlotLimiter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newSlotLimiter(0.005, 3*time.Second, time.Second)
		var taken [5]Slot
		for i := range taken {
			var err error
			taken[i], err = l.Acquire(t.Context(), LaneMoney)
			require.NoError(t, err)
		}
		taken[0].Release(Feedback{})
		taken[1].Release(Feedback{NotSent: true})
		_, err := l.Acquire(t.Context(), LaneMoney)
		require.NoError(t, err, "an attempt that was not sent costs nothing")

		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		_, err = l.Acquire(ctx, LaneMoney)
		require.Equal(t, &ThrottledError{Wait: allowanceWindow}, err)
		require.ErrorIs(t, err, ErrRateLimited)
		cancel()
		_, err = l.Acquire(ctx, LaneMoney)
		require.Equal(t, context.Canceled, err)

		for retryAfter, pause := range map[time.Duration]time.Duration{0: time.Second, 2 * time.Second: 2 * time.Second, time.Hour: 3 * time.Second} {
			l = newSlotLimiter(1, 3*time.Second, time.Second)
			throttled, err := l.Acquire(t.Context(), LaneMoney)
			require.NoError(t, err)
			throttled.Release(Feedback{StatusCode: 429, RetryAfter: retryAfter})
			began := time.Now()
			_, err = l.Acquire(t.Context(), LaneMoney)
			require.NoError(t, err)
			require.Equal(t, pause, time.Since(began))
		}
	})
	ranks := map[Lane]slots.Lane{
		laneToken: slots.Token, LaneMoney: slots.Money, LaneCall: slots.Call, LaneBulk: slots.Bulk, Lane(9): slots.Call, Lane(254): slots.Call,
	}
	for lane, rank := range ranks {
		require.Equal(t, rank, lane.rank(), lane)
	}
}

func TestSlotLimiterAllocatesNothing(t *testing.T) {
	l := slotLimiter{slots.New(slots.Options{Allowance: 100_000, Window: time.Second, Share: 1})}
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(5000, func() {
		admitted, err := admit(ctx, l, LaneMoney)
		if err != nil {
			t.Fatal(err)
		}
		admitted.Release(Feedback{StatusCode: 200})
	}))
}
