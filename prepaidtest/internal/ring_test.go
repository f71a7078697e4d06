package internal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ring"
)

func TestAHeavyEntryMakesRoom(t *testing.T) {
	t.Parallel()
	r := ring.New(4, 10, func(n int) int { return n })
	for _, n := range []int{3, 3, 3} {
		r.Add(n)
	}
	require.Equal(t, []int{3, 3, 3}, r.All())
	r.Add(5)
	require.Equal(t, []int{3, 5}, r.All())
	r.Add(99)
	require.Equal(t, []int{99}, r.All(), "the newest stays")
	for range 9 {
		r.Add(1)
	}
	require.Equal(t, []int{1, 1, 1, 1}, r.All())
}
