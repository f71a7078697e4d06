package journal

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The lease covers the call and the rest, whatever the sender's settings are.
func TestLeaseCoversTheRest(t *testing.T) {
	t.Parallel()
	for _, rest := range []time.Duration{-time.Hour, 0, time.Second, time.Hour} {
		l := leaseOf(time.Minute, &slowBank{wait: rest})
		require.InDelta(t, 90*time.Second+max(rest, 0), l.whole(), float64(time.Millisecond))
	}
}

func TestAgeOfAClaim(t *testing.T) {
	t.Parallel()
	now := time.Now()
	wall, before := now.Round(0), time.Minute+time.Second
	require.Less(t, (&held{taken: now, wall: wall}).age(), time.Minute)
	require.Greater(t, (&held{taken: now.Add(-before), wall: wall}).age(), time.Minute, "the wall clock was set back")
	require.Greater(t, (&held{taken: now, wall: wall.Add(-before)}).age(), time.Minute, "the machine was suspended")
}

// A recorder that sees what another one takes does not keep its own outcomes until the next payment has ended.
func TestRecordersDoNotWaitForMore(t *testing.T) {
	t.Parallel()
	for range 20_000 {
		ended := make(chan *outcome, 1)
		ended <- &outcome{}
		var recorders sync.WaitGroup
		var began atomic.Int32
		for range 2 {
			recorders.Go(func() {
				for began.Add(1); began.Load() < 2; { // they look at the same moment
					runtime.Gosched()
				}
				ready(ended, nil)
			})
		}
		recorders.Wait()
	}
}
