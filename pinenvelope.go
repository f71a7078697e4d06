package prepaid

import (
	"crypto/aes"
	"strings"
)

// PINEnvelope is the encrypted form of a PINSecret, made by PINKey.Seal. It holds nothing readable without the
// operator's private key: safe to marshal, log, store and forward. The zero value is no envelope, and is refused.
type PINEnvelope struct {
	// EncryptedData is the payload under AES-128-CBC with PKCS#7 padding, in hex: whole blocks of 16 bytes.
	EncryptedData string `json:"encrypted_data"`
	// PublicKeyFingerprint identifies the operator's certificate, in the form agreed with the operator.
	PublicKeyFingerprint string `json:"public_key_fingerprint"`
	// EncryptedKey is the AES key under RSA-OAEP, in hex: at least 256 bytes.
	EncryptedKey string `json:"encrypted_key"`
	// OAEPHashingAlgorithm is the OAEP hash. PINKey.Seal always names it. An envelope made elsewhere may leave it out,
	// which means SHA256 to the service; it is then sent without it.
	OAEPHashingAlgorithm PINHash `json:"oaep_hashing_algorithm,omitzero"`
	// IV is the initialisation vector of the payload, in hex: 16 bytes.
	IV string `json:"iv"`
}

// faults checks the form of an envelope, which may have come from elsewhere; path stands before the field names
// when it is not empty. Whether it decrypts only the service can tell.
func (e PINEnvelope) faults(path string) []Fault {
	if path != "" {
		path += "."
	}
	var v validator
	v.hexBytes(path+"encrypted_data", e.EncryptedData, "must be one or more whole blocks of 16 bytes in hex",
		func(size int) bool { return size%aes.BlockSize == 0 })
	v.required(path+"public_key_fingerprint", e.PublicKeyFingerprint)
	v.hexBytes(path+"encrypted_key", e.EncryptedKey, "must be at least 256 bytes in hex",
		func(size int) bool { return size >= minPINKeyBits/8 })
	if e.OAEPHashingAlgorithm != "" && !e.OAEPHashingAlgorithm.Known() {
		v.fault(path+"oaep_hashing_algorithm", rulePINHash)
	}
	v.hexBytes(path+"iv", e.IV, "must be 16 bytes in hex",
		func(size int) bool { return size == aes.BlockSize })
	return v.faults
}

// hexBytes checks a required value in hex, of either case, whose count of bytes must fit.
func (v *validator) hexBytes(field, value, rule string, fits func(size int) bool) {
	if !v.required(field, value) {
		return
	}
	digits := !strings.ContainsFunc(value, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'f') && (r < 'A' || r > 'F')
	})
	if !digits || len(value)%2 != 0 || !fits(len(value)/2) {
		v.fault(field, rule)
	}
}
