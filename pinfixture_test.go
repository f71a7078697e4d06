package prepaid

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
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func pinGenerateRSA(bits int) func() *rsa.PrivateKey {
	return sync.OnceValue(func() *rsa.PrivateKey {
		key, err := rsa.GenerateKey(rand.Reader, bits)
		if err != nil {
			panic(err)
		}
		return key
	})
}

// The operator's private key, another one, and one that is too small.
var (
	pinTestKey      = pinGenerateRSA(2048)
	pinTestOtherKey = pinGenerateRSA(2048)
	pinTestWeakKey  = pinGenerateRSA(1024)
)

// pinTestCertificate returns a DER certificate of public, valid from one hour ago for two hours.
func pinTestCertificate(t testing.TB, public any, edit ...func(*x509.Certificate)) []byte {
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
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, pinTestKey())
	require.NoError(t, err)
	return der
}

func pemBlock(kind string, data []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data})
}

func testPINKey(t testing.TB, options PINKeyOptions) *PINKey {
	t.Helper()
	key, err := NewPINKey(pinTestCertificate(t, &pinTestKey().PublicKey), options)
	require.NoError(t, err)
	return key
}

func pinSecret(otp, pin string) PINSecret { return PINSecret{OTP: NewSecret(otp), PIN: NewSecret(pin)} }

// openEphemeral undoes the RSA layer.
func openEphemeral(private *rsa.PrivateKey, e *PINEnvelope, hash, mgf1 crypto.Hash) ([]byte, error) {
	wrapped, err := hex.DecodeString(e.EncryptedKey)
	if err != nil {
		return nil, err
	}
	return private.Decrypt(nil, wrapped, &rsa.OAEPOptions{Hash: hash, MGFHash: mgf1})
}

// openPayload undoes the AES layer and checks every byte of the padding.
func openPayload(ephemeral []byte, e *PINEnvelope) ([]byte, error) {
	iv, err := hex.DecodeString(e.IV)
	if err != nil {
		return nil, err
	}
	data, err := hex.DecodeString(e.EncryptedData)
	if err != nil {
		return nil, err
	}
	if len(ephemeral) != 16 || len(iv) != 16 || len(data) == 0 || len(data)%16 != 0 {
		return nil, fmt.Errorf("sizes: key %d, iv %d, data %d", len(ephemeral), len(iv), len(data))
	}
	block, err := aes.NewCipher(ephemeral)
	if err != nil {
		return nil, err
	}
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
	padding := int(data[len(data)-1])
	if padding < 1 || padding > 16 || !bytes.HasSuffix(data, bytes.Repeat([]byte{byte(padding)}, padding)) {
		return nil, errors.New("padding")
	}
	return data[:len(data)-padding], nil
}

// openPIN is the operator's side.
func openPIN(private *rsa.PrivateKey, e *PINEnvelope, hash, mgf1 crypto.Hash) (map[string]string, error) {
	ephemeral, err := openEphemeral(private, e, hash, mgf1)
	if err != nil {
		return nil, err
	}
	payload, err := openPayload(ephemeral, e)
	if err != nil {
		return nil, err
	}
	var members map[string]string
	if err := json.Unmarshal(payload, &members); err != nil {
		return nil, err
	}
	return members, nil
}
