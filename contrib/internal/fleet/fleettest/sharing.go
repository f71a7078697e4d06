package fleettest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	const act = 1600 * time.Millisecond
	seen := Load{
		Options: fleet.Options{Allowance: 60, Window: time.Second, Lease: 400 * time.Millisecond, Replicas: 4},
		For:     8 * act, Distance: 5 * time.Millisecond,
	}.traffic()
	var group sync.WaitGroup
	for replica := range seen.load.Replicas {
		group.Go(func() {
			pool := &mortal{Pool: s.Open(t, "limit")}
			for time.Since(seen.start) < seen.load.For {
				pool.killed.Store(false)
				l, err := fleet.New(pool, seen.load.Options)
				require.NoError(t, err)
				for range 2 + rand.N(4) {
					seen.spell(l, replica)
				}
				pool.killed.Store(rand.N(4) == 0)
				if l.Close() != nil { // a replica that starts without the server does not know what was used before
					time.Sleep(seen.load.Window)
				}
			}
		})
	}
	for _, happen := range []func(*testing.T){s.Freeze, s.Thaw, s.Kill, s.Start, s.Kill, s.Start} {
		time.Sleep(act)
		happen(t)
	}
	group.Wait()
	seen.checkLimit(t)
	require.Greater(t, len(seen.arrived), 300)
}

// spell has a replica work and rest.
func (s *Traffic) spell(l *fleet.Limiter, replica int) {
	var callers sync.WaitGroup
	end := time.Now().Add(rand.N(600 * time.Millisecond))
	for range rand.N(40) {
		callers.Go(func() {
			for time.Now().Before(end) && s.send(l, replica, rand.N(len(lanes))) {
			}
		})
	}
	callers.Wait()
	time.Sleep(rand.N(100 * time.Millisecond))
}
