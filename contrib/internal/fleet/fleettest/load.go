package fleettest

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// Load is replicas behind one address that always want more than the service's allowance of 1,000 in 10 s.
type Load struct {
	// Replicas is how many there are; each has Callers, an eighth of them for payments, the others for calls and bulk.
	Replicas, Callers int
	// Trickle has payments come now and then, next to reads that alone want more than the allowance. Otherwise payments do.
	Trickle bool
	For     time.Duration
	// Distance is the longest time to the service and back.
	Distance time.Duration
}

// Traffic is what arrived at the service.
type Traffic struct {
	window   time.Duration
	lasted   time.Duration
	arrivals []time.Duration // since the start, in order
	replicas int
	seldom   int           // the fewest requests of one lane of one replica in any minute, or in all if it was shorter
	fewest   int           // requests of one replica
	waited   time.Duration // longest wait of one of the payments that trickle, after the first two windows
}

// Run sends as much as the limiters of pool admit. The first half of each request's time is its way to the service.
func (o Load) Run(t *testing.T, open func() fleet.Pool) *Traffic {
	t.Helper()
	const window = 10 * time.Second
	seen := &Traffic{window: window, lasted: o.For, replicas: o.Replicas}
	minutes := max(1, int(o.For/time.Minute))
	counts := make([][][fleet.LaneCount]int, o.Replicas)
	start := time.Now()
	var mu sync.Mutex
	var group sync.WaitGroup
	for i := range o.Replicas {
		l := newLimiter(t, open(), fleet.Options{Replicas: o.Replicas, Timeout: time.Second})
		counts[i] = make([][fleet.LaneCount]int, minutes)
		for caller := range o.Callers {
			lane := lanes[1+caller%2]
			if caller%8 == 0 {
				lane = prepaid.LaneMoney
			}
			group.Go(func() {
				for {
					began := time.Since(start)
					s, err := l.Acquire(context.Background(), lane)
					if err != nil {
						t.Error(err)
						return
					}
					now := time.Since(start)
					if now >= o.For {
						s.Release(prepaid.Feedback{NotSent: true})
						return
					}
					there := rand.N(o.Distance / 2)
					mu.Lock()
					seen.arrivals = append(seen.arrivals, now+there)
					counts[i][min(int(now/time.Minute), minutes-1)][slices.Index(lanes[:], lane)]++
					if o.Trickle && lane == prepaid.LaneMoney && began > 2*window {
						seen.waited = max(seen.waited, now-began)
					}
					mu.Unlock()
					time.Sleep(there + rand.N(o.Distance/2))
					s.Release(sent)
					if o.Trickle && lane == prepaid.LaneMoney {
						time.Sleep(rand.N(time.Second))
					}
				}
			})
		}
	}
	group.Wait()
	slices.Sort(seen.arrivals)
	seen.seldom, seen.fewest = len(seen.arrivals), len(seen.arrivals)
	for _, replica := range counts {
		all := 0
		for _, minute := range replica {
			for _, n := range minute {
				all += n
				seen.seldom = min(seen.seldom, n)
			}
		}
		seen.fewest = min(seen.fewest, all)
	}
	return seen
}

// Check checks that the part of the allowance that was used is at least so much, that no window had more than the allowance, and
// that neither a replica nor a lane starved.
func (s *Traffic) Check(t *testing.T, least float64) {
	t.Helper()
	const allowance = 1000
	sliding, first := 0, 0
	for i, at := range s.arrivals {
		for at-s.arrivals[first] >= s.window {
			first++
		}
		sliding = max(sliding, i-first+1)
	}
	fixed := 0
	for phase := time.Duration(0); phase < s.window; phase += s.window / 20 {
		count, current := 0, time.Duration(-1)
		for _, at := range s.arrivals {
			if k := (at + phase) / s.window; k != current {
				current, count = k, 0
			}
			count++
			fixed = max(fixed, count)
		}
	}
	used := float64(len(s.arrivals)) / allowance * s.window.Seconds() / s.lasted.Seconds()
	even := float64(len(s.arrivals)) / float64(s.replicas)
	t.Logf("%d requests, %.2f %% of the allowance; at most %d in a sliding window, %d in a fixed one; the least of a replica %.1f %% of an even share, of a lane in a minute %d; longest wait of a payment in the trickle %s",
		len(s.arrivals), 100*used, sliding, fixed, 100*float64(s.fewest)/even, s.seldom, s.waited.Round(time.Millisecond))
	require.LessOrEqual(t, sliding, allowance)
	require.LessOrEqual(t, fixed, allowance)
	require.GreaterOrEqual(t, used, least)
	if s.lasted >= time.Minute { // in the first windows, whoever came first has more
		require.GreaterOrEqual(t, float64(s.fewest), 0.9*even)
	}
	require.Positive(t, s.seldom)
	require.Less(t, s.waited, s.window/2)
}
