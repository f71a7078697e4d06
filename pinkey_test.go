package prepaid

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func requirePINFaults(t *testing.T, err error, want ...Fault) {
	t.Helper()
	invalid, ok := errors.AsType[*ValidationError](err)
	require.True(t, ok, "want *ValidationError, got %T: %v", err, err)
	require.Equal(t, want, invalid.Faults)
}

func TestNewPINKeyReadsEveryForm(t *testing.T) {
	t.Parallel()
	der := pinTestCertificate(t, &pinTestKey().PublicKey)
	other := pinTestCertificate(t, &pinTestOtherKey().PublicKey)
	certificate := pemBlock("CERTIFICATE", der)
	private, err := x509.MarshalPKCS8PrivateKey(pinTestOtherKey())
	require.NoError(t, err)
	sum := sha256.Sum256(der)
	fingerprint := hex.EncodeToString(sum[:])

	for name, form := range map[string][]byte{
		"DER":               der,
		"PEM":               certificate,
		"text around":       slices.Concat([]byte("0 s:CN = operator\n"), certificate, []byte("\r\n \t\n")),
		"CRLF":              bytes.ReplaceAll(certificate, []byte("\n"), []byte("\r\n")),
		"byte order mark":   slices.Concat([]byte("\ufeff"), certificate),
		"chain":             slices.Concat(certificate, pemBlock("CERTIFICATE", other)),
		"private key first": slices.Concat(pemBlock("PRIVATE KEY", private), certificate),
		"text between":      slices.Concat(pemBlock("PRIVATE KEY", private), []byte("Bag Attributes\n"), certificate),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := NewPINKey(form, PINKeyOptions{})
			require.NoError(t, err)
			require.Equal(t, fingerprint, key.Fingerprint())
			envelope, err := key.Seal(pinSecret("123456", "4821"))
			require.NoError(t, err)
			require.Empty(t, envelope.faults(""))
			require.Equal(t, fingerprint, envelope.PublicKeyFingerprint)
		})
	}
}

func TestNewPINKeyRefusesCertificates(t *testing.T) {
	t.Parallel()
	der := pinTestCertificate(t, &pinTestKey().PublicKey)
	certificate := pemBlock("CERTIFICATE", der)
	other := pemBlock("CERTIFICATE", pinTestCertificate(t, &pinTestOtherKey().PublicKey))
	damaged := bytes.Replace(certificate, certificate[100:104], []byte("!?!?"), 1)
	cut := certificate[:len(certificate)/2]
	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	even := &rsa.PublicKey{N: new(big.Int).Add(pinTestKey().N, big.NewInt(1)), E: pinTestKey().E}
	identity := &rsa.PublicKey{N: pinTestKey().N, E: 1}

	const (
		form       = "must be an X.509 certificate in PEM or DER form that crypto/x509 can read"
		content    = "must be an X.509 certificate that crypto/x509 can read"
		wellFormed = "must hold only well-formed PEM blocks"
		unusable   = "must have an RSA key that crypto/rsa can use with these hashes"
	)
	for name, c := range map[string]struct {
		data []byte
		rule string
	}{
		"nil":                        {nil, "is required"},
		"empty":                      {[]byte{}, "is required"},
		"text":                       {[]byte("not a certificate"), form},
		"Base64 without PEM":         {[]byte(base64.StdEncoding.EncodeToString(der)), form},
		"DER and junk":               {slices.Concat(der, []byte{0}), form},
		"DER cut short":              {der[:len(der)-1], form},
		"PEM and junk":               {slices.Concat(certificate, []byte("junk")), "must have nothing after the last PEM block"},
		"PEM and half a block":       {slices.Concat(certificate, cut), wellFormed},
		"damaged PEM":                {damaged, wellFormed},
		"damaged, then the issuer":   {slices.Concat(damaged, other), wellFormed},
		"cut short, then the issuer": {slices.Concat(cut, []byte("\n"), other), wellFormed},
		"PEM of junk":                {pemBlock("CERTIFICATE", []byte("junk")), content},
		"PEM of DER and junk":        {pemBlock("CERTIFICATE", slices.Concat(der, []byte{0})), content},
		"junk block before":          {slices.Concat(pemBlock("CERTIFICATE", []byte("junk")), certificate), content},
		"no certificate block":       {pemBlock("PUBLIC KEY", der), "must have a PEM block of type CERTIFICATE"},
		"ECDSA":                      {pinTestCertificate(t, elliptical.Public()), "must have an RSA key"},
		"Ed25519":                    {pinTestCertificate(t, edwards), "must have an RSA key"},
		"RSA 1,024":                  {pinTestCertificate(t, &pinTestWeakKey().PublicKey), "must have an RSA key of at least 2,048 bits"},
		"even modulus":               {pinTestCertificate(t, even), unusable},
		"exponent 1":                 {pinTestCertificate(t, identity), unusable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, err := NewPINKey(c.data, PINKeyOptions{})
			require.Nil(t, key)
			requirePINFaults(t, err, Fault{Field: "certificate", Rule: c.rule})
		})
	}
}

// A modulus of 2,047 bits is the nearest that must be refused.
func TestPINPublicKeyBoundary(t *testing.T) {
	t.Parallel()
	modulus := func(bits uint) *rsa.PublicKey {
		one := big.NewInt(1)
		return &rsa.PublicKey{N: new(big.Int).Add(new(big.Int).Lsh(one, bits-1), one), E: 65537}
	}
	var v validator
	pinPublicKey(&v, &x509.Certificate{PublicKey: modulus(2048)})
	require.Empty(t, v.faults)
	pinPublicKey(&v, &x509.Certificate{PublicKey: modulus(2047)})
	require.Equal(t, []Fault{{Field: "certificate", Rule: "must have an RSA key of at least 2,048 bits"}}, v.faults)
}

func TestNewPINKeyReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	expired := pinTestCertificate(t, elliptical.Public(), func(c *x509.Certificate) {
		c.NotAfter = time.Now().Add(-time.Minute)
	})
	key, err := NewPINKey(expired, PINKeyOptions{
		Hash:        "SHA1",
		MGF1Hash:    "MD5",
		Fingerprint: func(*x509.Certificate) string { return "" },
	})
	require.Nil(t, key)
	requirePINFaults(t, err,
		Fault{Field: "certificate", Rule: "must have an RSA key"},
		Fault{Field: "certificate", Rule: "must not be expired"},
		Fault{Field: "hash", Rule: "must be SHA256 or SHA512"},
		Fault{Field: "mgf1_hash", Rule: "must be SHA1, SHA256 or SHA512"},
		Fault{Field: "fingerprint", Rule: "is required"},
	)
	require.NotContains(t, err.Error(), "MD5", "a message never repeats a value")

	_, err = NewPINKey(nil, PINKeyOptions{Hash: "sha256", MGF1Hash: "sha1"})
	requirePINFaults(t, err,
		Fault{Field: "certificate", Rule: "is required"},
		Fault{Field: "hash", Rule: "must be SHA256 or SHA512"},
		Fault{Field: "mgf1_hash", Rule: "must be SHA1, SHA256 or SHA512"},
	)
}

func TestPINKeyValidity(t *testing.T) {
	t.Parallel()
	pinTestKey() // generated outside the bubble
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		certificate := pinTestCertificate(t, &pinTestKey().PublicKey, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = start.Add(time.Hour), start.Add(2*time.Hour)
		})
		early := Fault{Field: "certificate", Rule: "must be valid already"}
		late := Fault{Field: "certificate", Rule: "must not be expired"}
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
		requirePINFaults(t, err, late, Fault{Field: "otp", Rule: "is required"}, Fault{Field: "pin", Rule: "is required"})
		_, err = NewPINKey(certificate, PINKeyOptions{})
		requirePINFaults(t, err, late)
		_, err = lenient.Seal(secret)
		require.NoError(t, err)
	})
}

func TestPINKeyFingerprint(t *testing.T) {
	t.Parallel()
	der := pinTestCertificate(t, &pinTestKey().PublicKey)

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
		"panic nil":  {func(*x509.Certificate) string { panic(nil) }, "must come from a function that does not panic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := NewPINKey(der, PINKeyOptions{Fingerprint: c.function})
			requirePINFaults(t, err, Fault{Field: "fingerprint", Rule: c.rule})
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
			requirePINFaults(t, err, Fault{Field: "certificate", Rule: "must have been read by NewPINKey"})
		})
	}
}

func TestPINHashKnown(t *testing.T) {
	t.Parallel()
	require.True(t, PINHashSHA256.Known())
	require.True(t, PINHashSHA512.Known())
	for _, hash := range []PINHash{"", "SHA1", "sha256", "SHA-256", "SHA384"} {
		require.False(t, hash.Known(), string(hash))
	}
}

func TestPINKeyString(t *testing.T) {
	t.Parallel()
	key := testPINKey(t, PINKeyOptions{Hash: PINHashSHA512})
	require.Equal(t, "PINKey(SHA512 "+key.Fingerprint()+")", fmt.Sprint(key))
	require.Equal(t, strings.ToLower(key.Fingerprint()), key.Fingerprint())
}

// Any bytes give a key or a *ValidationError, and nothing panics.
func FuzzNewPINKey(f *testing.F) {
	der := pinTestCertificate(f, &pinTestKey().PublicKey)
	certificate := pemBlock("CERTIFICATE", der)
	f.Add(der)
	f.Add(certificate)
	f.Add(slices.Concat(certificate[:200], certificate))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("-----BEGIN -----END "))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := NewPINKey(data, PINKeyOptions{AllowExpired: true})
		if err != nil {
			_, ok := errors.AsType[*ValidationError](err)
			require.True(t, ok)
			require.Nil(t, key)
			return
		}
		require.Len(t, key.Fingerprint(), 64)
	})
}
