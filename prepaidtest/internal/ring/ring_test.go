package ring

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyTheNewestAreKept(t *testing.T) {
	t.Parallel()
	r := New[int](3)
	require.Empty(t, r.All())
	for i := range 5 {
		r.Add(i)
	}
	require.Equal(t, []int{2, 3, 4}, r.All(), "oldest first")
	none := New[int](0)
	none.Add(1)
	require.Empty(t, none.All())
}
