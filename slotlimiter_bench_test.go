package prepaid

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSlotLimiterAllocates(t *testing.T) {
	l := newSlotLimiter(100_000, 10*time.Second, 1, 0)
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(5000, func() {
		slot, err := l.Acquire(ctx, LaneMoney)
		if err != nil {
			t.Fatal(err)
		}
		slot.Release(slotAnswered)
	}))
}

func BenchmarkSlotLimiter(b *testing.B) {
	feedbacks := map[string]Feedback{"answered": slotAnswered, "not sent": {NotSent: true}}
	for name, f := range feedbacks {
		b.Run(name, func(b *testing.B) {
			l := newSlotLimiter(1<<17, time.Millisecond, 1, 0)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				slot, err := l.Acquire(ctx, LaneCall)
				if err != nil {
					b.Fatal(err)
				}
				slot.Release(f)
			}
		})
	}
}

func BenchmarkSlotLimiterParallel(b *testing.B) {
	l := newSlotLimiter(1<<17, time.Millisecond, 1, 0)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			slot, err := l.Acquire(b.Context(), LaneCall)
			if err != nil {
				b.Error(err)
				return
			}
			slot.Release(slotAnswered)
		}
	})
}

// BenchmarkSlotLimiterLine lets 10,000 callers stand in line for slots that come back one at a time, and counts those
// who got theirs before somebody who had come earlier. They are payments: a backlog of others is spaced by a timer.
func BenchmarkSlotLimiterLine(b *testing.B) {
	const callers = 10_000
	overtaken := 0
	for b.Loop() {
		l := newSlotLimiter(1, time.Nanosecond, 1, 0)
		first, err := l.Acquire(b.Context(), LaneMoney)
		require.NoError(b, err)
		order := make(chan int, callers)
		var line sync.WaitGroup
		for i := range callers {
			line.Go(func() {
				slot, err := l.Acquire(b.Context(), LaneMoney)
				if err != nil {
					b.Error(err)
					return
				}
				order <- i // before the slot goes to the next
				slot.Release(slotAnswered)
			})
			for standing := 0; standing <= i; runtime.Gosched() {
				l.mu.Lock()
				standing = l.waiting
				l.mu.Unlock()
			}
		}
		first.Release(slotAnswered)
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
