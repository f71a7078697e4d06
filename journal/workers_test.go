package journal

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// The lease covers the call and the rest for any settings of the sender.
func TestLeaseCoversTheRest(t *testing.T) {
	t.Parallel()
	for _, rest := range []time.Duration{-time.Hour, 0, time.Second, time.Hour} {
		l := leaseOf(time.Minute, resting{rest: rest})
		require.InDelta(t, 90*time.Second+max(rest, 0), l.Sends+l.Rest, float64(time.Millisecond))
	}
}

type resting struct {
	Sender

	rest time.Duration
}

func (r resting) NotBefore(lastSent time.Time) time.Time { return lastSent.Add(r.rest) }

func TestAgeOfAClaim(t *testing.T) {
	t.Parallel()
	now := time.Now()
	wall, before := now.Round(0), time.Minute+time.Second
	require.Less(t, (&held{taken: now, wall: wall}).age(), time.Minute)
	require.Greater(t, (&held{taken: now.Add(-before), wall: wall}).age(), time.Minute, "the wall clock was set back")
	require.Greater(t, (&held{taken: now, wall: wall.Add(-before)}).age(), time.Minute, "the machine was suspended")
}

// If another recorder takes the outcome that a recorder saw, it does not delay its own outcomes until the next payment ends.
func TestRecordersDoNotWaitForMore(t *testing.T) {
	t.Parallel()
	for range 20_000 {
		ended := make(chan *outcome, 1)
		ended <- &outcome{}
		var recorders sync.WaitGroup
		var began atomic.Int32
		for range 2 {
			recorders.Go(func() {
				for began.Add(1); began.Load() < 2; { // both look at once
					runtime.Gosched()
				}
				ready(ended, nil)
			})
		}
		recorders.Wait()
	}
}

// slowCommits is a store whose commits take long.
type slowCommits struct {
	Store

	takes time.Duration
	calls atomic.Int32
}

func (s *slowCommits) Record(_ context.Context, ends []End) ([]Recorded, error) {
	s.calls.Add(1)
	time.Sleep(s.takes)
	return make([]Recorded, len(ends)), nil
}

// Outcomes that arrive during a commit share the next one, or get their own if the commit takes long.
func TestOutcomesShareCommits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		takes       time.Duration
		least, most int32 // calls
	}{{10 * time.Millisecond, 1, 12}, {time.Second, 4, 4}} {
		synctest.Test(t, func(t *testing.T) {
			store := &slowCommits{takes: c.takes}
			r := &work{
				store: store, stops: func() bool { return false }, wake: make(chan struct{}, 1),
				ended: make(chan *outcome, recorders*group), collecting: make(chan struct{}, 1),
			}
			var writers sync.WaitGroup
			for range recorders {
				writers.Go(func() { r.record(t.Context()) })
			}
			for range 100 {
				r.ended <- &outcome{}
				time.Sleep(time.Millisecond)
			}
			close(r.ended)
			writers.Wait()
			require.GreaterOrEqual(t, store.calls.Load(), c.least)
			require.LessOrEqual(t, store.calls.Load(), c.most)
		})
	}
}
