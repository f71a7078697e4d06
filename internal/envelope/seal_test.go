package envelope

import (
	"crypto"
	"encoding/hex"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/operator"
)

func testKey(t testing.TB) Key {
	t.Helper()
	key, rule := NewKey(&operator.Key().PublicKey, crypto.SHA256, 0)
	require.Empty(t, rule)
	return key
}

func TestSealNeverRepeatsKeyOrVector(t *testing.T) {
	t.Parallel()
	const callers, each = 4, 16
	key := testKey(t)
	var mu sync.Mutex
	var envelopes []Sealed
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				sealed, err := key.Seal("123456", "4821")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				envelopes = append(envelopes, sealed)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, envelopes, callers*each)

	seen := map[string]bool{}
	fresh := func(value string) {
		require.False(t, seen[value], "repeated")
		seen[value] = true
	}
	for _, sealed := range envelopes {
		require.Regexp(t, "^[0-9a-f]+$", sealed.Data+sealed.Key+sealed.IV)
		ephemeral, err := operator.Unwrap(operator.Key(), sealed.Key, crypto.SHA256, 0)
		require.NoError(t, err)
		require.NotEqual(t, make([]byte, 16), ephemeral)
		fresh(hex.EncodeToString(ephemeral)) // in one set with the vectors: neither may be the other
		fresh(sealed.IV)
		fresh(sealed.Key)
		fresh(sealed.Data)
	}
}
