package slots

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

// moneyTraffic reports how payments fared next to readers that want more than the allowance.
type moneyTraffic struct {
	paid, refused int           // payments begun after the slots of the first burst have returned
	longest       time.Duration // wait of one of them
	arrivals      []time.Duration
}

// payNextToReads runs 200 readers without pause and a payment for every second slot of the allowance, all with a
// deadline of 5 s, for 45 s of fake time. A response takes latency on average.
func payNextToReads(t *testing.T, l *Limiter, latency time.Duration, lanes ...ratelimit.Lane) moneyTraffic {
	t.Helper()
	const deadline, runs = 5 * time.Second, 45 * time.Second
	var (
		mu   sync.Mutex
		seen moneyTraffic
		wg   sync.WaitGroup
	)
	start := time.Now()
	send := func(lane ratelimit.Lane) (waited time.Duration, err error) {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		began := time.Now()
		slot, err := l.Acquire(ctx, lane)
		waited = time.Since(began)
		if err != nil {
			return waited, err
		}
		time.Sleep(latency/10 + rand.N(latency*8/10))
		mu.Lock()
		seen.arrivals = append(seen.arrivals, time.Since(start))
		mu.Unlock()
		time.Sleep(latency/10 + rand.N(latency*8/10))
		slot.Release(ratelimit.Feedback{StatusCode: http.StatusOK})
		return waited, nil
	}
	for reader := range 200 {
		wg.Go(func() {
			for time.Since(start) < runs {
				if _, err := send(lanes[reader%len(lanes)]); err != nil {
					time.Sleep(rand.N(time.Second))
				}
			}
		})
	}
	every := 2 * l.options.Window / time.Duration(l.stock.Held)
	for time.Since(start) < runs {
		wg.Go(func() {
			began := time.Since(start)
			waited, err := send(ratelimit.Money)
			if began < l.options.Window+2*(latency-50*time.Millisecond) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if seen.longest = max(seen.longest, waited); err != nil {
				seen.refused++
			} else {
				seen.paid++
			}
		})
		time.Sleep(every)
	}
	wg.Wait()
	return seen
}

// densest returns the most arrivals in any sliding window; a fixed window has no more.
func densest(arrivals []time.Duration, window time.Duration) int {
	slices.Sort(arrivals)
	most, first := 0, 0
	for last, at := range arrivals {
		for at-arrivals[first] >= window {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}

// Readers that want more than the whole allowance do not delay payments.
func TestSlotLimiterMoneyNextToReads(t *testing.T) {
	t.Parallel()
	check := func(name string, share float64, latency time.Duration, throttled bool, lanes ...ratelimit.Lane) {
		t.Run(fmt.Sprint(name, "/", share, "/", latency), func(t *testing.T) {
			limiterBubble(t, func(t *testing.T) {
				l := newLimiter(1000, 10*time.Second, share)
				if throttled {
					releaseSlots(acquireSlots(t, l, ratelimit.Call, 1), ratelimit.Feedback{StatusCode: http.StatusTooManyRequests, RetryAfter: time.Second})
				}
				seen := payNextToReads(t, l, latency, lanes...)
				most := densest(seen.arrivals, l.options.Window)
				t.Logf("%d paid, longest wait %s, %d refused, %d in the densest window", seen.paid, seen.longest, seen.refused, most)
				require.Positive(t, seen.paid)
				require.LessOrEqual(t, seen.longest, max(time.Second, latency), "a slot may return late by its latency")
				require.Zero(t, seen.refused)
				require.LessOrEqual(t, most, l.stock.Held)
			})
		})
	}
	for _, share := range []float64{1, 0.25, 0.05} {
		for _, latency := range []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, 2 * time.Second} {
			check("both", share, latency, false, ratelimit.Call, ratelimit.Bulk)
			check("after a 429", share, latency, true, ratelimit.Call, ratelimit.Bulk)
		}
		check("calls", share, 50*time.Millisecond, false, ratelimit.Call)
		check("bulk", share, 50*time.Millisecond, false, ratelimit.Bulk)
	}
}
