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

// Go opens the vectors of docs/pin-vectors.json. With their certificate this package seals the same payloads, which open as they do.
func TestVectors(t *testing.T) {
	t.Parallel()
	v, private := operator.ReadVectors(t)
	certificate, rule := ParseCertificate([]byte(v.Certificate))
	require.Empty(t, rule)
	require.Equal(t, v.Fingerprint, Fingerprint(certificate))
	public, rule := PublicKey(certificate)
	require.Empty(t, rule)
	seen := map[string]bool{}
	for _, k := range v.EncryptedKeys {
		seen[k.Hash+k.MGF1Hash] = true
		hash, mgf1 := Hash(k.Hash), Hash(k.MGF1Hash)
		ephemeral, err := operator.Unwrap(private, k.EncryptedKey, hash, mgf1)
		require.NoError(t, err)
		require.Equal(t, v.AESKey, hex.EncodeToString(ephemeral))
		key, rule := NewKey(public, hash, mgf1)
		require.Empty(t, rule)
		for _, p := range v.Payloads {
			sealed, err := key.Seal(p.OTP, p.PIN)
			require.NoError(t, err)
			for _, each := range []Sealed{sealed, {Data: p.EncryptedData, Key: k.EncryptedKey, IV: v.IV}} {
				text, err := operator.Open(private, each.Data, each.Key, each.IV, hash, mgf1)
				require.NoError(t, err)
				require.Equal(t, p.Payload, text)
			}
		}
	}
	require.Len(t, seen, 6, "each OAEP hash with each hash of the mask")
	require.Len(t, v.Payloads[1].Payload, 2*BlockSize, "whole blocks get a block of padding")
}
