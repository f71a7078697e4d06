package fleet_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/ratelimit"
)

var lanes = [...]ratelimit.Lane{ratelimit.Money, ratelimit.Call, ratelimit.Bulk}

// load describes replicas behind one address that always want more than the service's allowance.
type load struct {
	// Options are the options of each replica, with Allowance and Window. Replicas is the number of replicas.
	fleet.Options
	// Callers is the number of callers in each replica: an eighth for payments, the rest for calls and bulk.
	Callers int
	// If Trickle is set, payments want two fifths of the allowance, reads alone want more than all of it, and no caller waits longer
	// than half a window. Otherwise payments alone want more than the allowance, and all callers wait.
	Trickle bool
	For     time.Duration
	// Distance is the longest time to the service and back.
	Distance time.Duration
}

// traffic is the requests that arrived at the service.
type traffic struct {
	load

	start time.Time

	mu      sync.Mutex
	arrived []time.Duration          // times since the start
	counts  [][][fleet.LaneCount]int // requests by replica and minute; the last minute may be longer
	// In a trickle, waited and refused count only payments that began after two windows.
	waited  time.Duration // the longest wait
	refused int
}

func (o load) traffic() *traffic {
	seen := &traffic{load: o, start: time.Now()}
	for range o.Replicas {
		seen.counts = append(seen.counts, make([][fleet.LaneCount]int, max(1, int(o.For/time.Minute))))
	}
	return seen
}

// run sends as much as the limiters of pool admit.
func (o load) run(t *testing.T, open func() fleet.Pool) *traffic {
	t.Helper()
	seen, payers := o.traffic(), o.Replicas*((o.Callers+7)/8)
	var group sync.WaitGroup
	for replica := range o.Replicas {
		l, err := fleet.New(open(), o.Options)
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		for caller := range o.Callers {
			lane := 1 + caller%2
			if caller%8 == 0 {
				lane = 0
			}
			group.Go(func() {
				for time.Since(seen.start) < o.For {
					if !seen.send(l, replica, lane) {
						time.Sleep(rand.N(o.Window / 20))
					} else if o.Trickle && lane == 0 {
						time.Sleep(rand.N(5 * time.Duration(payers) * o.Window / time.Duration(o.Allowance)))
					}
				}
			})
		}
	}
	group.Wait()
	return seen
}

// send sends one request, and reports whether it was admitted in time. Each way takes up to half of Distance.
func (s *traffic) send(l *fleet.Limiter, replica, lane int) bool {
	ctx, began := context.Background(), time.Since(s.start)
	if s.Trickle {
		bounded, cancel := context.WithTimeout(ctx, s.Window/2)
		defer cancel()
		ctx = bounded
	}
	slot, err := l.Acquire(ctx, lanes[lane])
	now := time.Since(s.start)
	if err == nil && now >= s.For {
		slot.Release(ratelimit.Feedback{NotSent: true})
		return false
	}
	there := rand.N(s.Distance / 2)
	s.mu.Lock()
	if !s.Trickle || lane == 0 && began > 2*s.Window {
		s.waited = max(s.waited, now-began)
		if err != nil {
			s.refused++
		}
	}
	if err == nil {
		minutes := s.counts[replica]
		minutes[min(int(now/time.Minute), len(minutes)-1)][lane]++
		s.arrived = append(s.arrived, now+there)
	}
	s.mu.Unlock()
	if err != nil {
		return false
	}
	time.Sleep(there + rand.N(s.Distance/2))
	slot.Release(ok)
	return true
}

// spell keeps up to 39 callers busy for a while.
func (s *traffic) spell(l *fleet.Limiter, replica int) {
	var callers sync.WaitGroup
	end := time.Now().Add(rand.N(300 * time.Millisecond))
	for range rand.N(40) {
		callers.Go(func() {
			for time.Now().Before(end) && s.send(l, replica, rand.N(len(lanes))) {
			}
		})
	}
	callers.Wait()
	time.Sleep(rand.N(50 * time.Millisecond))
}

// check checks that at least the given part of the allowance was used, that no window had more than the allowance, that no replica
// and no lane starved, and that no request (in a trickle: no payment) was refused or waited longer than the duration longest.
func (s *traffic) check(t *testing.T, least float64, longest time.Duration) {
	t.Helper()
	checkLimit(t, s.arrived, s.Options)
	seldom, fewest := len(s.arrived), len(s.arrived) // fewest requests of a lane of a replica in a minute, and of a replica in total
	for _, minutes := range s.counts {
		all := 0
		for _, minute := range minutes {
			for _, n := range minute {
				all += n
				seldom = min(seldom, n)
			}
		}
		fewest = min(fewest, all)
	}
	used := float64(len(s.arrived)) / float64(s.Allowance) * s.Window.Seconds() / s.For.Seconds()
	even := float64(len(s.arrived)) / float64(s.Replicas)
	t.Logf("%.2f %% of the allowance; the least of a replica %.1f %% of an even share, of a lane in a minute %d; longest wait %s",
		100*used, 100*float64(fewest)/even, seldom, s.waited.Round(time.Millisecond))
	require.GreaterOrEqual(t, used, least)
	if s.For >= time.Minute { // in the first windows, the first replicas have more
		require.GreaterOrEqual(t, float64(fewest), 0.9*even)
	}
	require.Positive(t, seldom)
	require.LessOrEqual(t, s.waited, longest)
	require.Zero(t, s.refused)
}

// checkLimit checks the times at which requests arrived: no window had more than the allowance.
func checkLimit(t *testing.T, arrived []time.Duration, limit fleet.Options) {
	t.Helper()
	slices.Sort(arrived)
	for last, at := range arrived[min(limit.Allowance, len(arrived)):] { // a fixed window has no more than a sliding one
		require.GreaterOrEqual(t, at-arrived[last], limit.Window)
	}
}
