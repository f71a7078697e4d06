package slots

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

// rateServer judges arrivals as a service might. Times count from the start of the test.
type rateServer interface{ admit(at time.Duration) bool }

// slidingServer allows limit arrivals in any window, both ends included.
type slidingServer struct {
	limit  int
	window time.Duration
	log    []time.Duration
}

func (s *slidingServer) admit(at time.Duration) bool {
	for len(s.log) > 0 && s.log[0] < at-s.window {
		s.log = s.log[1:]
	}
	if len(s.log) >= s.limit {
		return false
	}
	s.log = append(s.log, at)
	return true
}

// fixedServer allows limit arrivals in each window of a clock that runs phase ahead. A weighing server also counts the
// previous window, by the part that a sliding window would still see.
type fixedServer struct {
	limit           int
	window, phase   time.Duration
	weigh           bool
	current         int64
	count, previous int
}

func (s *fixedServer) admit(at time.Duration) bool {
	at += s.phase
	switch k := int64(at / s.window); k - s.current {
	case 0:
	case 1:
		s.current, s.previous, s.count = k, s.count, 0
	default:
		s.current, s.previous, s.count = k, 0, 0
	}
	used := float64(s.count)
	if s.weigh {
		used += float64(s.previous) * (1 - float64(at%s.window)/float64(s.window))
	}
	if used+1 > float64(s.limit) {
		return false
	}
	s.count++
	return true
}

// traffic holds the times of the requests that the simulated service admitted, and of those it refused.
type traffic struct{ served, refused []time.Duration }

// saturate sends as fast as l allows for the given fake time. A request takes 50 ms on average.
func saturate(t *testing.T, l *Limiter, server rateServer, runs time.Duration, lanes ...ratelimit.Lane) traffic {
	t.Helper()
	var (
		mu   sync.Mutex
		seen traffic
		wg   sync.WaitGroup
	)
	start := time.Now()
	hop := func() { time.Sleep(5*time.Millisecond + rand.N(40*time.Millisecond)) }
	for worker := range 96 {
		wg.Go(func() {
			for time.Since(start) < runs {
				slot, err := l.Acquire(t.Context(), lanes[worker%len(lanes)])
				if err != nil {
					t.Error(err)
					return
				}
				hop()
				mu.Lock()
				at := time.Since(start)
				ok := server.admit(at)
				if ok {
					seen.served = append(seen.served, at)
				} else {
					seen.refused = append(seen.refused, at)
				}
				mu.Unlock()
				hop()
				if ok {
					slot.Release(ratelimit.Feedback{StatusCode: http.StatusOK})
				} else {
					slot.Release(ratelimit.Feedback{StatusCode: http.StatusTooManyRequests})
				}
			}
		})
	}
	wg.Wait()
	return seen
}

// utilisation is the part of l's allowance used from the first-th request on. It is taken over whole rounds of
// the slots that the lanes may use, so that it does not depend on where in a burst the measurement ends.
func utilisation(t *testing.T, l *Limiter, served []time.Duration, first int, lanes ...ratelimit.Lane) float64 {
	t.Helper()
	rounds := (len(served) - 1 - first) / l.stock.Held
	require.Positive(t, rounds)
	took := served[first+rounds*l.stock.Held] - served[first]
	return float64(rounds) * float64(l.options.Window) / float64(took)
}

func TestSlotLimiterNever429(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		server rateServer
		lanes  []ratelimit.Lane
		share  float64
	}{
		"sliding":             {&slidingServer{limit: 1000, window: 10 * time.Second}, []ratelimit.Lane{ratelimit.Call}, 1},
		"sliding, all lanes":  {&slidingServer{limit: 1000, window: 10 * time.Second}, []ratelimit.Lane{ratelimit.Money, ratelimit.Call, ratelimit.Bulk}, 1},
		"sliding, bulk alone": {&slidingServer{limit: 1000, window: 10 * time.Second}, []ratelimit.Lane{ratelimit.Bulk}, 1},
		"fixed":               {&fixedServer{limit: 1000, window: 10 * time.Second}, []ratelimit.Lane{ratelimit.Call}, 1},
		"fixed, other phase":  {&fixedServer{limit: 1000, window: 10 * time.Second, phase: 9700 * time.Millisecond}, []ratelimit.Lane{ratelimit.Money}, 1},
		"sliding, a share":    {&slidingServer{limit: 250, window: 10 * time.Second}, []ratelimit.Lane{ratelimit.Call, ratelimit.Bulk}, 0.25},
		"fixed, tiny share":   {&fixedServer{limit: 3, window: 10 * time.Second, phase: 4 * time.Second}, []ratelimit.Lane{ratelimit.Call}, 0.003},
		"sliding, tiny share": {&slidingServer{limit: 1, window: 10 * time.Second}, []ratelimit.Lane{ratelimit.Call}, 0.001},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(1000, 10*time.Second, tt.share)
				seen := saturate(t, l, tt.server, 2*time.Minute, tt.lanes...)
				require.Empty(t, seen.refused)
				require.False(t, l.stock.paced)
				used := utilisation(t, l, seen.served, 0, tt.lanes...)
				require.GreaterOrEqual(t, used, 0.989)
				require.LessOrEqual(t, used, 1.0)
				t.Logf("used %.2f %%", 100*used)
			})
		})
	}
}

// A gateway that weighs two windows needs spaced requests, and spacing costs nothing.
func TestSlotLimiterWeighedWindows(t *testing.T) {
	t.Parallel()
	for _, phase := range []time.Duration{0, 2500 * time.Millisecond, 5 * time.Second, 9 * time.Second} {
		t.Run(phase.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLimiter(1000, 10*time.Second, 1)
				server := &fixedServer{limit: 1000, window: 10 * time.Second, phase: phase, weigh: true}
				seen := saturate(t, l, server, 3*time.Minute, ratelimit.Call)
				if refused := len(seen.refused); refused > 0 { // after the first burst
					last := seen.refused[refused-1]
					t.Logf("%d refused, last after %s", refused, last)
					require.Less(t, last, 20*time.Second)
					require.True(t, l.stock.paced)
				}
				first := 0
				for seen.served[first] < time.Minute {
					first++
				}
				used := utilisation(t, l, seen.served, first, ratelimit.Call)
				require.GreaterOrEqual(t, used, 0.989)
				t.Logf("used %.2f %%", 100*used)
			})
		})
	}
}

// Two processes that do not know of each other get 429s, but few.
func TestSlotLimiterSharedAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := &lockedServer{server: &slidingServer{limit: 1000, window: 10 * time.Second}}
		var wg sync.WaitGroup
		var seen [2]traffic
		for i := range seen {
			wg.Go(func() {
				seen[i] = saturate(t, newLimiter(1000, 10*time.Second, 1), server, 2*time.Minute, ratelimit.Call)
			})
		}
		wg.Wait()
		served, refused := len(seen[0].served)+len(seen[1].served), len(seen[0].refused)+len(seen[1].refused)
		t.Logf("%d served, %d refused", served, refused)
		require.NotZero(t, refused)
		require.Less(t, float64(refused), 0.15*float64(served))
	})
}

// lockedServer lets clients share a server.
type lockedServer struct {
	mu     sync.Mutex
	server rateServer
}

func (s *lockedServer) admit(at time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server.admit(at)
}

// admitNow judges an arrival now.
func (s *lockedServer) admitNow(start time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server.admit(time.Since(start))
}

func TestSlotLimiterManyWaiters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const waiters = 10_000
		l := newLimiter(1000, 10*time.Second, 1)
		var (
			mu    sync.Mutex
			order []int
			wg    sync.WaitGroup
		)
		for range l.stock.Held { // from here on everybody waits
			slot, err := l.Acquire(t.Context(), ratelimit.Call)
			require.NoError(t, err)
			slot.Release(ratelimit.Feedback{StatusCode: http.StatusOK})
		}
		start := time.Now()
		for i := range waiters {
			wg.Go(func() {
				slot, err := l.Acquire(t.Context(), ratelimit.Call)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				slot.Release(ratelimit.Feedback{StatusCode: http.StatusOK})
			})
			synctest.Wait() // parked, so that the order of arrival is known
		}
		require.Equal(t, waiters, l.queues[ratelimit.Call].Len())
		interval := l.stock.interval
		wait := l.options.Window - l.stock.slack + waiters*interval
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		_, err := l.Acquire(ctx, ratelimit.Call)
		require.Equal(t, &ratelimit.RefusedError{Wait: wait}, err, "10,000 at 99.5 a second are ahead")
		wg.Wait()
		require.Equal(t, wait-interval, time.Since(start))
		for i, who := range order { // the first go together, and race to report
			require.InDelta(t, i, who, 2)
		}
	})
}
