package fleet_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/ratelimit"
)

// requests are the payments of a fleet that wants more than its allowance, 1,000 in 10 s.
type requests struct {
	t       *testing.T
	server  *memory
	mu      sync.Mutex
	arrived []time.Time
}

// open starts a replica, and returns a function that kills it.
func (r *requests) open() (l *fleet.Limiter, kill func()) {
	var dead atomic.Bool
	return newLimiter(r.t, mortal(r.server.Open(r.t, "limit"), &dead), fleet.Options{Replicas: 2}), func() { dead.Store(true) }
}

// send sends all that replicas admit to 40 callers each in the given time, and returns how much that was.
func send(r *requests, lasts time.Duration, replicas ...*fleet.Limiter) int {
	ctx, cancel := context.WithTimeout(r.t.Context(), lasts)
	defer cancel()
	before := len(r.arrived)
	var group sync.WaitGroup
	for i := range 40 * len(replicas) {
		group.Go(func() {
			for ctx.Err() == nil {
				s, err := replicas[i%len(replicas)].Acquire(ctx, ratelimit.Money)
				if err != nil { // perhaps a later request is admitted
					time.Sleep(100 * time.Millisecond)
					continue
				}
				r.mu.Lock()
				r.arrived = append(r.arrived, time.Now())
				r.mu.Unlock()
				s.Release(ok)
			}
		})
	}
	group.Wait()
	return len(r.arrived) - before
}

// Whatever the server's clock does, no window has more than the allowance, and replicas go on within a window.
func TestServerClockIsSet(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(*requests, func()){
		"idle replicas":        idleReplicas,
		"busy replicas":        busyReplicas,
		"the replica's death":  aDeath,
		"a death among others": aDeathAmongOthers,
		"a start":              aStart,
		"an orderly restart":   anOrderlyRestart,
		"an outage":            anOutage,
	} {
		for _, steps := range [][]time.Duration{
			{0}, {time.Hour}, {-time.Hour}, {-20 * time.Second}, {20 * time.Second}, {24 * 365 * time.Hour}, {10 * time.Hour, -10 * time.Hour},
		} {
			t.Run(fmt.Sprint(name, steps), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					r := &requests{t: t, server: newMemory()}
					r.server.Step(t, steps[0])
					r.server.Used(t, "limit")
					check(r, func() { r.server.Step(t, steps[len(steps)-1]) })
					slices.SortFunc(r.arrived, time.Time.Compare)
					for i := 1000; i < len(r.arrived); i++ {
						require.GreaterOrEqual(t, r.arrived[i].Sub(r.arrived[i-1000]), window)
					}
				})
			})
		}
	}
}

const window = 10 * time.Second

var gone = goneOf(fleet.Options{Window: window, Lease: fleet.DefaultLease})

func idleReplicas(r *requests, step func()) {
	l, _ := r.open()
	r.open()
	time.Sleep(time.Minute)
	step()
	require.GreaterOrEqual(r.t, send(r, window-time.Millisecond, l), 900)
}

func busyReplicas(r *requests, step func()) {
	one, _ := r.open()
	two, _ := r.open()
	time.AfterFunc(3*window/2, step)
	require.GreaterOrEqual(r.t, send(r, 3*window, one, two), 2900)
}

func aDeath(r *requests, step func()) {
	l, kill := r.open()
	require.Equal(r.t, 950, send(r, time.Second, l))
	kill()
	step()
	l, _ = r.open()
	require.GreaterOrEqual(r.t, send(r, gone+window, l), 900)
}

func aDeathAmongOthers(r *requests, step func()) {
	r.open()
	l, kill := r.open()
	require.GreaterOrEqual(r.t, send(r, time.Second, l), 900)
	kill()
	step()
	l, _ = r.open()
	require.GreaterOrEqual(r.t, send(r, gone+window, l), 900)
}

func aStart(r *requests, step func()) {
	l, _ := r.open()
	require.Equal(r.t, 950, send(r, time.Second, l))
	step()
	l, _ = r.open()
	require.GreaterOrEqual(r.t, send(r, 2*window, l), 900)
}

func anOrderlyRestart(r *requests, step func()) {
	l, _ := r.open()
	require.Equal(r.t, 950, send(r, time.Second, l))
	require.NoError(r.t, l.Close())
	step()
	l, _ = r.open()
	require.GreaterOrEqual(r.t, send(r, gone+window, l), 900)
}

func anOutage(r *requests, step func()) {
	one, _ := r.open()
	two, _ := r.open()
	require.GreaterOrEqual(r.t, send(r, window, one), 900)
	r.server.Freeze(r.t)
	step()
	time.AfterFunc(4*window, func() { r.server.Thaw(r.t) })
	send(r, 6*window, one, two)
	require.GreaterOrEqual(r.t, send(r, 2*window, two), 900)
}

// After 20 s in which nobody reached the server, replicas may use more slots than the state has, whatever the server's clock says.
func TestServerClockIsSetInAnOutage(t *testing.T) {
	t.Parallel()
	const now = int64(1_700_000_000_000)
	fresh := fleet.Report{ID: "a", Acked: 2, Least: 20 * time.Second, Most: 21 * time.Second}
	newcomer, lost, late := fleet.Report{ID: "b"}, fresh, fresh
	lost.Acked = 1 // of two
	late.Least, late.Most = 100*time.Millisecond, time.Second
	for name, test := range map[string]struct {
		report       fleet.Report
		passed, step time.Duration
		want         fleet.Grant
	}{
		"no step":                 {fresh, 20 * time.Second, 0, fleet.Grant{Opens: gone}},
		"back":                    {fresh, 20 * time.Second, -time.Hour, fleet.Grant{Opens: gone}},
		"a little back":           {fresh, 20 * time.Second, -17 * time.Second, fleet.Grant{Opens: gone}},
		"a response lost":         {lost, time.Second, 0, fleet.Grant{Granted: 10}},
		"back, newcomer":          {newcomer, 20 * time.Second, -time.Hour, fleet.Grant{Opens: gone}},
		"back, a response lost":   {lost, 20 * time.Second, -time.Hour, fleet.Grant{Opens: gone}},
		"ahead":                   {fresh, 20 * time.Second, time.Hour, fleet.Grant{Granted: fleet.Stepped}},
		"late report":             {late, 20 * time.Second, 0, fleet.Grant{Granted: fleet.Stepped}},
		"back, no outage":         {late, time.Second, -time.Hour, fleet.Grant{Granted: 10}},
		"back, lost, no outage":   {fleet.Report{ID: "a", Acked: 1, Most: 2 * time.Second}, time.Second, -time.Hour, fleet.Grant{Granted: 10}},
		"newcomer, no outage":     {newcomer, 4 * time.Second, 0, fleet.Grant{Granted: 10}},
		"a replica that was away": {fleet.Report{ID: "c", Acked: 5, Least: time.Hour, Most: time.Hour}, time.Second, 0, fleet.Grant{Granted: 10}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var state fleet.State
			exchange := func(at time.Duration, r fleet.Report) fleet.Grant {
				r.Allowance, r.Lease, r.Gone, r.Need[0] = 100, 5*time.Second, gone, 10
				return state.Exchange(fleet.Server{Run: "run", Now: now + at.Milliseconds(), Up: gone.Milliseconds()}, r)
			}
			exchange(-time.Millisecond, fleet.Report{ID: "a", Seq: 1, Pause: 30 * time.Second})
			exchange(0, fleet.Report{ID: "a", Seq: 2})
			test.report.Seq = 9
			got := exchange(test.passed+test.step, test.report)
			require.Equal(t, test.want, fleet.Grant{Granted: got.Granted, Opens: got.Opens})
			require.LessOrEqual(t, got.Paused, 30*time.Second)
			if got.Granted == fleet.Stepped { // the response arrives, or a report that is not late follows
				next := fresh
				next.Seq, next.Stepped = 10, test.step > 0
				require.Equal(t, gone, exchange(test.passed+test.step, next).Opens)
			}
		})
	}
}
