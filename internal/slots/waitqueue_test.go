package slots

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWaitQueue compares the queue with a slice under random use.
func TestWaitQueue(t *testing.T) {
	t.Parallel()
	var (
		q    waitQueue
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
			q.remove(w)
			require.Equal(t, waiter{}, *w, "a waiter that left holds on to nobody")
			want = slices.Delete(want, i, i+1)
		}
		require.Equal(t, len(want), q.n)
		if len(want) > 0 {
			require.Same(t, want[0], q.head)
			require.Same(t, want[len(want)-1], q.tail)
		}
	}
	i := 0
	for w := range q.all() {
		require.Same(t, want[i], w)
		q.remove(w)
		i++
	}
	require.Len(t, want, i)
	require.Nil(t, q.head)
	require.Nil(t, q.tail)
}

func TestTimeRing(t *testing.T) {
	t.Parallel()
	r := timeRing{at: make([]time.Duration, 3)}
	require.Zero(t, r.dropUntil(time.Hour))
	for i := range time.Duration(20) { // goes round several times
		r.push(10 * i)
		r.push(10*i + 1)
		r.push(10*i + 1)
		require.Equal(t, []time.Duration{10 * i, 10*i + 1, 10*i + 1}, []time.Duration{r.get(0), r.get(1), r.get(2)})
		require.Zero(t, r.dropUntil(10*i-1))
		require.Equal(t, 1, r.dropUntil(10*i))
		require.Equal(t, 10*i+1, r.get(0))
		require.Equal(t, 2, r.dropUntil(10*i+5))
		require.Zero(t, r.n)
	}
}
