// Package fleettest tests the [fleet.Pool] of a real server. The tests of package fleet prove in virtual time which slots a pool grants
// and how a limiter uses them.
package fleettest

import (
	"context"
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

// Run checks, with a server that has just been started, that a pool detects another server or lost data, and that an exchange ends with
// its context.
func Run(t *testing.T, s Backend) {
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
			g, err = exchange(10 * time.Second)
			return err == nil
		}, time.Minute, 10*time.Millisecond)
		require.Equal(t, want, g.Granted)
		require.InDelta(t, opens.Minutes(), g.Opens.Minutes(), 1)
	}
	fails := func() {
		t.Helper()
		began := time.Now()
		_, err := exchange(200 * time.Millisecond)
		require.Error(t, err)
		require.Less(t, time.Since(began), time.Minute)
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
