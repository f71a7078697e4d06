package fleettest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// mortal is a pool that a replica cannot reach any more once it is killed.
type mortal struct {
	fleet.Pool
	killed atomic.Bool
}

var errKilled = errors.New("the replica was killed")

// Exchange implements fleet.Pool.
func (m *mortal) Exchange(ctx context.Context, r fleet.Report) (fleet.Grant, error) {
	if m.killed.Load() {
		return fleet.Grant{}, errKilled
	}
	return m.Pool.Exchange(ctx, r)
}

// LimitHolds checks that no window ever sees more than the allowance, while replicas come and go or are killed, are busy and idle, and
// the server hangs, dies and comes back.
func LimitHolds(t *testing.T, s Backend) {
	options := fleet.Options{Allowance: 60, Window: time.Second, Lease: 400 * time.Millisecond, Replicas: 4}
	seen := &arrivals{}
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			pool := &mortal{Pool: s.Open(t, "limit")}
			for over := false; !over; {
				pool.killed.Store(false)
				l, err := fleet.New(pool, options)
				require.NoError(t, err)
				over = busySpells(t, l, seen, stop)
				pool.killed.Store(rand.N(4) == 0)
				if l.Close() != nil { // a replica that starts without the server does not know what was used before
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
	most := busiest(seen.times, options.Window)
	t.Logf("%d requests, at most %d of %d in any window", len(seen.times), most, options.Allowance)
	require.LessOrEqual(t, most, options.Allowance)
	require.Greater(t, len(seen.times), 300)
}

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
					slot.Release(prepaid.Feedback{StatusCode: http.StatusOK})
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
