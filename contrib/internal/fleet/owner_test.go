package fleet

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/ratelimit"
)

// newAlone has 100 slots in 10 s for 4 Replicas: a floor of 2, a share of 25. Only the test exchanges.
func newAlone() *owner {
	l := newOwner(withDefaults(Options{Allowance: 100, Replicas: 4}), func() {})
	l.fail(l.report())
	return l
}

// exchanged completes an exchange that took no time.
func exchanged(l *owner, a Grant) { l.finish(l.report(), a) }

func owned(l *owner) int {
	held, _ := l.owned()
	return held
}

// take uses up the slots that are free at once and returns their number.
func take(t *testing.T, l *owner, lane ratelimit.Lane, f ratelimit.Feedback) int {
	t.Helper()
	for n := 0; ; n++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		s, err := l.Acquire(ctx, lane)
		cancel()
		if err != nil {
			return n
		}
		s.Release(f)
	}
}

var sent = ratelimit.Feedback{StatusCode: http.StatusOK}

func TestOwnerWithoutAPoolFromTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		require.Equal(t, 2, take(t, l, ratelimit.Money, sent))
		time.Sleep(l.gone - time.Nanosecond)
		require.Equal(t, 2, take(t, l, ratelimit.Money, sent))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 23, take(t, l, ratelimit.Money, sent))
		time.Sleep(l.options.Window)
		require.Equal(t, 25, take(t, l, ratelimit.Money, sent))
	})
}

func TestOwnerBeyondTheShareEndWithTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Granted: 98, Allot: 100, Replicas: 2})
		for range 60 {
			s, err := l.Acquire(t.Context(), ratelimit.Money)
			require.NoError(t, err)
			s.Release(sent)
		}
		time.Sleep(l.options.Lease - time.Nanosecond)
		require.Equal(t, 100, owned(l))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 60, owned(l), "what rests is owned")
		require.Equal(t, 0, take(t, l, ratelimit.Money, sent))
		time.Sleep(l.options.Window)
		require.Equal(t, 25, owned(l))
		require.Equal(t, 25, take(t, l, ratelimit.Money, sent))
	})
}

func TestOwnerAreKeptWhileThePoolIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		r := l.report()
		l.finish(r, Grant{Granted: 48, Allot: 50, Replicas: 2})
		l.fail(r)
		time.Sleep(time.Second)
		require.Equal(t, 50, l.report().Held)
		exchanged(l, Grant{Allot: 50, Replicas: 2})
		require.Equal(t, 2, l.report().Held)
	})
}

func TestOwnerGrowOnceAllLeasesHaveEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Allot: 2, Replicas: 2})
		time.Sleep(time.Second)
		r := l.report()
		time.Sleep(200 * time.Millisecond)
		l.fail(r)
		time.Sleep(time.Second)
		l.fail(l.report()) // a second failure does not delay it
		time.Sleep(l.gone - 1200*time.Millisecond - time.Nanosecond)
		require.Equal(t, 2, owned(l))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 25, owned(l))
		exchanged(l, Grant{Allot: 25, Replicas: 2})
		time.Sleep(time.Second)
		require.Equal(t, 25, owned(l))
	})
}

// After a process was suspended, others may own its slots: it owns none before an exchange.
func TestOwnerAfterStandingStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Granted: 18, Allot: 20, Replicas: 2})
		time.Sleep(l.gone)
		require.Equal(t, 0, owned(l))
		require.Zero(t, take(t, l, ratelimit.Money, sent))
		r := l.report()
		require.Equal(t, 0, r.Held)
		l.fail(r)
		time.Sleep(l.gone - time.Nanosecond)
		require.Equal(t, 0, owned(l))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 25, owned(l))
	})
}

// Slots that others or an opening pool will give cannot be used before they are granted, however late.
func TestOwnerPromisedAreNotThere(t *testing.T) {
	t.Parallel()
	for name, promised := range map[string]Grant{
		"recalled": {Allot: 100, Replicas: 2}, "not yet open": {Allot: 2, Replicas: 2, Opens: 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newAlone()
				exchanged(l, promised)
				time.Sleep(l.options.Lease - time.Nanosecond)
				require.Equal(t, 2, take(t, l, ratelimit.Money, sent))
			})
		})
	}
}

// A report has the time since the last response, and confirms only a response that arrived.
func TestOwnerKnowsWhatTimePassed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		r := l.report()
		time.Sleep(time.Millisecond)
		l.finish(r, Grant{Replicas: 1})
		for _, granted := range []int{Void, Stepped} {
			exchanged(l, Grant{Granted: granted})
		}
		time.Sleep(time.Second)
		next := l.report()
		require.Equal(t, Report{Acked: r.Seq, Least: time.Second, Most: time.Second + time.Millisecond + l.options.Timeout, Stepped: true},
			Report{Acked: next.Acked, Least: next.Least, Most: next.Most, Stepped: next.Stepped})
		l.fail(next)
		require.False(t, l.report().Stepped)
	})
}

func TestOwnerGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Granted: 98, Allot: 100, Replicas: 2})
		for range 40 {
			s, err := l.Acquire(t.Context(), ratelimit.Call)
			require.NoError(t, err)
			s.Release(sent)
		}
		r := l.report()
		require.Equal(t, Report{
			Seq: 3, Held: 45, Need: [LaneCount]int{0, 40, 0}, Known: true, at: r.at, Acked: 2, Most: l.options.Timeout,
			Allowance: 100, Replicas: 4, Floor: 2, Lease: l.options.Lease, Gone: l.gone,
		}, r, "an eighth stays in stock")
		l.finish(r, Grant{Give: 20, Allot: 25, Replicas: 2})
		require.Equal(t, 40, owned(l))
		time.Sleep(l.options.Lease - time.Nanosecond)
		exchanged(l, Grant{Allot: 40, Replicas: 2}) // not to be given after all
		time.Sleep(l.options.Lease - time.Nanosecond)
		require.Equal(t, 40, owned(l))
		r = l.report()
		require.Equal(t, 40, r.Held)
		l.finish(r, Grant{Allot: 40, Replicas: 2})
		time.Sleep(2 * time.Nanosecond) // all have rested
		require.Equal(t, 2, l.report().Held, "an idle one keeps its floor")
	})
}

func TestOwnerAnswerThatCameLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		time.Sleep(l.gone - time.Millisecond)
		r := l.report()
		time.Sleep(2 * time.Millisecond)
		require.Equal(t, 25, owned(l))
		l.finish(r, Grant{Granted: 90, Allot: 92, Replicas: 1})
		require.Equal(t, 25, owned(l), "what the pool does not know of cannot be added to")
		exchanged(l, Grant{Granted: 20, Allot: 22, Replicas: 1})
		require.Equal(t, 22, owned(l))
		l.finish(l.report(), Grant{Granted: -1})
		require.Equal(t, 2, owned(l))
	})
}

func TestOwnerDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Granted: 48, Allot: 50, Replicas: 2})
		require.Equal(t, 50, take(t, l, ratelimit.Money, sent))
		refused := func(patience time.Duration, settle func()) time.Duration {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			result := make(chan error, 1)
			began := time.Now()
			go func() {
				_, err := l.Acquire(ctx, ratelimit.Call)
				result <- err
			}()
			synctest.Wait()
			settle()
			err := <-result
			require.Zero(t, time.Since(began), "refused at once")
			throttled, ok := errors.AsType[*ratelimit.RefusedError](err)
			require.True(t, ok, "%v", err)
			require.ErrorIs(t, err, prepaid.ErrRateLimited)
			return throttled.Wait
		}
		// Before a call is refused, the owner asks the pool, unless it has just reported no more slots.
		rested := l.options.Window - time.Nanosecond // the last call waited for as long
		require.Equal(t, rested, refused(time.Second, func() { exchanged(l, Grant{Allot: 50, Replicas: 2}) }))
		require.Equal(t, rested, refused(time.Second, func() {}))
		// Slots that others must give are counted.
		exchanged(l, Grant{Allot: 55, Replicas: 2})
		require.Equal(t, l.options.Window/5, refused(time.Second, func() { exchanged(l, Grant{Allot: 55, Replicas: 2}) }))
		l.fail(l.report())
		require.Equal(t, rested, refused(time.Second, func() {}))
	})
}

func TestOwnerPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kicked := 0
		l := newOwner(withDefaults(Options{Allowance: 100, Replicas: 1}), func() { kicked++ })
		exchanged(l, Grant{Granted: 100, Allot: 100, Replicas: 1})
		first, err := l.Acquire(t.Context(), ratelimit.Money)
		require.NoError(t, err)
		second, err := l.Acquire(t.Context(), ratelimit.Money)
		require.NoError(t, err)
		first.Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 3 * time.Second})
		require.Equal(t, 2, kicked, "by the first call after the idle time, and by the pause")
		second.Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests}) // an echo
		require.Equal(t, 3*time.Second, l.report().Pause)
		require.Zero(t, take(t, l, ratelimit.Money, sent))

		other := newAlone()
		exchanged(other, Grant{Granted: 50, Allot: 52, Replicas: 2, Pauses: 1, Paused: 3 * time.Second})
		began := time.Now()
		s, err := other.Acquire(t.Context(), ratelimit.Money)
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(began))
		s.Release(sent)
		_, err = other.Acquire(t.Context(), ratelimit.Money)
		require.NoError(t, err)
		_, err = other.Acquire(t.Context(), ratelimit.Money)
		require.NoError(t, err)
		require.InDelta(t, 0.2, time.Since(began.Add(3*time.Second)).Seconds(), 0.2, "evenly spaced")
		require.Positive(t, time.Since(began.Add(3*time.Second)))
	})
}

func TestOwnerLongestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		s, err := l.Acquire(t.Context(), ratelimit.Money)
		require.NoError(t, err)
		s.Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: time.Hour})
		require.Equal(t, 15*time.Second, l.report().Pause)
		other := newAlone()
		s, err = other.Acquire(t.Context(), ratelimit.Money)
		require.NoError(t, err)
		s.Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests})
		require.GreaterOrEqual(t, other.report().Pause, other.options.Window/4)
		require.LessOrEqual(t, other.report().Pause, other.options.Window)
	})
}
