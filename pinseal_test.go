package prepaid

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pinHashCases is every combination of the two hashes, with the default of the second.
var pinHashCases = []struct {
	hash       PINHash
	mgf1       string
	wantHash   crypto.Hash
	wantMGF1   crypto.Hash
	wantOnWire PINHash
}{
	{"", "", crypto.SHA256, crypto.SHA256, PINHashSHA256},
	{PINHashSHA256, "", crypto.SHA256, crypto.SHA256, PINHashSHA256},
	{PINHashSHA256, "SHA1", crypto.SHA256, crypto.SHA1, PINHashSHA256},
	{PINHashSHA256, "SHA256", crypto.SHA256, crypto.SHA256, PINHashSHA256},
	{PINHashSHA256, "SHA512", crypto.SHA256, crypto.SHA512, PINHashSHA256},
	{PINHashSHA512, "", crypto.SHA512, crypto.SHA512, PINHashSHA512},
	{PINHashSHA512, "SHA1", crypto.SHA512, crypto.SHA1, PINHashSHA512},
	{PINHashSHA512, "SHA256", crypto.SHA512, crypto.SHA256, PINHashSHA512},
	{PINHashSHA512, "SHA512", crypto.SHA512, crypto.SHA512, PINHashSHA512},
}

func TestSealOpens(t *testing.T) {
	t.Parallel()
	for _, c := range pinHashCases {
		t.Run(fmt.Sprintf("%s MGF1 %s", c.hash, c.mgf1), func(t *testing.T) {
			t.Parallel()
			envelope, err := testPINKey(t, PINKeyOptions{Hash: c.hash, MGF1Hash: c.mgf1}).Seal(pinSecret("123456", "4821"))
			require.NoError(t, err)
			require.Equal(t, c.wantOnWire, envelope.OAEPHashingAlgorithm)
			require.Empty(t, envelope.faults(""))
			for _, value := range []string{envelope.EncryptedData, envelope.EncryptedKey, envelope.IV} {
				require.Regexp(t, "^[0-9a-f]+$", value)
			}
			require.Len(t, envelope.EncryptedKey, 512)
			require.Len(t, envelope.IV, 32)

			opened, err := openPIN(pinTestKey(), envelope, c.wantHash, c.wantMGF1)
			require.NoError(t, err)
			require.Equal(t, map[string]string{"otp": "123456", "pin": "4821"}, opened)

			for _, mgf1 := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA512} {
				if mgf1 != c.wantMGF1 {
					_, err := openPIN(pinTestKey(), envelope, c.wantHash, mgf1)
					require.Error(t, err, "MGF1 with %v", mgf1)
				}
			}
		})
	}
}

// The payload is exactly the two members, in this order, without spaces, and escaped by JSON's rules alone.
func TestSealPayload(t *testing.T) {
	t.Parallel()
	key := testPINKey(t, PINKeyOptions{})
	for _, c := range []struct{ otp, pin, payload string }{
		{"123456", "4821", `{"otp":"123456","pin":"4821"}`},
		{"007", "0000", `{"otp":"007","pin":"0000"}`},
		{`"},`, `\"pin":"`, `{"otp":"\"},","pin":"\\\"pin\":\""}`},
		{"<&>", "é€😀\u2028", `{"otp":"<&>","pin":"é€😀` + "\u2028" + `"}`},
		{" ", "\n\x00\x1f", `{"otp":" ","pin":"\n\u0000\u001f"}`},
	} {
		envelope, err := key.Seal(pinSecret(c.otp, c.pin))
		require.NoError(t, err)
		ephemeral, err := openEphemeral(pinTestKey(), envelope, crypto.SHA256, crypto.SHA256)
		require.NoError(t, err)
		payload, err := openPayload(ephemeral, envelope)
		require.NoError(t, err)
		require.Equal(t, c.payload, string(payload))
		opened, err := openPIN(pinTestKey(), envelope, crypto.SHA256, crypto.SHA256)
		require.NoError(t, err)
		require.Equal(t, map[string]string{"otp": c.otp, "pin": c.pin}, opened)
	}
}

// Every length of padding, among them a whole block, and nothing left behind by a buffer that had to grow.
func TestPINPayloadPaddingAndBuffer(t *testing.T) {
	t.Parallel()
	paddings := map[byte]bool{}
	for n := 1; n <= 16; n++ {
		pin := strings.Repeat("7", n)
		data := pinPayload("1", pin)
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
		require.Equal(t, 19+6*3*n+16, cap(pinPayload(otp, pin)), "the buffer grew")
	}
}

func TestSealRefuses(t *testing.T) {
	t.Parallel()
	key := testPINKey(t, PINKeyOptions{})
	otpRequired, pinRequired := Fault{Field: "otp", Rule: "is required"}, Fault{Field: "pin", Rule: "is required"}
	for name, c := range map[string]struct {
		secret PINSecret
		faults []Fault
	}{
		"zero":      {PINSecret{}, []Fault{otpRequired, pinRequired}},
		"empty":     {pinSecret("", ""), []Fault{otpRequired, pinRequired}},
		"no otp":    {PINSecret{PIN: NewSecret("CANARY")}, []Fault{otpRequired}},
		"no pin":    {PINSecret{OTP: NewSecret("CANARY")}, []Fault{pinRequired}},
		"bad UTF-8": {pinSecret("CANARY\xff", "\xc0CANARY"), []Fault{{Field: "otp", Rule: "must be valid UTF-8"}, {Field: "pin", Rule: "must be valid UTF-8"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			envelope, err := key.Seal(c.secret)
			require.Nil(t, envelope)
			requirePINFaults(t, err, c.faults...)
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "CANARY")
		})
	}
}

func TestSealNeverRepeatsKeyOrVector(t *testing.T) {
	t.Parallel()
	const callers, each = 4, 32
	key := testPINKey(t, PINKeyOptions{})
	var mu sync.Mutex
	var envelopes []*PINEnvelope
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				envelope, err := key.Seal(pinSecret("123456", "4821"))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				envelopes = append(envelopes, envelope)
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
	for _, envelope := range envelopes {
		ephemeral, err := openEphemeral(pinTestKey(), envelope, crypto.SHA256, crypto.SHA256)
		require.NoError(t, err)
		require.NotEqual(t, make([]byte, 16), ephemeral)
		fresh(hex.EncodeToString(ephemeral)) // in one set with the vectors: neither may be the other
		fresh(envelope.IV)
		fresh(envelope.EncryptedKey)
		fresh(envelope.EncryptedData)
	}
}

func TestTamperedEnvelopeDoesNotOpenToTheSecret(t *testing.T) {
	t.Parallel()
	sealed, err := testPINKey(t, PINKeyOptions{}).Seal(pinSecret("123456", "4821"))
	require.NoError(t, err)
	ephemeral, err := openEphemeral(pinTestKey(), sealed, crypto.SHA256, crypto.SHA256)
	require.NoError(t, err)
	original, err := openPayload(ephemeral, sealed)
	require.NoError(t, err)

	flip := func(value string, at int) string {
		raw, err := hex.DecodeString(value)
		require.NoError(t, err)
		raw[at] ^= 1
		return hex.EncodeToString(raw)
	}
	for at := 0; at < 256; at += 17 {
		changed := *sealed
		changed.EncryptedKey = flip(sealed.EncryptedKey, at)
		_, err := openEphemeral(pinTestKey(), &changed, crypto.SHA256, crypto.SHA256)
		require.Error(t, err, "byte %d of the key", at)
	}
	for at := range len(sealed.IV) / 2 {
		changed := *sealed
		changed.IV = flip(sealed.IV, at)
		payload, _ := openPayload(ephemeral, &changed)
		require.NotEqual(t, original, payload, "byte %d of the vector", at)
	}
	for at := range len(sealed.EncryptedData) / 2 {
		changed := *sealed
		changed.EncryptedData = flip(sealed.EncryptedData, at)
		payload, _ := openPayload(ephemeral, &changed)
		require.NotEqual(t, original, payload, "byte %d of the data", at)
	}

	_, err = openPIN(pinTestOtherKey(), sealed, crypto.SHA256, crypto.SHA256)
	require.Error(t, err, "another private key")
	_, err = openPIN(pinTestKey(), sealed, crypto.SHA512, crypto.SHA512)
	require.Error(t, err, "another hash")
	other, err := testPINKey(t, PINKeyOptions{}).Seal(pinSecret("123456", "4821"))
	require.NoError(t, err)
	mixed := *sealed
	mixed.EncryptedKey = other.EncryptedKey
	opened, _ := openPIN(pinTestKey(), &mixed, crypto.SHA256, crypto.SHA256)
	require.NotEqual(t, map[string]string{"otp": "123456", "pin": "4821"}, opened, "the key of another envelope")
}

// pinFailure keeps what testify says of a failed assertion: it follows unexported fields and pointers.
type pinFailure struct{ text string }

func (f *pinFailure) Errorf(format string, arguments ...any) {
	f.text += fmt.Sprintf(format, arguments...)
}

func TestPINNeverPrints(t *testing.T) {
	t.Parallel()
	const otp, pin = "CANARY-OTP-91827364", "CANARY-PIN-56473829"
	leaked := func(text string) bool {
		text = strings.ToLower(text)
		for _, canary := range []string{otp, pin} {
			for _, form := range []string{
				canary,
				hex.EncodeToString([]byte(canary)),
				strings.Trim(fmt.Sprintf("% x", canary), " "),
				base64.RawStdEncoding.EncodeToString([]byte(canary))[:24],
				strings.Trim(fmt.Sprint([]byte(canary)), "[]"),
			} {
				if strings.Contains(text, strings.ToLower(form)) {
					return true
				}
			}
		}
		return false
	}
	for _, verb := range []string{"%v", "%q", "%x", "%X", "% x", "%d"} { // the search itself can find
		require.True(t, leaked(fmt.Sprintf(verb, []byte(otp))) || leaked(fmt.Sprintf(verb, pin)), verb)
	}

	secret := pinSecret(otp, pin)
	key := testPINKey(t, PINKeyOptions{})
	envelope, err := key.Seal(secret)
	require.NoError(t, err)
	_, noPIN := key.Seal(PINSecret{OTP: NewSecret(otp)})
	require.Error(t, noPIN)
	_, badPIN := key.Seal(pinSecret(otp, pin+"\xff"))
	require.Error(t, badPIN)
	_, noKey := (*PINKey)(nil).Seal(secret)
	require.Error(t, noKey)
	type request struct {
		Secret *PINSecret
		hidden PINSecret
	}

	for name, value := range map[string]any{
		"secret": secret, "secret pointer": &secret, "within": request{&secret, secret},
		"list": []PINSecret{secret}, "map": map[string]PINSecret{"a": secret},
		"key": key, "envelope": *envelope, "envelope pointer": envelope,
		"error no pin": noPIN, "error bad pin": badPIN, "error no key": noKey,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d"} {
				require.False(t, leaked(fmt.Sprintf(verb, value)), verb)
			}
			encoded, err := json.Marshal(value)
			require.NoError(t, err)
			require.False(t, leaked(string(encoded)), "json")
			var failed pinFailure
			assert.Equal(&failed, reflect.Zero(reflect.TypeOf(value)).Interface(), value)
			require.Contains(t, failed.text, "Not equal")
			require.False(t, leaked(failed.text), "testify")
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("pin", "value", value)
			slog.New(slog.NewJSONHandler(&log, nil)).Info("pin", "value", value)
			require.Contains(t, log.String(), "value")
			require.False(t, leaked(log.String()), "slog")
		})
	}
}

func BenchmarkSeal(b *testing.B) {
	key := testPINKey(b, PINKeyOptions{})
	secret := pinSecret("123456", "4821")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := key.Seal(secret); err != nil {
			b.Fatal(err)
		}
	}
}
