// Package envelope encrypts a one-time password and a PIN for the holder of a certificate's private key.
//
// The payload {"otp":"…","pin":"…"} is encrypted with AES-128-CBC and PKCS#7 padding. The AES key and the vector are new for
// each envelope. The AES key is encrypted with RSA-OAEP. [ParseCertificate], [PublicKey] and [NewKey] turn the operator's
// file into a [Key]. Each function returns the rule that its input breaks, in words that name no value, or "".
//
// Guarantees:
//   - A damaged certificate is never skipped in favour of the next one in its file.
//   - An RSA key has at least 2,048 bits, and crypto/rsa can use it: NewKey makes one encryption with the key.
//   - The buffers that held the payload and the AES key are cleared, and never grow, since growing leaves a copy. This is
//     best effort: strings, and copies in the crypto packages, remain until the garbage collector reuses the memory.
//   - No error contains any part of a secret.
//
// The format has no integrity check (CBC without a MAC), so only the service notices a changed envelope. This package
// does not check the expiry or the issuer of a certificate.
package envelope

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	_ "crypto/sha1"   // MGF1 only; links the hash for crypto.SHA1
	_ "crypto/sha512" // links the hash for crypto.SHA512
	"encoding/hex"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// BlockSize is the size of the vector, and of each block of the payload, in bytes.
	BlockSize = aes.BlockSize
	// MinWrapped is the smallest size of the encrypted AES key in bytes.
	MinWrapped = minKeyBits / 8

	// minKeyBits is the smallest RSA modulus that may protect a PIN.
	minKeyBits = 2048
	// keySize is the size of an AES-128 key in bytes.
	keySize = 16
)

// Hash returns the hash with the name SHA1, SHA256 or SHA512, and 0 for any other name.
func Hash(name string) crypto.Hash {
	switch name {
	case "SHA1":
		return crypto.SHA1
	case "SHA256":
		return crypto.SHA256
	case "SHA512":
		return crypto.SHA512
	}
	return 0
}

// Key seals payloads. It holds public data only and is safe for concurrent use. The zero Key seals nothing.
type Key struct {
	public *rsa.PublicKey
	oaep   rsa.OAEPOptions
}

// NewKey returns a key that uses hash for OAEP and mgf1 (0 means hash) for the mask function of OAEP, or the rule that is broken.
// It encrypts once with the key, because crypto/rsa checks modulus and exponent only when the key is used.
func NewKey(public *rsa.PublicKey, hash, mgf1 crypto.Hash) (key Key, rule string) {
	key = Key{public: public, oaep: rsa.OAEPOptions{Hash: hash, MGFHash: mgf1}}
	if _, err := key.wrap(make([]byte, keySize)); err != nil {
		return Key{}, "must have an RSA key that crypto/rsa can use with these hashes"
	}
	return key, ""
}

// wrap encrypts the AES key with RSA-OAEP. Go's SHA-1 panics in FIPS 140-only mode: wrap returns this panic as an error.
func (k *Key) wrap(ephemeral []byte) (wrapped []byte, err error) {
	defer func() {
		if recover() != nil {
			wrapped, err = nil, errors.New("the hash cannot be used in this program")
		}
	}()
	return rsa.EncryptOAEPWithOptions(rand.Reader, k.public, ephemeral, &k.oaep)
}

// Sealed is an envelope, in lower-case hex.
type Sealed struct {
	Data string // the payload, encrypted with AES
	Key  string // the AES key, encrypted with RSA
	IV   string // the vector of the payload
}

// Seal encrypts otp and pin, which must be valid UTF-8.
func (k *Key) Seal(otp, pin string) (Sealed, error) {
	var ephemeral [keySize]byte
	var iv [aes.BlockSize]byte
	defer clear(ephemeral[:])
	_, _ = rand.Read(ephemeral[:]) // never fails: it ends the program instead
	_, _ = rand.Read(iv[:])
	wrapped, err := k.wrap(ephemeral[:])
	if err != nil {
		return Sealed{}, err
	}
	block, err := aes.NewCipher(ephemeral[:])
	if err != nil {
		return Sealed{}, err
	}
	data := payload(otp, pin)
	defer clear(data)
	cipher.NewCBCEncrypter(block, iv[:]).CryptBlocks(data, data) // in place: this overwrites the plaintext
	return Sealed{Data: hex.EncodeToString(data), Key: hex.EncodeToString(wrapped), IV: hex.EncodeToString(iv[:])}, nil
}

// payload returns {"otp":"…","pin":"…"} with its PKCS#7 padding. The buffer is made large enough at the start: growing would
// leave a copy behind.
func payload(otp, pin string) []byte {
	const escaped = len(`\u001f`) // the longest form of one byte
	const frame = len(`{"otp":"","pin":""}`)
	data := make([]byte, 0, frame+escaped*(len(otp)+len(pin))+aes.BlockSize)
	data = append(data, `{"otp":`...)
	data, _ = jsontext.AppendQuote(data, otp) // fails only on invalid UTF-8
	data = append(data, `,"pin":`...)
	data, _ = jsontext.AppendQuote(data, pin)
	data = append(data, '}')
	padding := aes.BlockSize - len(data)%aes.BlockSize
	for range padding {
		data = append(data, byte(padding))
	}
	return data
}
