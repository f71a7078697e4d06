// Package fleettest tests a rate limit that [fleet.Limiter] shares through a real server. The tests of package fleet prove in
// virtual time which slots a pool grants and how a limiter uses them.
package fleettest

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/ratelimit"
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
	// Step sets the server's clock by the duration by.
	Step(t *testing.T, by time.Duration)
}

// Run runs all tests, each with a server that has just been started.
func Run(t *testing.T, start func(t *testing.T) Backend) {
	t.Run("exchanges", func(t *testing.T) { exchanges(t, start(t)) })
	t.Run("clock is set", func(t *testing.T) { clockIsSet(t, start(t)) })
	t.Run("limit holds", func(t *testing.T) {
		if arrived := LimitHolds(t, start(t)); arrived <= Enough {
			t.Skipf("too slow to tell: %d requests", arrived)
		}
	})
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

// clockIsSet checks that a replica detects a step of the server's clock, and that the slots of others stay theirs.
func clockIsSet(t *testing.T, s Backend) {
	const limit = "limit"
	pool := s.Open(t, limit)
	began := time.Now()
	exchange := func(r fleet.Report, need int) fleet.Grant {
		r.Need[0], r.Allowance, r.Lease, r.Gone = need, 100, time.Hour, 3*time.Hour
		if r.Acked > 0 {
			r.Most = time.Since(began) + time.Minute
		}
		g, err := pool.Exchange(t.Context(), r)
		require.NoError(t, err)
		return g
	}
	s.Used(t, limit)
	require.Equal(t, 80, exchange(fleet.Report{ID: "dead", Seq: 1}, 80).Granted)
	require.Equal(t, 10, exchange(fleet.Report{ID: "a", Seq: 1}, 10).Granted)
	seq := uint64(1)
	for _, by := range []time.Duration{10 * time.Hour, -10 * time.Hour, -5 * time.Hour, 5 * time.Hour} {
		s.Step(t, by)
		if by > 0 {
			require.Equal(t, fleet.Stepped, exchange(fleet.Report{ID: "a", Seq: seq + 1, Acked: seq}, 10).Granted, by)
		}
		g := exchange(fleet.Report{ID: "a", Seq: seq + 2, Acked: seq, Stepped: by > 0}, 100)
		require.Equal(t, 20, g.Granted, by)
		require.Zero(t, g.Opens, by)
		seq += 2
		require.Zero(t, exchange(fleet.Report{ID: "b", Seq: seq, Held: 0}, 100).Granted, by)
	}
	s.Step(t, 10*time.Hour)
	g := exchange(fleet.Report{ID: "c", Seq: 1}, 100)
	require.Zero(t, g.Granted, "without a report of those who may use slots")
	require.InDelta(t, 3, g.Opens.Hours(), 0.1)
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

// Enough is how many requests arrive in LimitHolds on a machine that is not slow.
const Enough = 300

// LimitHolds checks that no window ever sees more than the allowance, while replicas start, leave or are killed, are busy or idle, and
// the server hangs, dies and restarts. It returns how many requests arrived. If the machine stops the test for half a window, a
// request may arrive long after its slot was granted; LimitHolds then skips the test.
func LimitHolds(t *testing.T, s Backend) (arrived int) {
	const act = 800 * time.Millisecond // longer than the time after which the slots of a dead replica have rested
	seen := traffic{
		Options: fleet.Options{Allowance: 60, Window: time.Second / 2, Lease: 200 * time.Millisecond, Replicas: 4}, start: time.Now(),
	}
	var over atomic.Bool
	stopped := stops()
	var group sync.WaitGroup
	for range seen.Replicas {
		group.Go(func() {
			pool := &mortal{Pool: s.Open(t, "limit")}
			for !over.Load() {
				pool.killed.Store(false)
				l, err := fleet.New(pool, seen.Options)
				require.NoError(t, err)
				for range 2 + rand.N(4) {
					seen.spell(l)
				}
				pool.killed.Store(rand.N(4) == 0)
				if l.Close() != nil { // a replica started without the server would not know which slots were used before
					time.Sleep(seen.Window)
				}
			}
		})
	}
	ahead, back := func(t *testing.T) { s.Step(t, time.Hour) }, func(t *testing.T) { s.Step(t, -2*time.Hour) }
	for _, happen := range []func(*testing.T){s.Freeze, s.Thaw, ahead, s.Kill, s.Start, back, ahead, s.Kill, s.Start} {
		time.Sleep(act)
		happen(t)
	}
	time.Sleep(2 * act)
	over.Store(true)
	group.Wait()
	if longest := stopped(); longest > seen.Window/2 {
		t.Skipf("too slow to tell: the test stood still for %s", longest)
	}
	CheckLimit(t, seen.arrived, seen.Options)
	return len(seen.arrived)
}

// stops returns a function that ends the watch and returns the longest time for which the machine did not let the test run.
func stops() func() time.Duration {
	over, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		const tick = 10 * time.Millisecond
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		var longest time.Duration
		for last := time.Now(); ; {
			select {
			case <-ticker.C:
				now := time.Now()
				longest = max(longest, now.Sub(last)-tick)
				last = now
			case <-over:
				result <- longest
				return
			}
		}
	}()
	return func() time.Duration {
		close(over)
		return <-result
	}
}

// traffic is the requests that arrived at the service.
type traffic struct {
	fleet.Options

	start   time.Time
	mu      sync.Mutex
	arrived []time.Duration // times since the start
}

func (s *traffic) spell(l *fleet.Limiter) {
	var callers sync.WaitGroup
	end := time.Now().Add(rand.N(300 * time.Millisecond))
	for range rand.N(40) {
		callers.Go(func() {
			for time.Now().Before(end) && s.send(l) {
			}
		})
	}
	callers.Wait()
	time.Sleep(rand.N(50 * time.Millisecond))
}

// send sends one request, and reports whether it was admitted. Each way takes up to 2.5 ms.
func (s *traffic) send(l *fleet.Limiter) bool {
	slot, err := l.Acquire(context.Background(), 1+rand.N(ratelimit.Bulk))
	if err != nil {
		return false
	}
	there := rand.N(2500 * time.Microsecond)
	s.mu.Lock()
	s.arrived = append(s.arrived, time.Since(s.start)+there)
	s.mu.Unlock()
	time.Sleep(there + rand.N(2500*time.Microsecond))
	slot.Release(ratelimit.Feedback{StatusCode: http.StatusOK})
	return true
}

// CheckLimit checks the times at which requests arrived: no window had more than the allowance.
func CheckLimit(t *testing.T, arrived []time.Duration, limit fleet.Options) {
	t.Helper()
	slices.Sort(arrived)
	most, first := 0, 0 // most requests in a sliding window; a fixed window has no more
	for last, at := range arrived {
		for at-arrived[first] >= limit.Window {
			first++
		}
		most = max(most, last-first+1)
	}
	t.Logf("%d requests, at most %d of %d in any window", len(arrived), most, limit.Allowance)
	require.LessOrEqual(t, most, limit.Allowance)
}
