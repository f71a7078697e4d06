package slots

import (
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

// fixedServer allows limit arrivals in each window of a clock that runs phase ahead.
type fixedServer struct {
	limit         int
	window, phase time.Duration
	current       int64
	count         int
}

func (s *fixedServer) admit(at time.Duration) bool {
	at += s.phase
	if k := int64(at / s.window); k != s.current {
		s.current, s.count = k, 0
	}
	if s.count >= s.limit {
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

// utilisation is the part of l's allowance used. It is taken over whole rounds of the slots, so that it does not depend on
// where in a burst the measurement ends.
func utilisation(t *testing.T, l *Limiter, served []time.Duration) float64 {
	t.Helper()
	rounds := (len(served) - 1) / l.stock.Held
	require.Positive(t, rounds)
	took := served[rounds*l.stock.Held] - served[0]
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
				used := utilisation(t, l, seen.served)
				require.GreaterOrEqual(t, used, 0.989)
				require.LessOrEqual(t, used, 1.0)
				t.Logf("used %.2f %%", 100*used)
			})
		})
	}
}

// lockedServer lets goroutines share a server.
type lockedServer struct {
	mu     sync.Mutex
	server rateServer
}

// admitNow judges an arrival now.
func (s *lockedServer) admitNow(start time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server.admit(time.Since(start))
}
