package load

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/slots"
	"github.com/cardprograms/prepaid/ratelimit"
)

// slidingWindow is a service that admits limit arrivals in any window, both ends included.
type slidingWindow struct {
	limit  int
	window time.Duration

	mu  sync.Mutex
	log []time.Time
}

func (s *slidingWindow) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for len(s.log) > 0 && now.Sub(s.log[0]) > s.window {
		s.log = s.log[1:]
	}
	if len(s.log) >= s.limit {
		return false
	}
	s.log = append(s.log, now)
	return true
}

// Timers that fire late and callers on all cores, some of which give up, never exceed the allowance, and the limiter never stalls.
func TestSlotLimiterRealTime(t *testing.T) {
	t.Parallel()
	const allowance, window = 200, 50 * time.Millisecond
	l := slots.New(slots.Options{Allowance: allowance, Window: window, Share: 1, MaxPause: time.Second, MaxRandomPause: time.Second})
	service := &slidingWindow{limit: allowance, window: window}
	var (
		served, refused atomic.Int32
		callers         sync.WaitGroup
	)
	for caller := range 64 {
		callers.Go(func() {
			for served.Load() < 4*allowance {
				timeout := time.Minute
				if caller%4 == 0 {
					timeout = window / 20 // is refused, or gives up and passes its place on
				}
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				slot, err := l.Acquire(ctx, []ratelimit.Lane{ratelimit.Money, ratelimit.Call, ratelimit.Bulk}[caller%3])
				cancel()
				if err != nil {
					time.Sleep(time.Millisecond)
					continue
				}
				if service.admit() {
					served.Add(1)
				} else {
					refused.Add(1)
				}
				slot.Release(ratelimit.Feedback{StatusCode: http.StatusOK})
			}
		})
	}
	callers.Wait()
	require.Zero(t, refused.Load())
}
