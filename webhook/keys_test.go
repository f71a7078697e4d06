package webhook

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func ids(ring KeyRing) []string { return slices.Sorted(maps.Keys(ring.Keys())) }

func TestKeysRefuseBadOnes(t *testing.T) {
	t.Parallel()
	good, short := prepaid.NewSecret(keyHex), prepaid.NewSecret("00")
	_, err := NewKeys(StaticKeys{"a": short, "": good})
	require.Equal(t, []string{"keys", "keys"}, fields(t, err))
	var ring Keys
	require.False(t, ring.Remove("a"))
	require.Equal(t, []string{"keys"}, fields(t, ring.Add("", good)))
	require.Equal(t, []string{"keys"}, fields(t, ring.Add("a", short)))
	require.Empty(t, ring.Keys())
	require.NoError(t, ring.Add("a", good))
	require.Equal(t, []string{"a"}, ids(&ring))

	none, err := NewKeys(nil)
	require.NoError(t, err)
	require.NoError(t, none.Add("a", good))
}

func TestKeysConcurrently(t *testing.T) {
	t.Parallel()
	var ring Keys
	var wg sync.WaitGroup
	for i := range 400 {
		wg.Go(func() {
			id := strconv.Itoa(i)
			if ring.Add(id, prepaid.NewSecret(keyHex)) != nil || ring.Keys()[id].IsZero() {
				t.Error("key lost")
			}
			if i%2 == 0 && !ring.Remove(id) {
				t.Error("key not removed")
			}
		})
	}
	wg.Wait()
	require.Len(t, ring.Keys(), 200)
}
