package prepaid

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// pinKeySize is the size of the ephemeral AES-128 key in bytes.
const pinKeySize = 16

// PINSecret is what gets encrypted. It prints and marshals as [REDACTED]. The zero value lacks both fields.
type PINSecret struct {
	// OTP is the one-time password that the cardholder received. Required.
	OTP Secret
	// PIN is the new PIN. Required; the service states no length or alphabet, so none is checked.
	PIN Secret
}

// Seal encrypts secret with an AES key and vector that are fresh for each call: two envelopes of one secret share
// only the fingerprint and the name of the hash.
//
// The buffers that held the payload and the AES key are cleared afterwards. This is best effort: the strings
// inside the Secrets, and what the crypto packages keep, stay until the garbage collector reuses the memory.
// The format has no integrity check (CBC without a MAC), so a changed envelope is noticed only by the service.
//
// Errors: *ValidationError on the fields otp and pin, and on certificate once it has expired or when the PINKey
// was not made by NewPINKey. Nothing of the secret is in an error.
func (k *PINKey) Seal(secret PINSecret) (*PINEnvelope, error) {
	var v validator
	if k.usable() {
		k.checkValidity(&v)
	} else {
		v.fault("certificate", "must have been read by NewPINKey")
	}
	otp, pin := secret.OTP.Reveal(), secret.PIN.Reveal()
	v.required("otp", otp) // bad UTF-8, too, is refused: it would be sent as U+FFFD, which is another text
	v.required("pin", pin)
	if len(v.faults) > 0 {
		return nil, &ValidationError{Faults: v.faults}
	}

	var ephemeral [pinKeySize]byte
	var iv [aes.BlockSize]byte
	defer clear(ephemeral[:])
	_, _ = rand.Read(ephemeral[:]) // never fails: it ends the program instead
	_, _ = rand.Read(iv[:])
	wrapped, err := k.wrap(ephemeral[:])
	if err != nil {
		return nil, fmt.Errorf("prepaid: sealing the PIN: %w", err)
	}
	block, err := aes.NewCipher(ephemeral[:])
	if err != nil {
		return nil, fmt.Errorf("prepaid: sealing the PIN: %w", err)
	}

	data := pinPayload(otp, pin)
	defer clear(data)
	cipher.NewCBCEncrypter(block, iv[:]).CryptBlocks(data, data) // in place: the plaintext is gone
	return &PINEnvelope{
		EncryptedData:        hex.EncodeToString(data),
		PublicKeyFingerprint: k.fingerprint,
		EncryptedKey:         hex.EncodeToString(wrapped),
		OAEPHashingAlgorithm: k.hash,
		IV:                   hex.EncodeToString(iv[:]),
	}, nil
}

// pinPayload returns {"otp":"…","pin":"…"} with its PKCS#7 padding. The buffer is made large enough at the start:
// growing would leave a copy behind.
func pinPayload(otp, pin string) []byte {
	const escaped = len(`\u001f`) // the longest form of one byte
	const frame = len(`{"otp":"","pin":""}`)
	data := make([]byte, 0, frame+escaped*(len(otp)+len(pin))+aes.BlockSize)
	data = append(data, `{"otp":`...)
	data, _ = jsontext.AppendQuote(data, otp) // fails only on bad UTF-8, refused before
	data = append(data, `,"pin":`...)
	data, _ = jsontext.AppendQuote(data, pin)
	data = append(data, '}')
	padding := aes.BlockSize - len(data)%aes.BlockSize
	for range padding {
		data = append(data, byte(padding))
	}
	return data
}
