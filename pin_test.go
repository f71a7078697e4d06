package prepaid

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/operator"
)

func testPINKey(t testing.TB, options PINKeyOptions) *PINKey {
	t.Helper()
	key, err := NewPINKey(operator.Certificate(t, &operator.Key().PublicKey), options)
	require.NoError(t, err)
	return key
}

func pinSecret(otp, pin string) PINSecret { return PINSecret{OTP: NewSecret(otp), PIN: NewSecret(pin)} }

func requirePINFaults(t *testing.T, err error, want ...FieldError) {
	t.Helper()
	invalid, ok := errors.AsType[*ValidationError](err)
	require.True(t, ok, "want *ValidationError, got %T: %v", err, err)
	require.Equal(t, want, invalid.Faults)
}

func TestNewPINKeyReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	identity := operator.Certificate(t, &rsa.PublicKey{N: operator.Key().N, E: 1})
	_, err := NewPINKey(identity, PINKeyOptions{})
	requirePINFaults(t, err, FieldError{Field: "certificate", Rule: "must have an RSA key that crypto/rsa can use with these hashes"})

	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	expired := operator.Certificate(t, elliptical.Public(), func(c *x509.Certificate) {
		c.NotAfter = time.Now().Add(-time.Minute)
	})
	key, err := NewPINKey(expired, PINKeyOptions{
		Hash:        "SHA1",
		MGF1Hash:    "MD5",
		Fingerprint: func(*x509.Certificate) string { return "" },
	})
	require.Nil(t, key)
	requirePINFaults(t, err,
		FieldError{Field: "certificate", Rule: "must have an RSA key"},
		FieldError{Field: "certificate", Rule: "must not be expired"},
		FieldError{Field: "hash", Rule: "must be SHA256 or SHA512"},
		FieldError{Field: "mgf1_hash", Rule: "must be SHA1, SHA256 or SHA512"},
		FieldError{Field: "fingerprint", Rule: "is required"},
	)
	require.NotContains(t, err.Error(), "MD5", "a message never repeats a value")

	_, err = NewPINKey(nil, PINKeyOptions{Hash: "sha256", MGF1Hash: "sha1"})
	requirePINFaults(t, err,
		FieldError{Field: "certificate", Rule: "is required"},
		FieldError{Field: "hash", Rule: "must be SHA256 or SHA512"},
		FieldError{Field: "mgf1_hash", Rule: "must be SHA1, SHA256 or SHA512"},
	)
}

func TestPINKeyValidity(t *testing.T) {
	t.Parallel()
	operator.Key() // generated outside the bubble
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		certificate := operator.Certificate(t, &operator.Key().PublicKey, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = start.Add(time.Hour), start.Add(2*time.Hour)
		})
		early := FieldError{Field: "certificate", Rule: "must already be valid"}
		late := FieldError{Field: "certificate", Rule: "must not be expired"}
		secret := pinSecret("123456", "4821")
		lenient, err := NewPINKey(certificate, PINKeyOptions{AllowExpired: true})
		require.NoError(t, err)

		time.Sleep(time.Hour - time.Second)
		_, err = NewPINKey(certificate, PINKeyOptions{})
		requirePINFaults(t, err, early)
		_, err = lenient.Seal(secret)
		require.NoError(t, err)

		time.Sleep(time.Second) // NotBefore itself
		key, err := NewPINKey(certificate, PINKeyOptions{})
		require.NoError(t, err)
		require.True(t, key.NotAfter().Equal(start.Add(2*time.Hour)))

		time.Sleep(time.Hour) // NotAfter itself
		_, err = key.Seal(secret)
		require.NoError(t, err)

		time.Sleep(time.Second)
		_, err = key.Seal(PINSecret{})
		requirePINFaults(t, err, late, FieldError{Field: "otp", Rule: "is required"}, FieldError{Field: "pin", Rule: "is required"})
		_, err = NewPINKey(certificate, PINKeyOptions{})
		requirePINFaults(t, err, late)
		_, err = lenient.Seal(secret)
		require.NoError(t, err)
	})
}

func TestPINKeyFingerprint(t *testing.T) {
	t.Parallel()
	der := operator.Certificate(t, &operator.Key().PublicKey)

	calls := 0
	key, err := NewPINKey(der, PINKeyOptions{Fingerprint: func(c *x509.Certificate) string {
		calls++
		return "serial:" + c.SerialNumber.String()
	}})
	require.NoError(t, err)
	require.Equal(t, "serial:1", key.Fingerprint())
	for range 3 {
		envelope, err := key.Seal(pinSecret("1", "2"))
		require.NoError(t, err)
		require.Equal(t, "serial:1", envelope.PublicKeyFingerprint)
	}
	require.Equal(t, 1, calls)

	for name, c := range map[string]struct {
		function func(*x509.Certificate) string
		rule     string
	}{
		"empty":      {func(*x509.Certificate) string { return "" }, "is required"},
		"raw digest": {func(*x509.Certificate) string { return "\xff\xfe" }, "must be valid UTF-8"},
		"panic":      {func(*x509.Certificate) string { panic("CANARY") }, "must come from a function that does not panic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := NewPINKey(der, PINKeyOptions{Fingerprint: c.function})
			requirePINFaults(t, err, FieldError{Field: "fingerprint", Rule: c.rule})
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "CANARY")
		})
	}
}

func TestPINKeyZeroValueDoesNotPanic(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]*PINKey{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, key.Fingerprint())
			require.True(t, key.NotAfter().IsZero())
			require.Equal(t, "PINKey(none)", key.String())
			_, err := key.Seal(pinSecret("1", "2"))
			requirePINFaults(t, err, FieldError{Field: "certificate", Rule: "must come from NewPINKey"})
		})
	}
}

// Each name of a hash selects that hash: the operator can open the envelope only with those two.
func TestSealOpens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hash       PINHash
		mgf1       string
		wantHash   crypto.Hash
		wantMGF1   crypto.Hash
		wantOnWire PINHash
	}{
		{"", "", crypto.SHA256, crypto.SHA256, PINHashSHA256},
		{"", "SHA1", crypto.SHA256, crypto.SHA1, PINHashSHA256},
		{PINHashSHA256, "SHA512", crypto.SHA256, crypto.SHA512, PINHashSHA256},
		{PINHashSHA512, "", crypto.SHA512, crypto.SHA512, PINHashSHA512},
		{PINHashSHA512, "SHA256", crypto.SHA512, crypto.SHA256, PINHashSHA512},
	} {
		t.Run(fmt.Sprintf("%s MGF1 %s", c.hash, c.mgf1), func(t *testing.T) {
			t.Parallel()
			key := testPINKey(t, PINKeyOptions{Hash: c.hash, MGF1Hash: c.mgf1})
			sealed, err := key.Seal(pinSecret("123456", "4821"))
			require.NoError(t, err)
			require.Equal(t, c.wantOnWire, sealed.OAEPHashingAlgorithm)
			require.Equal(t, key.Fingerprint(), sealed.PublicKeyFingerprint)
			require.Empty(t, sealed.faults(""))
			for _, hash := range []crypto.Hash{crypto.SHA256, crypto.SHA512} {
				for _, mgf1 := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA512} {
					payload, err := operator.Open(operator.Key(), sealed.EncryptedData, sealed.EncryptedKey, sealed.IV, hash, mgf1)
					if hash != c.wantHash || mgf1 != c.wantMGF1 {
						require.Error(t, err, "%v and MGF1 with %v", hash, mgf1)
						continue
					}
					require.NoError(t, err)
					require.Equal(t, `{"otp":"123456","pin":"4821"}`, payload)
				}
			}
		})
	}
}

func validPINEnvelope() PINEnvelope {
	return PINEnvelope{
		EncryptedData:        strings.Repeat("0a", 32),
		PublicKeyFingerprint: "any form",
		EncryptedKey:         strings.Repeat("fF", 256),
		OAEPHashingAlgorithm: PINHashSHA512,
		IV:                   strings.Repeat("9E", 16),
	}
}

func TestPINEnvelopeFaults(t *testing.T) {
	t.Parallel()
	const (
		data, fingerprint, key = "encrypted_data", "public_key_fingerprint", "encrypted_key"
		hash, iv               = "oaep_hashing_algorithm", "iv"
		dataRule               = "must be one or more whole blocks of 16 bytes in hex"
		keyRule                = "must be at least 256 bytes in hex"
		ivRule                 = "must be 16 bytes in hex"
		hashRule               = "must be SHA256 or SHA512"
	)
	hexOf := func(size int) string { return strings.Repeat("0a", size) }
	for name, c := range map[string]struct {
		edit   func(*PINEnvelope)
		faults []FieldError
	}{
		"valid":             {func(*PINEnvelope) {}, nil},
		"one block":         {func(e *PINEnvelope) { e.EncryptedData = hexOf(16) }, nil},
		"4,096-bit key":     {func(e *PINEnvelope) { e.EncryptedKey = hexOf(512) }, nil},
		"data missing":      {func(e *PINEnvelope) { e.EncryptedData = "" }, []FieldError{{data, "is required"}}},
		"data half a block": {func(e *PINEnvelope) { e.EncryptedData = hexOf(24) }, []FieldError{{data, dataRule}}},
		"data odd":          {func(e *PINEnvelope) { e.EncryptedData = hexOf(16) + "0" }, []FieldError{{data, dataRule}}},
		"data not hex":      {func(e *PINEnvelope) { e.EncryptedData = hexOf(15) + "0g" }, []FieldError{{data, dataRule}}},
		"data spaced":       {func(e *PINEnvelope) { e.EncryptedData = hexOf(15) + " 0" }, []FieldError{{data, dataRule}}},
		"no fingerprint":    {func(e *PINEnvelope) { e.PublicKeyFingerprint = "" }, []FieldError{{fingerprint, "is required"}}},
		"raw fingerprint":   {func(e *PINEnvelope) { e.PublicKeyFingerprint = "\xff" }, []FieldError{{fingerprint, "must be valid UTF-8"}}},
		"key missing":       {func(e *PINEnvelope) { e.EncryptedKey = "" }, []FieldError{{key, "is required"}}},
		"key short":         {func(e *PINEnvelope) { e.EncryptedKey = hexOf(255) }, []FieldError{{key, keyRule}}},
		"key odd":           {func(e *PINEnvelope) { e.EncryptedKey = hexOf(256) + "0" }, []FieldError{{key, keyRule}}},
		"key not hex":       {func(e *PINEnvelope) { e.EncryptedKey = hexOf(256) + "0/" }, []FieldError{{key, keyRule}}},
		"hash left out":     {func(e *PINEnvelope) { e.OAEPHashingAlgorithm = "" }, nil},
		"hash unknown":      {func(e *PINEnvelope) { e.OAEPHashingAlgorithm = "SHA-256" }, []FieldError{{hash, hashRule}}},
		"iv missing":        {func(e *PINEnvelope) { e.IV = "" }, []FieldError{{iv, "is required"}}},
		"iv short":          {func(e *PINEnvelope) { e.IV = hexOf(15) }, []FieldError{{iv, ivRule}}},
		"iv long":           {func(e *PINEnvelope) { e.IV = hexOf(17) }, []FieldError{{iv, ivRule}}},
		"iv not hex":        {func(e *PINEnvelope) { e.IV = hexOf(15) + "é" }, []FieldError{{iv, ivRule}}},
		"all": {func(e *PINEnvelope) { *e = PINEnvelope{} }, []FieldError{
			{data, "is required"}, {fingerprint, "is required"}, {key, "is required"}, {iv, "is required"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			envelope := validPINEnvelope()
			c.edit(&envelope)
			require.Equal(t, c.faults, envelope.faults(""))
			for i, fault := range envelope.faults("envelope") {
				require.Equal(t, FieldError{"envelope." + c.faults[i].Field, c.faults[i].Rule}, fault)
			}
		})
	}
}

func TestPINEnvelopeJSON(t *testing.T) {
	t.Parallel()
	const (
		text    = `{"encrypted_data":"0a","public_key_fingerprint":"1b","encrypted_key":"2c","oaep_hashing_algorithm":"SHA256","iv":"3d"}`
		without = `{"encrypted_data":"0a","public_key_fingerprint":"1b","encrypted_key":"2c","iv":"3d"}` // means SHA256, and is sent without it
	)
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		for text, hash := range map[string]PINHash{text: PINHashSHA256, without: ""} {
			envelope := PINEnvelope{
				EncryptedData: "0a", PublicKeyFingerprint: "1b", EncryptedKey: "2c", OAEPHashingAlgorithm: hash, IV: "3d",
			}
			encoded, err := lib.marshal(envelope)
			require.NoError(t, err)
			require.Equal(t, text, string(encoded))
			var decoded PINEnvelope
			require.NoError(t, lib.unmarshal(encoded, &decoded))
			require.Equal(t, envelope, decoded)
		}
	})
}
