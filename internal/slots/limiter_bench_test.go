package slots

import (
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
