package operator

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// Vectors are test vectors for programs in any language. OpenSSL made them; never change a value, since devices test with copies.
type Vectors struct {
	Certificate string `json:"certificate"` // PEM
	PrivateKey  string `json:"private_key"`
	Fingerprint string `json:"public_key_fingerprint"`
	AESKey      string `json:"aes_key"`
	IV          string `json:"iv"`
	Payloads    []struct {
		OTP           string `json:"otp"`
		PIN           string `json:"pin"`
		Payload       string `json:"payload"`
		EncryptedData string `json:"encrypted_data"` // under AESKey and IV
	} `json:"payloads"`
	EncryptedKeys []struct {
		Hash         string `json:"oaep_hashing_algorithm"`
		MGF1Hash     string `json:"mgf1_hash"`
		EncryptedKey string `json:"encrypted_key"` // of AESKey
	} `json:"encrypted_keys"`
}

// ReadVectors returns the vectors and their private key.
func ReadVectors(t testing.TB) (v Vectors, private *rsa.PrivateKey) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tree.Root(t), "docs", "pin-vectors.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &v))
	block, _ := pem.Decode([]byte(v.PrivateKey))
	require.NotNil(t, block)
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)
	return v, key.(*rsa.PrivateKey)
}
