// Package operator is the operator's side of a PIN envelope, for tests: a private key, certificates, a way to open a sealed value, and test
// vectors.
package operator

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// Key returns the operator's private key, which is the same during the life of a process.
var Key = sync.OnceValue(func() *rsa.PrivateKey {
	key, _ := rsa.GenerateKey(rand.Reader, 2048) // fails for smaller keys only
	return key
})

// Certificate returns a DER certificate for a public key. It is valid from an hour ago to an hour from now.
func Certificate(t testing.TB, public any, edit ...func(*x509.Certificate)) []byte {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "operator"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
	}
	for _, f := range edit {
		f(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, Key())
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// PEM returns a block of PEM.
func PEM(kind string, data []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data})
}

// Unwrap decrypts the AES key of an envelope.
func Unwrap(private *rsa.PrivateKey, wrapped string, hash, mgf1 crypto.Hash) ([]byte, error) {
	raw, err := hex.DecodeString(wrapped)
	if err != nil {
		return nil, err
	}
	return private.Decrypt(nil, raw, &rsa.OAEPOptions{Hash: hash, MGFHash: mgf1})
}

// Decrypt decrypts the payload and checks every byte of the padding.
func Decrypt(ephemeral []byte, data, iv string) (string, error) {
	vector, err := hex.DecodeString(iv)
	if err != nil {
		return "", err
	}
	raw, err := hex.DecodeString(data)
	if err != nil {
		return "", err
	}
	if len(ephemeral) != 16 || len(vector) != 16 || len(raw) == 0 || len(raw)%16 != 0 {
		return "", fmt.Errorf("sizes: key %d, vector %d, data %d", len(ephemeral), len(vector), len(raw))
	}
	block, err := aes.NewCipher(ephemeral)
	if err != nil {
		return "", err
	}
	cipher.NewCBCDecrypter(block, vector).CryptBlocks(raw, raw)
	padding := int(raw[len(raw)-1])
	if padding < 1 || padding > 16 || !bytes.HasSuffix(raw, bytes.Repeat([]byte{byte(padding)}, padding)) {
		return "", errors.New("padding")
	}
	return string(raw[:len(raw)-padding]), nil
}

// Open returns the payload of an envelope.
func Open(private *rsa.PrivateKey, data, wrapped, iv string, hash, mgf1 crypto.Hash) (string, error) {
	ephemeral, err := Unwrap(private, wrapped, hash, mgf1)
	if err != nil {
		return "", err
	}
	return Decrypt(ephemeral, data, iv)
}

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
