package envelope

import (
	"bytes"
	"crypto"
	"encoding/hex"
	"strings"
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

func seal(t testing.TB, key Key, otp, pin string) Sealed {
	t.Helper()
	sealed, err := key.Seal(otp, pin)
	require.NoError(t, err)
	return sealed
}

// The payload is exactly the two members, in this order, without spaces, and escaped by JSON's rules alone.
func TestSealPayload(t *testing.T) {
	t.Parallel()
	key := testKey(t)
	for _, c := range []struct{ otp, pin, payload string }{
		{"123456", "4821", `{"otp":"123456","pin":"4821"}`},
		{"007", "0000", `{"otp":"007","pin":"0000"}`},
		{`"},`, `\"pin":"`, `{"otp":"\"},","pin":"\\\"pin\":\""}`},
		{"<&>", "é€😀\u2028", `{"otp":"<&>","pin":"é€😀` + "\u2028" + `"}`},
		{" ", "\n\x00\x1f", `{"otp":" ","pin":"\n\u0000\u001f"}`},
	} {
		sealed := seal(t, key, c.otp, c.pin)
		payload, err := operator.Open(operator.Key(), sealed.Data, sealed.Key, sealed.IV, crypto.SHA256, 0)
		require.NoError(t, err)
		require.Equal(t, c.payload, payload)
	}
}

// Every length of padding is right, even a whole block, and no buffer grows and leaves data behind.
func TestPayloadPaddingAndBuffer(t *testing.T) {
	t.Parallel()
	paddings := map[byte]bool{}
	for n := 1; n <= 16; n++ {
		pin := strings.Repeat("7", n)
		data := payload("1", pin)
		require.Zero(t, len(data)%16)
		last := data[len(data)-1]
		paddings[last] = true
		require.Equal(t, `{"otp":"1","pin":"`+pin+`"}`, string(data[:len(data)-int(last)]))
		require.Equal(t, bytes.Repeat([]byte{last}, int(last)), data[len(data)-int(last):])
	}
	require.Len(t, paddings, 16)
	require.True(t, paddings[16])

	for n := range 40 { // the longest escapes, at every distance from a block's end
		otp, pin := strings.Repeat("\x1f", n), strings.Repeat("\x00", 2*n)
		require.Equal(t, 19+6*3*n+16, cap(payload(otp, pin)), "the buffer grew")
	}
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
