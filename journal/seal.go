package journal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/cardprograms/prepaid"
)

// AEAD is authenticated encryption with associated data, like Tink's: Decrypt needs only the result of Encrypt, the key and the
// associated data. Use [NewAEAD], or a key in a KMS.
type AEAD interface {
	// Encrypt returns the ciphertext.
	Encrypt(plaintext, associatedData []byte) ([]byte, error)
	// Decrypt returns the plaintext. It fails if ciphertext or associated data have changed.
	Decrypt(ciphertext, associatedData []byte) ([]byte, error)
}

// A ciphertext is: one byte, the ID of the key, the nonce, the output of GCM.
const (
	sealVersion = 1
	keyIDSize   = 4
	sealPrefix  = 1 + keyIDSize
)

type keyring struct{ keys []sealKey }

type sealKey struct {
	prefix [sealPrefix]byte
	gcm    cipher.AEAD
}

// NewAEAD returns an AEAD with AES-256-GCM and random nonces. key has 32 random bytes, such as from crypto/rand; it is not a password.
// Encrypt uses key; Decrypt also uses the older keys. To rotate, put the new key first, and remove the old key when nothing is sealed with
// it any more. A ciphertext starts with five bytes that name its key, and is 33 bytes longer than the plaintext.
//
// Do not seal more than 2³² payments with one key: two of the random nonces could become equal, which reveals data and breaks
// the authentication.
//
// Errors: a [*prepaid.ValidationError] if a key does not have 32 bytes. Errors of Decrypt: [ErrKey], [ErrSealed].
func NewAEAD(key []byte, older ...[]byte) (AEAD, error) {
	ring := &keyring{}
	for _, key := range append([][]byte{key}, older...) {
		if len(key) != 32 {
			return nil, refused("key", "must have 32 bytes")
		}
		block, _ := aes.NewCipher(key) // this length is valid
		gcm, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil { // never with AES
			return nil, fmt.Errorf("journal: %w", err)
		}
		id := hmac.New(sha256.New, key)
		id.Write([]byte("prepaid journal key id"))
		k := sealKey{gcm: gcm}
		k.prefix[0] = sealVersion
		copy(k.prefix[1:], id.Sum(nil))
		ring.keys = append(ring.keys, k)
	}
	return ring, nil
}

func (r *keyring) Encrypt(plaintext, associatedData []byte) ([]byte, error) {
	k := r.keys[0]
	return k.gcm.Seal(k.prefix[:], nil, plaintext, associatedData), nil //nolint:gosec // this mode makes the nonce itself
}

func (r *keyring) Decrypt(ciphertext, associatedData []byte) ([]byte, error) {
	if len(ciphertext) < sealPrefix || ciphertext[0] != sealVersion {
		return nil, ErrSealed
	}
	failure := ErrKey
	for _, k := range r.keys {
		if [sealPrefix]byte(ciphertext) != k.prefix {
			continue
		}
		if plaintext, err := k.gcm.Open(nil, nil, ciphertext[sealPrefix:], associatedData); err == nil {
			return plaintext, nil
		}
		failure = ErrSealed
	}
	return nil, failure
}

func (r *keyring) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("journal.AEAD")) }

func (r *keyring) LogValue() slog.Value { return slog.StringValue("journal.AEAD") }

// Seal returns the params of e, encrypted. Store the result with e: as [Entry].Sealed, or in a column. The result is bound to
// request ID, operation and account of e: Open refuses it for another payment.
//
// Errors: those of aead.
func (e Entry) Seal(aead AEAD, params prepaid.PaymentParams) ([]byte, error) {
	plaintext, _ := json.Marshal(withoutLastSent(params)) // strings and numbers always marshal
	sealed, err := aead.Encrypt(plaintext, e.sealContext())
	if err != nil {
		return nil, fmt.Errorf("journal: cannot seal params: %w", err)
	}
	return sealed, nil
}

// Open returns the params that Seal encrypted, a [prepaid.TransferParams] or [prepaid.DirectEntryOutParams], without LastSent:
// [Run.Send] sets it. digestKey is the key with which the digests of e were made.
//
// Errors: [ErrNoParams] if sealed is empty; [ErrKey] if aead is nil or lacks the key; [ErrSealed] if sealed was changed, belongs
// to another payment, or its params do not match the digests; those of aead. No error contains params.
func (e Entry) Open(aead AEAD, digestKey prepaid.Secret, sealed []byte) (prepaid.PaymentParams, error) {
	switch {
	case len(sealed) == 0:
		return nil, ErrNoParams
	case aead == nil:
		return nil, ErrKey
	}
	plaintext, err := aead.Decrypt(sealed, e.sealContext())
	if err != nil {
		return nil, fmt.Errorf("journal: cannot open sealed params: %w", err)
	}
	params, err := decodeParams(e.Operation, plaintext)
	if err != nil {
		return nil, ErrSealed
	}
	again, err := NewEntry(digestKey, e.AccountID, params)
	if err != nil || again.RequestID != e.RequestID || e.Match(again) != nil {
		return nil, ErrSealed
	}
	return params, nil
}

func decodeParams(operation string, plaintext []byte) (prepaid.PaymentParams, error) {
	switch operation {
	case operationTransfer:
		var p prepaid.TransferParams
		err := json.Unmarshal(plaintext, &p)
		return p, err
	case operationDirectEntryOut:
		var p prepaid.DirectEntryOutParams
		err := json.Unmarshal(plaintext, &p)
		return p, err
	}
	return nil, ErrSealed
}

// sealContext is the associated data: each text with its length, so that any two payments have different data.
func (e Entry) sealContext() []byte {
	context := []byte("prepaid journal params 1")
	for _, text := range [...]string{string(e.RequestID), e.Operation, string(e.AccountID)} {
		context = append(binary.AppendUvarint(context, uint64(len(text))), text...)
	}
	return context
}
