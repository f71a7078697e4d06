package fleettest

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// arrivals notes when requests came.
type arrivals struct {
	mu    sync.Mutex
	times []time.Time
}

func (a *arrivals) add(at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.times = append(a.times, at)
}

// busiest is the largest number within any window, sliding.
func (a *arrivals) busiest(window time.Duration) int {
	slices.SortFunc(a.times, time.Time.Compare)
	most, start := 0, 0
	for i, at := range a.times {
		for at.Sub(a.times[start]) >= window {
			start++
		}
		most = max(most, i-start+1)
	}
	return most
}

// LimitHolds checks that no window ever sees more than the allowance, while replicas come and go, are busy and idle, and the
// server hangs, dies and comes back.
func LimitHolds(t *testing.T, s Backend) {
	options := fleet.Options{Allowance: 60, Window: time.Second, Lease: 400 * time.Millisecond, Replicas: 4}
	seen := &arrivals{}
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			pool := s.Open(t, limit)
			for over := false; !over; {
				l, err := fleet.New(pool, options)
				require.NoError(t, err)
				over = busySpells(t, l, seen, stop)
				if l.Close() != nil { // a replica that starts without Redis does not know what it used before
					time.Sleep(options.Window)
				}
			}
		})
	}
	for _, act := range []func(*testing.T){s.Freeze, s.Thaw, s.Kill, s.Start, s.Kill, s.Start} {
		time.Sleep(1600 * time.Millisecond)
		act(t)
	}
	time.Sleep(1600 * time.Millisecond)
	close(stop)
	group.Wait()
	most := seen.busiest(options.Window)
	t.Logf("%d requests, at most %d of %d in any window", len(seen.times), most, options.Allowance)
	require.LessOrEqual(t, most, options.Allowance)
	require.Greater(t, len(seen.times), 300)
}

var lanes = [...]prepaid.Lane{prepaid.LaneMoney, prepaid.LaneCall, prepaid.LaneBulk}

// busySpells works and rests by turns, and says whether all is over or only this replica's life.
func busySpells(t *testing.T, l *fleet.Limiter, seen *arrivals, stop <-chan struct{}) bool {
	for range 2 + rand.N(4) {
		var callers sync.WaitGroup
		end := time.Now().Add(rand.N(600 * time.Millisecond))
		for range rand.N(40) {
			callers.Go(func() {
				for time.Now().Before(end) {
					slot, err := l.Acquire(t.Context(), lanes[rand.N(len(lanes))])
					if err != nil {
						return
					}
					seen.add(time.Now())
					time.Sleep(rand.N(5 * time.Millisecond))
					slot.Release(sent)
				}
			})
		}
		callers.Wait()
		select {
		case <-stop:
			return true
		case <-time.After(rand.N(100 * time.Millisecond)):
		}
	}
	return false
}
