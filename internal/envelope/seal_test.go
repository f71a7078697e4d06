package envelope

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/rsa"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/operator"
)

// hashCases are the names of the OAEP hash and of its mask function's hash; the same when empty.
var hashCases = []struct{ hash, mgf1 string }{
	{"SHA256", ""}, {"SHA256", "SHA1"}, {"SHA256", "SHA256"}, {"SHA256", "SHA512"},
	{"SHA512", ""}, {"SHA512", "SHA1"}, {"SHA512", "SHA256"}, {"SHA512", "SHA512"},
}

func testKey(t testing.TB, hash, mgf1 string) Key {
	t.Helper()
	key, rule := NewKey(&operator.Key().PublicKey, Hash(hash), Hash(mgf1))
	require.Empty(t, rule)
	return key
}

func seal(t testing.TB, key Key, otp, pin string) Sealed {
	t.Helper()
	sealed, err := key.Seal(otp, pin)
	require.NoError(t, err)
	return sealed
}

func open(private *rsa.PrivateKey, s Sealed, hash, mgf1 crypto.Hash) (string, error) {
	return operator.Open(private, s.Data, s.Key, s.IV, hash, mgf1)
}

func TestHash(t *testing.T) {
	t.Parallel()
	require.Equal(t, crypto.SHA1, Hash("SHA1"))
	require.Equal(t, crypto.SHA256, Hash("SHA256"))
	require.Equal(t, crypto.SHA512, Hash("SHA512"))
	for _, name := range []string{"", "sha1", "MD5", "SHA-256"} {
		require.Zero(t, Hash(name))
	}
}

func TestSealOpens(t *testing.T) {
	t.Parallel()
	for _, c := range hashCases {
		t.Run(fmt.Sprintf("%s MGF1 %s", c.hash, c.mgf1), func(t *testing.T) {
			t.Parallel()
			sealed := seal(t, testKey(t, c.hash, c.mgf1), "123456", "4821")
			for _, value := range []string{sealed.Data, sealed.Key, sealed.IV} {
				require.Regexp(t, "^[0-9a-f]+$", value)
			}
			require.Len(t, sealed.Key, 2*MinWrapped)
			require.Len(t, sealed.IV, 2*BlockSize)
			want := Hash(cmp.Or(c.mgf1, c.hash))
			for _, mgf1 := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA512} {
				payload, err := open(operator.Key(), sealed, Hash(c.hash), mgf1)
				if mgf1 != want {
					require.Error(t, err, "MGF1 with %v", mgf1)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, `{"otp":"123456","pin":"4821"}`, payload)
			}
		})
	}
}

// The payload is exactly the two members, in this order, without spaces, and escaped by JSON's rules alone.
func TestSealPayload(t *testing.T) {
	t.Parallel()
	key := testKey(t, "SHA256", "")
	for _, c := range []struct{ otp, pin, payload string }{
		{"123456", "4821", `{"otp":"123456","pin":"4821"}`},
		{"007", "0000", `{"otp":"007","pin":"0000"}`},
		{`"},`, `\"pin":"`, `{"otp":"\"},","pin":"\\\"pin\":\""}`},
		{"<&>", "é€😀\u2028", `{"otp":"<&>","pin":"é€😀` + "\u2028" + `"}`},
		{" ", "\n\x00\x1f", `{"otp":" ","pin":"\n\u0000\u001f"}`},
	} {
		payload, err := open(operator.Key(), seal(t, key, c.otp, c.pin), crypto.SHA256, 0)
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
	key := testKey(t, "SHA256", "")
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
		ephemeral, err := operator.Unwrap(operator.Key(), sealed.Key, crypto.SHA256, 0)
		require.NoError(t, err)
		require.NotEqual(t, make([]byte, 16), ephemeral)
		fresh(hex.EncodeToString(ephemeral)) // in one set with the vectors: neither may be the other
		fresh(sealed.IV)
		fresh(sealed.Key)
		fresh(sealed.Data)
	}
}

func TestTamperedEnvelopeDoesNotOpenToTheSecret(t *testing.T) {
	t.Parallel()
	key := testKey(t, "SHA256", "")
	sealed := seal(t, key, "123456", "4821")
	ephemeral, err := operator.Unwrap(operator.Key(), sealed.Key, crypto.SHA256, 0)
	require.NoError(t, err)
	original, err := operator.Decrypt(ephemeral, sealed.Data, sealed.IV)
	require.NoError(t, err)

	flip := func(value string, at int) string {
		raw, err := hex.DecodeString(value)
		require.NoError(t, err)
		raw[at] ^= 1
		return hex.EncodeToString(raw)
	}
	for at := 0; at < 256; at += 17 {
		_, err := operator.Unwrap(operator.Key(), flip(sealed.Key, at), crypto.SHA256, 0)
		require.Error(t, err, "byte %d of the key", at)
	}
	for at := range len(sealed.IV) / 2 {
		payload, _ := operator.Decrypt(ephemeral, sealed.Data, flip(sealed.IV, at))
		require.NotEqual(t, original, payload, "byte %d of the vector", at)
	}
	for at := range len(sealed.Data) / 2 {
		payload, _ := operator.Decrypt(ephemeral, flip(sealed.Data, at), sealed.IV)
		require.NotEqual(t, original, payload, "byte %d of the data", at)
	}

	_, err = open(otherKey(), sealed, crypto.SHA256, 0)
	require.Error(t, err, "another private key")
	_, err = open(operator.Key(), sealed, crypto.SHA512, 0)
	require.Error(t, err, "another hash")
	mixed := sealed
	mixed.Key = seal(t, key, "123456", "4821").Key
	payload, _ := open(operator.Key(), mixed, crypto.SHA256, 0)
	require.NotEqual(t, original, payload, "the key of another envelope")
}
