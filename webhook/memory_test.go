package webhook

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func claim(t *testing.T, store ClaimStore, id string, lease time.Duration) Claim {
	t.Helper()
	c, err := store.Claim(t.Context(), id, lease)
	require.NoError(t, err)
	return c
}

func requireState(t *testing.T, want ClaimState, c Claim) {
	t.Helper()
	require.Equal(t, want.String(), c.State().String())
}

// A full store forgets the messages handled longest ago, and never a live lease.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := Memory(3, time.Hour)
		a := claim(t, store, "a", time.Minute)
		b := claim(t, store, "b", time.Minute)
		live := claim(t, store, "live", time.Minute)
		require.NoError(t, b.Done(t.Context()))
		time.Sleep(time.Second)
		require.NoError(t, a.Done(t.Context()))

		c := claim(t, store, "c", 30*time.Second)
		requireState(t, ClaimWon, c)
		requireState(t, ClaimDone, claim(t, store, "a", time.Minute))
		requireState(t, ClaimWon, claim(t, store, "b", 10*time.Second)) // b replaces a

		_, err := store.Claim(t.Context(), "d", time.Minute)
		require.Equal(t, ErrClaimsFull, err)
		requireState(t, ClaimInFlight, claim(t, store, "live", time.Minute))

		time.Sleep(10 * time.Second) // the lease of b ends first, although c and live were taken before
		requireState(t, ClaimWon, claim(t, store, "d", time.Minute))
		require.NoError(t, c.Done(t.Context()))
		require.NoError(t, live.Done(t.Context()))
	})
}

func TestMemoryHoldsNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, ok := Memory(100, time.Hour).(*memory)
		require.True(t, ok)
		for i := range 1000 {
			c := claim(t, store, strconv.Itoa(i), time.Minute)
			if i%10 > 0 {
				require.NoError(t, c.Done(t.Context()))
			}
			time.Sleep(time.Second)
		}
		require.Len(t, store.entries, 100)
		require.Equal(t, 100, len(store.leased)+len(store.handled))
		time.Sleep(time.Hour)
		claim(t, store, "x", time.Minute)
		require.Len(t, store.entries, 1, "what ended is gone")
	})
}

func TestMemoryDefaults(t *testing.T) {
	t.Parallel()
	for _, zero := range []int{0, -1} {
		store, ok := Memory(zero, time.Duration(zero)).(*memory)
		require.True(t, ok)
		require.Equal(t, 100_000, store.limit)
		require.Equal(t, 24*time.Hour, store.keep)
		_, err := store.Claim(t.Context(), "a", 0)
		require.Equal(t, []string{"lease"}, fields(t, err))
	}
}
