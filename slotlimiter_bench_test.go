package prepaid

import (
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
