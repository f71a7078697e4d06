package prepaid

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha1" // MGF1 only; links the hash for crypto.SHA1
	"crypto/sha256"
	_ "crypto/sha512" // links the hash for crypto.SHA512
	"crypto/x509"
	"encoding/hex"
	"errors"
	"time"
)

// PINHash names the hash of RSA-OAEP, as it stands in oaep_hashing_algorithm. The zero value means PINHashSHA256, in
// PINKeyOptions as in an envelope.
type PINHash string

const (
	// PINHashSHA256 is SHA-256, the default.
	PINHashSHA256 PINHash = "SHA256"
	// PINHashSHA512 is SHA-512.
	PINHashSHA512 PINHash = "SHA512"
)

// Known reports whether the service lists the hash.
func (h PINHash) Known() bool { return h.hash() != 0 }

func (h PINHash) hash() crypto.Hash {
	switch h {
	case PINHashSHA256:
		return crypto.SHA256
	case PINHashSHA512:
		return crypto.SHA512
	}
	return 0
}

const rulePINHash = "must be SHA256 or SHA512"

// minPINKeyBits is the smallest RSA modulus that may protect a PIN.
const minPINKeyBits = 2048

// PINKeyOptions settle what the service does not specify. The zero value is the usual choice; ask the operator
// before changing it.
type PINKeyOptions struct {
	// Hash is the OAEP hash: PINHashSHA256 when empty. It is always named in the envelope.
	Hash PINHash
	// MGF1Hash is the hash of OAEP's mask function: "SHA1", "SHA256" or "SHA512"; the same as Hash when empty.
	// The envelope does not carry it, so both sides must agree. Java's default provider uses "SHA1", which a Go
	// program in FIPS 140-only mode refuses.
	MGF1Hash string
	// Fingerprint returns the public_key_fingerprint of the certificate: SHA-256 over its DER form in lower-case
	// hex when nil. It is called once, by NewPINKey, and must return a text that is not empty.
	Fingerprint func(*x509.Certificate) string
	// AllowExpired accepts a certificate that is expired or not yet valid. False refuses it, in NewPINKey and in
	// Seal.
	AllowExpired bool
}

// PINKey seals PINs for one operator certificate. It needs no Client: seal where the PIN is typed, so that your
// backend sees only envelopes. It holds public data only and is safe for concurrent use. Make it with NewPINKey;
// the zero value seals nothing.
type PINKey struct {
	public       *rsa.PublicKey
	hash         PINHash
	oaep         rsa.OAEPOptions
	fingerprint  string
	notBefore    time.Time
	notAfter     time.Time
	allowExpired bool
}

// NewPINKey reads the operator's certificate, in PEM or DER form, for sealing. Of a PEM file the first CERTIFICATE
// block counts and other blocks are skipped. Every block must be well formed, with nothing but white space after
// the last, so that a damaged certificate is never passed over for the next one in the file.
//
// The key must be RSA of at least 2,048 bits, and the certificate within its validity period unless
// PINKeyOptions.AllowExpired is set. The issuer's signature is not checked: take the file from the operator by a
// channel you trust.
//
// Errors: *ValidationError with all faults at once, on the fields certificate, hash, mgf1_hash and fingerprint.
func NewPINKey(certificate []byte, options PINKeyOptions) (*PINKey, error) {
	var v validator
	key := &PINKey{hash: options.Hash, allowExpired: options.AllowExpired}
	parsed := parsePINCertificate(&v, certificate)
	if parsed != nil {
		key.public = pinPublicKey(&v, parsed)
		key.notBefore, key.notAfter = parsed.NotBefore, parsed.NotAfter
		key.checkValidity(&v)
	}
	if key.hash == "" {
		key.hash = PINHashSHA256
	}
	key.oaep.Hash = key.hash.hash()
	if !key.hash.Known() {
		v.fault("hash", rulePINHash)
	}
	key.oaep.MGFHash = mgf1Hash(&v, options.MGF1Hash)
	if parsed != nil {
		key.fingerprint = pinFingerprint(&v, parsed, options.Fingerprint)
	}
	if len(v.faults) == 0 {
		// A trial now, rather than a failure at the first PIN: crypto/rsa checks modulus and exponent only in use.
		if _, err := key.wrap(make([]byte, pinKeySize)); err != nil {
			v.fault("certificate", "must have an RSA key that crypto/rsa can use with these hashes")
		}
	}
	if len(v.faults) > 0 {
		return nil, &ValidationError{Faults: v.faults}
	}
	return key, nil
}

// Fingerprint returns the public_key_fingerprint that the envelopes carry, or "" for a zero PINKey.
func (k *PINKey) Fingerprint() string {
	if k == nil {
		return ""
	}
	return k.fingerprint
}

// NotAfter returns the last instant at which the certificate is valid, so that a service can warn well before
// Seal starts to refuse. It is the zero time for a zero PINKey.
func (k *PINKey) NotAfter() time.Time {
	if k == nil {
		return time.Time{}
	}
	return k.notAfter
}

// String names hash and fingerprint, both public.
func (k *PINKey) String() string {
	if !k.usable() {
		return "PINKey(none)"
	}
	return "PINKey(" + string(k.hash) + " " + k.fingerprint + ")"
}

func (k *PINKey) usable() bool { return k != nil && k.public != nil }

// checkValidity holds the certificate against the clock; NotBefore and NotAfter are both inclusive.
func (k *PINKey) checkValidity(v *validator) {
	now := time.Now()
	switch {
	case k.allowExpired:
	case now.Before(k.notBefore):
		v.fault("certificate", "must be valid already")
	case now.After(k.notAfter):
		v.fault("certificate", "must not be expired")
	}
}

// wrap encrypts the ephemeral key with RSA-OAEP. Go's SHA-1 panics in FIPS 140-only mode: that becomes an error.
func (k *PINKey) wrap(ephemeral []byte) (wrapped []byte, err error) {
	defer func() {
		if recover() != nil {
			wrapped, err = nil, errors.New("the hash cannot be used in this program")
		}
	}()
	return rsa.EncryptOAEPWithOptions(rand.Reader, k.public, ephemeral, &k.oaep)
}

// mgf1Hash returns 0 for "": crypto/rsa then takes the OAEP hash.
func mgf1Hash(v *validator, name string) crypto.Hash {
	switch name {
	case "":
		return 0
	case "SHA1":
		return crypto.SHA1
	case "SHA256":
		return crypto.SHA256
	case "SHA512":
		return crypto.SHA512
	}
	v.fault("mgf1_hash", "must be SHA1, SHA256 or SHA512")
	return 0
}

// pinFingerprint asks the caller's function, or computes the default. The value of a panic is dropped: nobody
// knows what it holds.
func pinFingerprint(v *validator, certificate *x509.Certificate, by func(*x509.Certificate) string) (fingerprint string) {
	if by == nil {
		sum := sha256.Sum256(certificate.Raw)
		return hex.EncodeToString(sum[:])
	}
	defer func() {
		if recover() != nil {
			v.fault("fingerprint", "must come from a function that does not panic")
		}
	}()
	fingerprint = by(certificate)
	v.required("fingerprint", fingerprint) // the form is the operator's affair
	return fingerprint
}
