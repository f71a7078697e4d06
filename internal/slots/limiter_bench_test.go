package slots

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

func TestSlotLimiterAllocates(t *testing.T) {
	l := newLimiter(100_000, 10*time.Second, 1)
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(5000, func() {
		slot, err := l.Acquire(ctx, ratelimit.Money)
		if err != nil {
			t.Fatal(err)
		}
		slot.Release(responded)
	}))
}

func BenchmarkSlotLimiter(b *testing.B) {
	feedbacks := map[string]ratelimit.Feedback{"response": responded, "not sent": {NotSent: true}}
	for name, f := range feedbacks {
		b.Run(name, func(b *testing.B) {
			l := newLimiter(1<<17, time.Millisecond, 1)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				slot, err := l.Acquire(ctx, ratelimit.Call)
				if err != nil {
					b.Fatal(err)
				}
				slot.Release(f)
			}
		})
	}
}

// BenchmarkSlotLimiterLine has 10,000 callers wait for slots that return one at a time, and counts callers that got
// theirs before earlier callers. All are payments: a timer spaces a backlog of others.
func BenchmarkSlotLimiterLine(b *testing.B) {
	const callers = 10_000
	overtaken := 0
	for b.Loop() {
		l := newLimiter(1, time.Nanosecond, 1)
		first, err := l.Acquire(b.Context(), ratelimit.Money)
		require.NoError(b, err)
		order := make(chan int, callers)
		var line sync.WaitGroup
		for i := range callers {
			line.Go(func() {
				slot, err := l.Acquire(b.Context(), ratelimit.Money)
				if err != nil {
					b.Error(err)
					return
				}
				order <- i // before the slot goes to the next
				slot.Release(responded)
			})
			for standing := 0; standing <= i; runtime.Gosched() {
				l.mu.Lock()
				standing = l.queues[ratelimit.Money].Len()
				l.mu.Unlock()
			}
		}
		first.Release(responded)
		line.Wait()
		close(order)
		last := -1
		for i := range order {
			if i < last {
				overtaken++
			}
			last = max(last, i)
		}
	}
	b.ReportMetric(float64(overtaken), "overtaken")
}
