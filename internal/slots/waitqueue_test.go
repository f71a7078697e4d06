package slots

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

// TestWaitQueue compares the queue with a slice under random use.
func TestWaitQueue(t *testing.T) {
	t.Parallel()
	var (
		l    = New(Options{Window: 1})
		q    = &l.queues[ratelimit.Call]
		want []*waiter
		rng  = rand.New(rand.NewPCG(1, 2))
	)
	for range 5000 {
		if len(want) == 0 || rng.IntN(100) < 52 {
			w := &waiter{}
			q.passed = 7
			q.push(w)
			if len(want) == 0 {
				require.Zero(t, q.passed, "a new line has not been passed by")
			}
			want = append(want, w)
		} else {
			i := rng.IntN(len(want))
			w := want[i]
			l.unqueue(w)
			require.Equal(t, waiter{}, *w, "a waiter that left holds on to nobody")
			want = slices.Delete(want, i, i+1)
		}
		require.Equal(t, len(want), q.Len())
		if len(want) > 0 {
			require.Same(t, want[0], q.first())
		}
	}
	i := 0
	q.each(func(w *waiter) {
		require.Same(t, want[i], w)
		l.unqueue(w)
		i++
	})
	require.Len(t, want, i)
	require.Zero(t, q.Len())
}
