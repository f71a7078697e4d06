package webhook

import (
	"context"
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

func TestMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := Memory(10, time.Hour)
		first := claim(t, store, "a", time.Minute)
		requireState(t, ClaimWon, first)
		second := claim(t, store, "a", time.Minute)
		requireState(t, ClaimInFlight, second)
		requireState(t, ClaimWon, claim(t, store, "b", time.Minute))
		require.Equal(t, ErrClaimLost, second.Done(t.Context()), "it was not won")
		require.Equal(t, ErrClaimLost, second.Release(t.Context()))

		require.NoError(t, first.Release(t.Context()))
		require.Equal(t, ErrClaimLost, first.Release(t.Context()))
		require.Equal(t, ErrClaimLost, first.Done(t.Context()))
		third := claim(t, store, "a", time.Minute)
		requireState(t, ClaimWon, third)
		require.Equal(t, ErrClaimLost, first.Done(t.Context()), "the lease is another's by now")

		require.NoError(t, third.Done(t.Context()))
		require.Equal(t, ErrClaimLost, third.Done(t.Context()))
		require.Equal(t, ErrClaimLost, third.Release(t.Context()), "what is handled stays handled")
		done := claim(t, store, "a", time.Minute)
		requireState(t, ClaimDone, done)
		require.Equal(t, ErrClaimLost, done.Release(t.Context()))

		time.Sleep(time.Hour - time.Nanosecond)
		requireState(t, ClaimDone, claim(t, store, "a", time.Minute))
		time.Sleep(time.Nanosecond)
		requireState(t, ClaimWon, claim(t, store, "a", time.Minute))
	})
}

func TestMemoryJustInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := Memory(10, time.Hour)
		c := claim(t, store, "a", time.Minute)
		time.Sleep(time.Minute - time.Nanosecond)
		requireState(t, ClaimInFlight, claim(t, store, "a", time.Minute))
		require.NoError(t, c.Done(t.Context()))
	})
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
	}
}

func TestMemoryRefuses(t *testing.T) {
	t.Parallel()
	store := Memory(0, 0)
	_, err := store.Claim(t.Context(), "a", 0)
	require.Equal(t, []string{"lease"}, fields(t, err))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = store.Claim(over, "a", time.Minute)
	require.ErrorIs(t, err, context.Canceled)
	requireState(t, ClaimWon, claim(t, store, "a", time.Minute))
	require.Equal(t, "invalid", ClaimState(0).String())
}
