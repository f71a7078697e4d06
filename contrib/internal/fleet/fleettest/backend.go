// Package fleettest tests a rate limit that [fleet.Limiter] shares through a real server. The tests of package fleet prove in
// virtual time which slots a pool grants and how a limiter uses them.
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

// Backend is a server that keeps limits, with events that can happen to it. Errors fail t.
type Backend interface {
	// Open returns a limit's pool with its own connections, closed after the test.
	Open(t *testing.T, name string) fleet.Pool
	// Used prepares a limit that replicas have used and left: the limit grants slots at once.
	Used(t *testing.T, name string)
	Freeze(t *testing.T)
	Thaw(t *testing.T)
	Kill(t *testing.T)
	Start(t *testing.T)
}

// Run runs all tests, each with a server that has just been started.
func Run(t *testing.T, start func(t *testing.T) Backend) {
	t.Run("exchanges", func(t *testing.T) { exchanges(t, start(t)) })
	t.Run("limit holds", func(t *testing.T) { LimitHolds(t, start(t)) })
}

// exchanges checks that a pool detects another server or lost data, and that an exchange ends with its context.
func exchanges(t *testing.T, s Backend) {
	const limit, gone = "limit", time.Hour
	pool := s.Open(t, limit)
	var seq uint64
	exchange := func(patience time.Duration) (fleet.Grant, error) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		seq++
		return pool.Exchange(ctx, fleet.Report{ID: "a", Seq: seq, Need: [fleet.LaneCount]int{0, 10, 0}, Allowance: 100, Lease: time.Minute, Gone: gone})
	}
	grants := func(want int, opens time.Duration) {
		t.Helper()
		var g fleet.Grant
		require.Eventually(t, func() (done bool) { // at first, a client may find its connections closed
			var err error
			g, err = exchange(time.Second)
			return err == nil
		}, 10*time.Second, 10*time.Millisecond)
		require.Equal(t, want, g.Granted)
		require.InDelta(t, opens.Minutes(), g.Opens.Minutes(), 1)
	}
	fails := func() {
		t.Helper()
		began := time.Now()
		_, err := exchange(200 * time.Millisecond)
		require.Error(t, err)
		require.Less(t, time.Since(began), 2*time.Second)
	}
	grants(0, gone) // slots used before the server started are unknown
	s.Used(t, limit)
	grants(10, 0)
	s.Freeze(t)
	fails()
	s.Thaw(t)
	grants(10, 0)
	s.Kill(t)
	fails()
	s.Start(t)
	grants(0, gone)
}

// mortal is the pool of a replica that can be killed.
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

// LimitHolds checks that no window ever sees more than the allowance, while replicas start, leave or are killed, are busy or idle, and
// the server hangs, dies and restarts.
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
				if l.Close() != nil { // a replica started without the server would not know which slots were used before
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
	seen.CheckLimit(t)
	require.Greater(t, len(seen.arrived), 300)
}

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
