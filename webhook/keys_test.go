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

func TestKeys(t *testing.T) {
	t.Parallel()
	start := StaticKeys{"a": prepaid.NewSecret(keyHex)}
	ring, err := NewKeys(start)
	require.NoError(t, err)
	delete(start, "a")
	require.Equal(t, []string{"a"}, ids(ring), "a copy was taken")

	before := ring.Keys()
	require.NoError(t, ring.Add("b", prepaid.NewSecret(otherKey)))
	require.Len(t, before, 1, "what was handed out stays as it is")
	require.Equal(t, []string{"a", "b"}, ids(ring))
	require.NoError(t, ring.Add("a", prepaid.NewSecret(otherKey)))
	require.Equal(t, otherKey, ring.Keys()["a"].Reveal(), "replaced")

	require.True(t, ring.Remove("a"))
	require.False(t, ring.Remove("a"))
	require.Equal(t, []string{"b"}, ids(ring))
}

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
