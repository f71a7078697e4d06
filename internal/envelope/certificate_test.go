package envelope

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/operator"
)

// The private key of another party.
var otherKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, _ := rsa.GenerateKey(rand.Reader, 2048)
	return key
})

// keyOf leads from a file to a key, or returns the first rule that is broken.
func keyOf(data []byte) (Key, string) {
	certificate, rule := ParseCertificate(data)
	if rule != "" {
		return Key{}, rule
	}
	public, rule := PublicKey(certificate)
	if rule != "" {
		return Key{}, rule
	}
	return NewKey(public, crypto.SHA256, 0)
}

func TestParseCertificateReadsEveryForm(t *testing.T) {
	t.Parallel()
	der := operator.Certificate(t, &operator.Key().PublicKey)
	other := operator.Certificate(t, &otherKey().PublicKey)
	certificate := operator.PEM("CERTIFICATE", der)
	private, err := x509.MarshalPKCS8PrivateKey(otherKey())
	require.NoError(t, err)
	sum := sha256.Sum256(der)
	for name, form := range map[string][]byte{
		"DER":               der,
		"PEM":               certificate,
		"text around":       slices.Concat([]byte("0 s:CN = operator\n"), certificate, []byte("\r\n \t\n")),
		"CRLF":              bytes.ReplaceAll(certificate, []byte("\n"), []byte("\r\n")),
		"byte order mark":   slices.Concat([]byte("\ufeff"), certificate),
		"chain":             slices.Concat(certificate, operator.PEM("CERTIFICATE", other)),
		"private key first": slices.Concat(operator.PEM("PRIVATE KEY", private), certificate),
		"text between":      slices.Concat(operator.PEM("PRIVATE KEY", private), []byte("Bag Attributes\n"), certificate),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, rule := ParseCertificate(form)
			require.Empty(t, rule)
			require.Equal(t, der, parsed.Raw)
			require.Equal(t, hex.EncodeToString(sum[:]), Fingerprint(parsed))
		})
	}
}

func TestCertificatesAreRefused(t *testing.T) {
	t.Parallel()
	der := operator.Certificate(t, &operator.Key().PublicKey)
	certificate := operator.PEM("CERTIFICATE", der)
	other := operator.PEM("CERTIFICATE", operator.Certificate(t, &otherKey().PublicKey))
	damaged := bytes.Replace(certificate, certificate[100:104], []byte("!?!?"), 1)
	cut := certificate[:len(certificate)/2]
	elliptical, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	edwards, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	modulus := operator.Key().N
	even := &rsa.PublicKey{N: new(big.Int).Add(modulus, big.NewInt(1)), E: operator.Key().E}
	identity := &rsa.PublicKey{N: modulus, E: 1}

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
		"PEM of junk":                {operator.PEM("CERTIFICATE", []byte("junk")), content},
		"PEM of DER and junk":        {operator.PEM("CERTIFICATE", slices.Concat(der, []byte{0})), content},
		"junk block before":          {slices.Concat(operator.PEM("CERTIFICATE", []byte("junk")), certificate), content},
		"no certificate block":       {operator.PEM("PUBLIC KEY", der), "must have a PEM block of type CERTIFICATE"},
		"ECDSA":                      {operator.Certificate(t, elliptical.Public()), "must have an RSA key"},
		"Ed25519":                    {operator.Certificate(t, edwards), "must have an RSA key"},
		"RSA 1,024":                  {operator.Certificate(t, modulusOf(1024)), "must have an RSA key of at least 2,048 bits"},
		"even modulus":               {operator.Certificate(t, even), unusable},
		"exponent 1":                 {operator.Certificate(t, identity), unusable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key, rule := keyOf(c.data)
			require.Empty(t, key)
			require.Equal(t, c.rule, rule)
		})
	}
}

// modulusOf returns a public key of that many bits, which nobody can open.
func modulusOf(bits uint) *rsa.PublicKey {
	one := big.NewInt(1)
	return &rsa.PublicKey{N: new(big.Int).Add(new(big.Int).Lsh(one, bits-1), one), E: 65537}
}

// A modulus of 2,047 bits is the nearest that must be refused.
func TestPublicKeyBoundary(t *testing.T) {
	t.Parallel()
	_, rule := PublicKey(&x509.Certificate{PublicKey: modulusOf(2048)})
	require.Empty(t, rule)
	_, rule = PublicKey(&x509.Certificate{PublicKey: modulusOf(2047)})
	require.Equal(t, "must have an RSA key of at least 2,048 bits", rule)
}

// Any bytes give a key or a rule, and nothing panics.
func FuzzCertificate(f *testing.F) {
	der := operator.Certificate(f, &operator.Key().PublicKey)
	certificate := operator.PEM("CERTIFICATE", der)
	f.Add(der)
	f.Add(certificate)
	f.Add(slices.Concat(certificate[:200], certificate))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("-----BEGIN -----END "))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, rule := keyOf(data)
		require.Equal(t, rule == "", key.public != nil)
	})
}
