package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// newAlone has 100 slots in 10 s for 4 Replicas: a floor of 2, a share of 25. Nobody exchanges but the test.
func newAlone() *slots {
	l := newSlots(Options{Allowance: 100, Replicas: 4}.withDefaults(), func() {})
	l.fail(l.report())
	return l
}

func lanes() []prepaid.Lane {
	return []prepaid.Lane{prepaid.LaneMoney, prepaid.LaneCall, prepaid.LaneBulk}
}

// exchanged settles an exchange that took no time.
func exchanged(l *slots, a Grant) { l.finish(l.report(), a) }

// take uses up what can be had at once and returns how much it was.
func take(t *testing.T, l *slots, lane prepaid.Lane, f prepaid.Feedback) int {
	t.Helper()
	for n := 0; ; n++ {
		ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
		s, err := l.acquire(ctx, lane)
		cancel()
		if err != nil {
			return n
		}
		s.Release(f)
	}
}

var sent = prepaid.Feedback{StatusCode: http.StatusOK}

func TestSlotsWithoutAPoolFromTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		require.Equal(t, 2, take(t, l, prepaid.LaneMoney, sent))
		time.Sleep(l.gone - time.Nanosecond)
		require.Equal(t, 2, take(t, l, prepaid.LaneMoney, sent))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 23, take(t, l, prepaid.LaneMoney, sent))
		time.Sleep(l.window)
		require.Equal(t, 25, take(t, l, prepaid.LaneMoney, sent))
	})
}

func TestSlotsBeyondTheShareEndWithTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Granted: 98, Allot: 100, Replicas: 2})
		for range 60 {
			s, err := l.acquire(t.Context(), prepaid.LaneMoney)
			require.NoError(t, err)
			s.Release(sent)
		}
		time.Sleep(l.lease - time.Nanosecond)
		require.Equal(t, 100, l.owned())
		time.Sleep(time.Nanosecond)
		require.Equal(t, 60, l.owned(), "what rests is owned")
		require.Equal(t, 0, take(t, l, prepaid.LaneMoney, sent))
		time.Sleep(l.window)
		require.Equal(t, 25, l.owned())
		require.Equal(t, 25, take(t, l, prepaid.LaneMoney, sent))
	})
}

func TestSlotsAreKeptWhileThePoolIsAway(t *testing.T) {
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

func TestSlotsGrowOnceAllLeasesHaveEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Allot: 2, Replicas: 2})
		time.Sleep(time.Second)
		r := l.report()
		time.Sleep(200 * time.Millisecond)
		l.fail(r)
		time.Sleep(time.Second)
		l.fail(l.report()) // a second failure does not put it off
		time.Sleep(l.gone - 1200*time.Millisecond - time.Nanosecond)
		require.Equal(t, 2, l.owned())
		time.Sleep(time.Nanosecond)
		require.Equal(t, 25, l.owned())
		exchanged(l, Grant{Allot: 25, Replicas: 2})
		time.Sleep(time.Second)
		require.Equal(t, 25, l.owned())
	})
}

// A process that stood still, and missed that others were given its slots, owns nothing until it has asked.
func TestSlotsAfterStandingStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Granted: 18, Allot: 20, Replicas: 2})
		time.Sleep(l.gone)
		require.Equal(t, 0, l.owned())
		require.Zero(t, take(t, l, prepaid.LaneMoney, sent))
		r := l.report()
		require.Equal(t, 0, r.Held)
		l.fail(r)
		time.Sleep(l.gone - time.Nanosecond)
		require.Equal(t, 0, l.owned())
		time.Sleep(time.Nanosecond)
		require.Equal(t, 25, l.owned())
	})
}

// What others are to give, or the pool once it opens, is not there before it has been granted, however late that is.
func TestSlotsPromisedAreNotThere(t *testing.T) {
	t.Parallel()
	for name, promised := range map[string]Grant{
		"recalled": {Allot: 100, Replicas: 2}, "not yet open": {Allot: 2, Replicas: 2, Opens: 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newAlone()
				exchanged(l, promised)
				time.Sleep(l.lease - time.Nanosecond)
				require.Equal(t, 2, take(t, l, prepaid.LaneMoney, sent))
			})
		})
	}
}

func TestSlotsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Granted: 98, Allot: 100, Replicas: 2})
		for range 40 {
			s, err := l.acquire(t.Context(), prepaid.LaneCall)
			require.NoError(t, err)
			s.Release(sent)
		}
		r := l.report()
		require.Equal(t, Report{
			Seq: 3, Held: 45, Need: [LaneCount]int{0, 40, 0}, Known: true, at: r.at,
			Allowance: 100, Replicas: 4, Floor: 2, Lease: l.lease, Gone: l.gone,
		}, r, "an eighth stays in stock")
		l.finish(r, Grant{Give: 20, Allot: 25, Replicas: 2})
		require.Equal(t, 40, l.owned())
		time.Sleep(l.lease - time.Nanosecond)
		exchanged(l, Grant{Allot: 40, Replicas: 2}) // not to be given after all
		time.Sleep(l.lease - time.Nanosecond)
		require.Equal(t, 40, l.owned())
		r = l.report()
		require.Equal(t, 40, r.Held)
		l.finish(r, Grant{Allot: 40, Replicas: 2})
		time.Sleep(2 * time.Nanosecond) // all have rested
		require.Equal(t, 2, l.report().Held, "an idle one keeps its floor")
	})
}

func TestSlotsAnswerThatCameLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		time.Sleep(l.gone - time.Millisecond)
		r := l.report()
		time.Sleep(2 * time.Millisecond)
		require.Equal(t, 25, l.owned())
		l.finish(r, Grant{Granted: 90, Allot: 92, Replicas: 1})
		require.Equal(t, 25, l.owned(), "what the pool does not know of cannot be added to")
		exchanged(l, Grant{Granted: 20, Allot: 22, Replicas: 1})
		require.Equal(t, 22, l.owned())
		l.finish(l.report(), Grant{Granted: -1})
		require.Equal(t, 2, l.owned())
	})
}

// Alone or not, no window sees more than is owned.
func TestSlotsInAnyWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		r := l.report()
		l.finish(r, Grant{Granted: 48, Allot: 50, Replicas: 2})
		l.fail(r)
		var arrivals []time.Time
		for begin := time.Now(); time.Since(begin) < 90*time.Second; {
			s, err := l.acquire(t.Context(), lanes()[rand.N(LaneCount)])
			require.NoError(t, err)
			time.Sleep(rand.N(20 * time.Millisecond))
			arrivals = append(arrivals, time.Now())
			time.Sleep(rand.N(20 * time.Millisecond))
			s.Release(sent)
		}
		most := 0
		for i := range arrivals {
			n := 0
			for j := i; j < len(arrivals) && arrivals[j].Sub(arrivals[i]) < l.window; j++ {
				n++
			}
			most = max(most, n)
			if arrivals[i].After(arrivals[0].Add(l.lease + l.window)) {
				require.LessOrEqual(t, n, 25)
			}
		}
		require.LessOrEqual(t, most, 50)
		require.Greater(t, len(arrivals), 220)
	})
}

func TestSlotsLanes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Granted: 98, Allot: 100, Replicas: 1})
		require.Equal(t, 100, take(t, l, prepaid.LaneMoney, sent))
		order := make(chan prepaid.Lane, 100)
		wait := func(lane prepaid.Lane) {
			go func() {
				if s, err := l.acquire(t.Context(), lane); err == nil {
					order <- lane
					s.Release(sent)
				}
			}()
			synctest.Wait()
		}
		for range 3 {
			wait(prepaid.LaneBulk)
		}
		for range 3 {
			wait(prepaid.LaneCall)
		}
		for range 20 {
			wait(prepaid.LaneMoney)
		}
		exchanged(l, Grant{Allot: 100, Replicas: 1})
		time.Sleep(l.lease - time.Nanosecond)
		exchanged(l, Grant{Allot: 100, Replicas: 1})
		time.Sleep(l.lease + time.Nanosecond)
		synctest.Wait()
		var got []prepaid.Lane
		for range 26 {
			got = append(got, <-order)
		}
		counts := map[prepaid.Lane]int{}
		for _, lane := range got {
			counts[lane]++
		}
		require.Equal(t, map[prepaid.Lane]int{prepaid.LaneMoney: 20, prepaid.LaneCall: 3, prepaid.LaneBulk: 3}, counts)
	})
}

func TestSlotsTurns(t *testing.T) {
	t.Parallel()
	l := newAlone()
	for queue := range l.queues {
		for range 40 {
			l.queues[queue].push(&waiter{})
		}
	}
	var served [LaneCount]int
	for range 32 {
		queue := l.turn(0)
		served[queue]++
		l.queues[queue].passed = 0
		for i := queue + 1; i < LaneCount; i++ {
			l.queues[i].passed++
		}
	}
	require.Equal(t, [LaneCount]int{30, 1, 1}, served)
}

func TestSlotsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		exchanged(l, Grant{Granted: 48, Allot: 50, Replicas: 2})
		require.Equal(t, 50, take(t, l, prepaid.LaneMoney, sent))
		refused := func(patience time.Duration, settle func()) time.Duration {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			result := make(chan error, 1)
			began := time.Now()
			go func() {
				_, err := l.acquire(ctx, prepaid.LaneCall)
				result <- err
			}()
			synctest.Wait()
			settle()
			err := <-result
			require.Zero(t, time.Since(began), "refused at once")
			throttled, ok := errors.AsType[*prepaid.ThrottledError](err)
			require.True(t, ok, "%v", err)
			require.ErrorIs(t, err, prepaid.ErrRateLimited)
			return throttled.Wait
		}
		// The pool is asked before a call is refused, unless it has just said that there is no more.
		rested := l.resting.get(0).until - time.Since(l.start)
		require.Equal(t, rested, refused(time.Second, func() { exchanged(l, Grant{Allot: 50, Replicas: 2}) }))
		require.Equal(t, rested, refused(time.Second, func() {}))
		// What others are to give is counted.
		exchanged(l, Grant{Allot: 55, Replicas: 2})
		require.Equal(t, l.window/5, refused(time.Second, func() { exchanged(l, Grant{Allot: 55, Replicas: 2}) }))
		l.fail(l.report())
		require.Equal(t, rested, refused(time.Second, func() {}))
	})
}

func TestSlotsPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kicked := 0
		l := newSlots(Options{Allowance: 100, Replicas: 1}.withDefaults(), func() { kicked++ })
		exchanged(l, Grant{Granted: 100, Allot: 100, Replicas: 1})
		require.False(t, l.paced)
		first, err := l.acquire(t.Context(), prepaid.LaneMoney)
		require.NoError(t, err)
		second, err := l.acquire(t.Context(), prepaid.LaneMoney)
		require.NoError(t, err)
		first.Release(prepaid.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 3 * time.Second})
		require.Equal(t, 1, kicked)
		second.Release(prepaid.Feedback{StatusCode: http.StatusTooManyRequests}) // an echo
		require.Equal(t, 3*time.Second, l.report().Pause)
		require.Zero(t, take(t, l, prepaid.LaneMoney, sent))

		other := newAlone()
		exchanged(other, Grant{Granted: 50, Allot: 52, Replicas: 2, Pauses: 1, Paused: 3 * time.Second})
		began := time.Now()
		s, err := other.acquire(t.Context(), prepaid.LaneMoney)
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, time.Since(began))
		require.True(t, other.paced)
		s.Release(sent)
		_, err = other.acquire(t.Context(), prepaid.LaneMoney)
		require.NoError(t, err)
		_, err = other.acquire(t.Context(), prepaid.LaneMoney)
		require.NoError(t, err)
		require.InDelta(t, 0.2, time.Since(began.Add(3*time.Second)).Seconds(), 0.2, "evenly spaced")
		require.Positive(t, time.Since(began.Add(3*time.Second)))
	})
}

func TestSlotsLongestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		s, err := l.acquire(t.Context(), prepaid.LaneMoney)
		require.NoError(t, err)
		s.Release(prepaid.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: time.Hour})
		require.Equal(t, 15*time.Second, l.report().Pause)
		other := newAlone()
		s, err = other.acquire(t.Context(), prepaid.LaneMoney)
		require.NoError(t, err)
		s.Release(prepaid.Feedback{StatusCode: http.StatusTooManyRequests})
		require.GreaterOrEqual(t, other.report().Pause, other.window/4)
		require.LessOrEqual(t, other.report().Pause, other.window)
	})
}

func TestSlotsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		for range 5 {
			s, err := l.acquire(t.Context(), prepaid.LaneMoney)
			require.NoError(t, err)
			s.Release(prepaid.Feedback{NotSent: true})
			s.Release(prepaid.Feedback{NotSent: true}) // counts once
		}
		require.Equal(t, 2, take(t, l, prepaid.LaneMoney, sent))
	})
}

func TestSlotsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newAlone()
		require.Equal(t, 2, take(t, l, prepaid.LaneMoney, sent))
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			_, err := l.acquire(ctx, prepaid.LaneMoney)
			result <- err
		}()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-result, context.Canceled)
		require.Zero(t, l.waiting)
		_, err := l.acquire(ctx, prepaid.LaneMoney)
		require.ErrorIs(t, err, context.Canceled)
	})
}
