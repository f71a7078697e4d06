package fleettest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// MoneyNextToReads checks that readers that want more than the allowance do not hold up payments, in their own replica or in
// another: after the first window no payment is refused or waits longer than a tenth of the window.
func MoneyNextToReads(t *testing.T, s Backend) {
	for replicas, allowances := range map[int][]int{1: {200, 50}, 2: {200}, 3: {200}} {
		for _, allowance := range allowances {
			t.Run(fmt.Sprint(allowance, "/", replicas), func(t *testing.T) {
				t.Parallel()
				options := fleet.Options{
					Allowance: allowance, Window: 2 * time.Second, Replicas: replicas, Lease: time.Second,
				}
				s.Used(t, t.Name())
				var limiters []*fleet.Limiter
				for range replicas {
					limiters = append(limiters, newLimiter(t, s.Open(t, t.Name()), options))
				}
				seen := &arrivals{}
				var refused, paid, read, longest atomic.Int64
				var group sync.WaitGroup
				start, runs := time.Now(), 5*options.Window
				use := func(l *fleet.Limiter, lane prepaid.Lane) (time.Duration, error) {
					ctx, cancel := context.WithTimeout(t.Context(), options.Window/2)
					defer cancel()
					began := time.Now()
					slot, err := l.Acquire(ctx, lane)
					if err != nil {
						return 0, err
					}
					waited := time.Since(began)
					seen.add(time.Now())
					time.Sleep(rand.N(10 * time.Millisecond))
					slot.Release(sent)
					return waited, nil
				}
				for reader := range 20 {
					group.Go(func() {
						for time.Since(start) < runs {
							if _, err := use(limiters[reader%replicas], []prepaid.Lane{prepaid.LaneCall, prepaid.LaneBulk}[reader%2]); err != nil {
								time.Sleep(rand.N(100 * time.Millisecond))
							} else {
								read.Add(1)
							}
						}
					})
				}
				for i := 0; time.Since(start) < runs; i++ {
					group.Go(func() {
						late := time.Since(start) > options.Window+options.Window/10
						waited, err := use(limiters[i%replicas], prepaid.LaneMoney)
						switch {
						case !late:
						case err != nil:
							refused.Add(1)
						default:
							paid.Add(1)
							for old := longest.Load(); int64(waited) > old && !longest.CompareAndSwap(old, int64(waited)); old = longest.Load() {
							}
						}
					})
					time.Sleep(2 * options.Window / time.Duration(options.Allowance))
				}
				group.Wait()
				most := seen.busiest(options.Window)
				t.Logf("%d paid, %d refused, longest wait %s, %d reads, at most %d of %d in a window, used %.1f %%", paid.Load(), refused.Load(),
					time.Duration(longest.Load()), read.Load(), most, options.Allowance, 100*float64(len(seen.times))/float64(options.Allowance)/float64(runs/options.Window))
				require.Zero(t, refused.Load())
				require.LessOrEqual(t, time.Duration(longest.Load()), options.Window/10)
				require.LessOrEqual(t, most, options.Allowance)
			})
		}
	}
}
