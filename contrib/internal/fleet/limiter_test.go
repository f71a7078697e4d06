package fleet_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/ratelimit"
)

// virtually runs check on virtual time, next to a pool in memory.
func virtually(t *testing.T, check func(*testing.T, *memory)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { check(t, newMemory()) })
}

// poolFunc is a pool of one function.
type poolFunc func(context.Context, fleet.Report) (fleet.Grant, error)

// Exchange implements fleet.Pool.
func (f poolFunc) Exchange(ctx context.Context, r fleet.Report) (fleet.Grant, error) {
	return f(ctx, r)
}

// mortal is the pool of a replica that dead kills.
func mortal(pool fleet.Pool, dead *atomic.Bool) fleet.Pool {
	return poolFunc(func(ctx context.Context, report fleet.Report) (fleet.Grant, error) {
		if dead.Load() {
			return fleet.Grant{}, errDead
		}
		return pool.Exchange(ctx, report)
	})
}

// quick are options whose windows are short.
func quick() fleet.Options {
	return fleet.Options{Allowance: 40, Window: 400 * time.Millisecond, Lease: 200 * time.Millisecond}
}

// goneOf is how long after its last exchange a replica's slots have rested.
func goneOf(o fleet.Options) time.Duration { return o.Lease + o.Window + o.Window/10 }

func newLimiter(t *testing.T, pool fleet.Pool, options fleet.Options) *fleet.Limiter {
	t.Helper()
	l, err := fleet.New(pool, options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

var ok = ratelimit.Feedback{StatusCode: http.StatusOK}

// use takes a slot and gives it back.
func use(t *testing.T, l *fleet.Limiter) {
	t.Helper()
	s, err := l.Acquire(t.Context(), ratelimit.Call)
	require.NoError(t, err)
	s.Release(ok)
}

// No window ever sees more than the allowance, while replicas start, leave or are killed, are busy or idle, and the server hangs, dies
// and restarts, and its clock is set.
func TestLimitHolds(t *testing.T) {
	for life := range 20 {
		t.Run(strconv.Itoa(life), func(t *testing.T) { virtually(t, limitHolds) })
	}
}

func limitHolds(t *testing.T, s *memory) {
	const act = 800 * time.Millisecond // longer than the time after which the slots of a dead replica have rested
	seen := load{
		Options: fleet.Options{Allowance: 60, Window: time.Second / 2, Lease: 200 * time.Millisecond, Replicas: 4},
		For:     time.Minute, Distance: 5 * time.Millisecond,
	}.traffic()
	var over atomic.Bool
	var group sync.WaitGroup
	for replica := range seen.Replicas {
		group.Go(func() {
			for !over.Load() {
				var dead atomic.Bool
				l, err := fleet.New(mortal(s.Open(t, "limit"), &dead), seen.Options)
				require.NoError(t, err)
				for range 2 + rand.N(4) {
					seen.spell(l, replica)
				}
				dead.Store(rand.N(4) == 0)
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
	checkLimit(t, seen.arrived, seen.Options)
	require.Greater(t, len(seen.arrived), 300)
}

// A leaving replica hands over all its slots, and refuses waiting calls.
func TestLimiterClose(t *testing.T) {
	virtually(t, func(t *testing.T, s *memory) {
		s.Used(t, "limit")
		one, two := newLimiter(t, s.Open(t, "limit"), quick()), newLimiter(t, s.Open(t, "limit"), quick())
		for range 30 {
			use(t, one)
		}
		busy, err := one.Acquire(t.Context(), ratelimit.Call)
		require.NoError(t, err)
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				for {
					if _, err := one.Acquire(context.Background(), ratelimit.Bulk); err != nil {
						require.ErrorIs(t, err, prepaid.ErrClosed)
						return
					}
				}
			})
		}
		time.Sleep(20 * time.Millisecond)
		require.NoError(t, one.Close())
		require.NoError(t, one.Close())
		group.Wait()
		_, err = one.Acquire(t.Context(), ratelimit.Call)
		require.ErrorIs(t, err, prepaid.ErrClosed)
		busy.Release(ok)
		for range 40 {
			use(t, two)
		}
	})
}

// An unreachable pool does not delay Close.
func TestLimiterCloseWithoutStore(t *testing.T) {
	virtually(t, func(t *testing.T, s *memory) {
		s.Freeze(t)
		away := s.Open(t, "")
		l, err := fleet.New(away, fleet.Options{})
		require.NoError(t, err)
		began := time.Now()
		require.Error(t, l.Close())
		require.Less(t, time.Since(began), 2*time.Second)
	})
}

// The share of a replica that has never reached its pool.
func TestLimiterStartWithoutStore(t *testing.T) {
	virtually(t, func(t *testing.T, s *memory) {
		s.Kill(t)
		away := s.Open(t, "")
		reported := make(chan fleet.Status, 10)
		options := quick()
		options.Replicas, options.OnChange = 2, func(s fleet.Status) { reported <- s }
		l, err := fleet.New(away, options)
		require.NoError(t, err)
		began := time.Now()
		use(t, l)
		use(t, l) // the floor
		require.Less(t, time.Since(began), 300*time.Millisecond)
		for range 18 { // the share, a lease and a window later
			use(t, l)
		}
		require.Greater(t, time.Since(began), goneOf(options)-time.Millisecond)
		require.Less(t, time.Since(began), goneOf(options)+2*time.Second)
		require.Len(t, reported, 1)
		require.Error(t, (<-reported).Err)
		require.False(t, l.Status().Shared)
		require.Error(t, l.Close())
	})
}

// OnChange and the log may panic or end their goroutine: the limiter shares as before.
func TestLimiterHooksMisbehave(t *testing.T) {
	for name, misbehaves := range map[string]func(){"panic": func() { panic("x") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, s *memory) {
				options := quick()
				options.Logger, options.OnChange = slog.New(rudeHandler(misbehaves)), func(fleet.Status) { misbehaves() }
				l := newLimiter(t, s.Open(t, "limit"), options)
				for range 200 {
					use(t, l)
				}
				require.True(t, l.Status().Shared)
				require.NoError(t, l.Close())
			})
		})
	}
}

type rudeHandler func()

func (h rudeHandler) Enabled(context.Context, slog.Level) bool { h(); return true }
func (rudeHandler) Handle(context.Context, slog.Record) error  { return nil }
func (h rudeHandler) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h rudeHandler) WithGroup(string) slog.Handler            { return h }

// If the replica has a slot, a server that does not respond delays no call.
func TestLimiterStoreHangs(t *testing.T) {
	virtually(t, func(t *testing.T, s *memory) {
		var log bytes.Buffer
		reported := make(chan fleet.Status, 10)
		options := quick()
		options.Replicas, options.OnChange = 2, func(s fleet.Status) { reported <- s }
		options.Logger = slog.New(slog.NewTextHandler(&log, nil))
		l := newLimiter(t, s.Open(t, "limit"), options)
		for range 40 {
			use(t, l)
		}
		s.Freeze(t)
		require.Eventually(t, func() bool { return len(reported) == 2 }, 3*time.Second, time.Millisecond)
		time.Sleep(goneOf(options))
		require.Equal(t, 20, l.Status().Slots)
		began := time.Now()
		for range 20 {
			use(t, l)
		}
		require.Less(t, time.Since(began), 200*time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began = time.Now()
		_, err := l.Acquire(ctx, ratelimit.Call)
		require.ErrorIs(t, err, prepaid.ErrRateLimited)
		require.Less(t, time.Since(began), 50*time.Millisecond)
		s.Thaw(t)
		require.Eventually(t, func() bool { return len(reported) == 3 }, 3*time.Second, time.Millisecond)
		for range 60 {
			use(t, l)
		}
		require.NoError(t, l.Close())
		for _, shared := range []bool{true, false, true} {
			status := <-reported
			require.Equal(t, shared, status.Shared)
			require.Equal(t, shared, status.Err == nil)
		}
		require.Equal(t, 1, strings.Count(log.String(), "level=WARN"))
		require.Equal(t, 2, strings.Count(log.String(), "level=INFO"))
	})
}

// A 429 of one replica pauses another.
func TestLimiterPausesTheOthers(t *testing.T) {
	virtually(t, func(t *testing.T, s *memory) {
		s.Used(t, "limit")
		one, two := newLimiter(t, s.Open(t, "limit"), quick()), newLimiter(t, s.Open(t, "limit"), quick())
		use(t, two)
		slot, err := one.Acquire(t.Context(), ratelimit.Money)
		require.NoError(t, err)
		began := time.Now()
		slot.Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: 600 * time.Millisecond})
		time.Sleep(100 * time.Millisecond) // far more than one exchange
		use(t, two)
		require.Greater(t, time.Since(began), 590*time.Millisecond)
	})
}

// A serial caller does not make a round trip for each slot.
func TestLimiterAsksInBlocks(t *testing.T) {
	virtually(t, func(t *testing.T, s *memory) {
		s.Used(t, "limit")
		var exchanges atomic.Int64
		inner := s.Open(t, "limit")
		pool := poolFunc(func(ctx context.Context, r fleet.Report) (fleet.Grant, error) {
			exchanges.Add(1)
			return inner.Exchange(ctx, r)
		})
		l := newLimiter(t, pool, fleet.Options{Allowance: 1000, Window: time.Second, Lease: 300 * time.Millisecond})
		for range 990 {
			use(t, l)
		}
		t.Logf("%d exchanges for 990 calls", exchanges.Load())
		require.Less(t, exchanges.Load(), int64(120))
	})
}

// Reads that want more than the allowance do not delay payments in any replica.
func TestMoneyNextToReads(t *testing.T) {
	for replicas, allowances := range map[int][]int{1: {200, 50}, 2: {200}, 3: {200}} {
		for _, allowance := range allowances {
			t.Run(fmt.Sprint(allowance, "/", replicas), func(t *testing.T) {
				virtually(t, func(t *testing.T, s *memory) {
					const window = 2 * time.Second
					s.Used(t, "limit")
					users := load{
						Options: fleet.Options{Allowance: allowance, Window: window, Replicas: replicas, Lease: time.Second},
						Callers: 32, Trickle: true, For: 5 * window, Distance: 20 * time.Millisecond,
					}
					users.run(t, func() fleet.Pool { return distant(s.Open(t, "limit")) }).check(t, 0, window/10)
				})
			})
		}
	}
}

func TestLimiterRefusesOptions(t *testing.T) {
	t.Parallel()
	_, err := fleet.New(nil, fleet.Options{
		Replicas: -1, Allowance: -1, Window: -1, Lease: -1, Timeout: -1, MaxPause: -1,
	}, prepaid.FieldError{Field: "key", Rule: "is too long"})
	invalid, isInvalid := err.(*prepaid.ValidationError)
	require.True(t, isInvalid)
	require.Len(t, invalid.Faults, 7)
	require.Equal(t, "key", invalid.Faults[0].Field)
}

// An exchange without effect has no number of replicas.
func TestLimiterKeepsReplicas(t *testing.T) {
	virtually(t, func(t *testing.T, _ *memory) {
		l := newLimiter(t, poolFunc(func(_ context.Context, r fleet.Report) (fleet.Grant, error) {
			if r.Seq > 1 {
				return fleet.Grant{Granted: fleet.Stepped}, nil
			}
			return fleet.Grant{Replicas: 3}, nil
		}), quick())
		time.Sleep(time.Second)
		require.Equal(t, 3, l.Status().Replicas)
	})
}
