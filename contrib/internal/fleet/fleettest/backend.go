// Package fleettest tests that a store shares a rate limit as [fleet.Limiter] promises: the grants of its pool one by one, the
// limiters of one process, and replicas that are processes of their own next to the emulated service.
package fleettest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// Backend is a real server that keeps limits, and what can happen to it. What fails, fails t.
type Backend interface {
	// Open returns the pool of a limit, over connections of its own that are closed with the test.
	Open(t *testing.T, name string) fleet.Pool
	// Address is how the process of a replica reaches the server.
	Address() string
	// Used makes a limit one that replicas have used, all of which have left: it grants at once.
	Used(t *testing.T, name string)
	// Moved makes the state of a limit one that another server has left.
	Moved(t *testing.T, name string)
	Freeze(t *testing.T)
	Thaw(t *testing.T)
	Kill(t *testing.T)
	Start(t *testing.T)
}

// quick are options whose windows are short, for a server that has just been started.
func quick() fleet.Options {
	return fleet.Options{Allowance: 40, Window: 400 * time.Millisecond, Lease: 200 * time.Millisecond}
}

// goneOf is how long after its last exchange all that a replica used has rested.
func goneOf(o fleet.Options) time.Duration { return o.Lease + o.Window + o.Window/10 }

// limit is the name of the limit in tests that have one.
const limit = "prepaid:limit"

func newLimiter(t *testing.T, pool fleet.Pool, options fleet.Options) *fleet.Limiter {
	t.Helper()
	l, err := fleet.New(pool, options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

var sent = prepaid.Feedback{StatusCode: http.StatusOK}

// use takes a slot and gives it back.
func use(t *testing.T, l *fleet.Limiter) {
	t.Helper()
	s, err := l.Acquire(t.Context(), prepaid.LaneCall)
	require.NoError(t, err)
	s.Release(sent)
}
