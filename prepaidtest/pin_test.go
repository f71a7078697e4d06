package prepaidtest

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// seal is an independent partner's side of 4.7.
func seal(t *testing.T, certificate []byte, hash crypto.Hash, name, payload string) map[string]any {
	t.Helper()
	block, _ := pem.Decode(certificate)
	require.NotNil(t, block)
	parsed, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	key, iv := make([]byte, 16), make([]byte, 16)
	_, _ = rand.Read(key)
	_, _ = rand.Read(iv)
	padding := 16 - len(payload)%16
	plain := append([]byte(payload), bytes.Repeat([]byte{byte(padding)}, padding)...)
	encrypter, err := aes.NewCipher(key)
	require.NoError(t, err)
	data := make([]byte, len(plain))
	cipher.NewCBCEncrypter(encrypter, iv).CryptBlocks(data, plain)
	sealed, err := rsa.EncryptOAEP(hash.New(), rand.Reader, parsed.PublicKey.(*rsa.PublicKey), key, nil)
	require.NoError(t, err)
	fingerprint := sha256.Sum256(parsed.Raw)
	return map[string]any{
		"encrypted_data": hex.EncodeToString(data), "encrypted_key": hex.EncodeToString(sealed), "iv": hex.EncodeToString(iv),
		"public_key_fingerprint": hex.EncodeToString(fingerprint[:]), "oaep_hashing_algorithm": name,
	}
}

func TestSpec_4_7_InitiateValidateExecute(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true})
	id := c.AddAccount(SeedAccount{})
	initiate := func(changes map[string]any) reply {
		return c.post("pin/initiate", body(t, `{"device_id":"d","ip_address":"192.0.2.1","communication_method":"sms","eaid":"`+id+`"}`, changes))
	}
	send := func(step, operation string, envelope, changes map[string]any) reply {
		return c.post("pin/"+step, body(t, body(t, `{"device_id":"d","ip_address":"192.0.2.1","operation_id":"`+operation+`"}`, envelope), changes))
	}
	began := initiate(nil).ok().object()
	operation := began["operation_id"].(string)
	require.True(t, wire.IsUUID(operation))
	otp := c.OTP(operation)
	require.Len(t, otp, 6)
	good := `{"otp":"` + otp + `","pin":"4321"}`
	certificate := c.PINCertificate()

	require.Equal(t, "validated", send("validate", operation, seal(t, certificate, crypto.SHA512, "SHA512", good), nil).ok().object()["status"])
	require.Empty(t, c.PINOf(id))
	require.Equal(t, "executed", send("execute", operation, seal(t, certificate, crypto.SHA256, "SHA256", good), nil).ok().object()["status"])
	require.Equal(t, "4321", c.PINOf(id))
	send("execute", operation, seal(t, certificate, crypto.SHA256, "SHA256", good), nil).refused(400, "invalid_operation")

	operation = initiate(nil).object()["operation_id"].(string)
	good = `{"otp":"` + c.OTP(operation) + `","pin":"9999"}`
	envelope := seal(t, certificate, crypto.SHA256, "SHA256", good)
	send("validate", operation, envelope, map[string]any{"oaep_hashing_algorithm": nil}).ok() // SHA256 is the default
	send("validate", operation, envelope, map[string]any{"device_id": "other"}).refused(400, "invalid_device")
	send("execute", operation, envelope, map[string]any{"device_id": "other"}).refused(400, "invalid_device")
	send("validate", "123e4567-e89b-12d3-a456-426614174000", envelope, nil).refused(400, "invalid_operation")
	send("validate", operation, seal(t, certificate, crypto.SHA256, "SHA256", `{"otp":"x","pin":"1"}`), nil).refused(400, "invalid_otp")
	require.Contains(t, send("validate", operation, envelope, map[string]any{"public_key_fingerprint": "00"}).refused(400, "invalid_envelope"), "public_key_fingerprint")
	require.Contains(t, send("validate", operation, envelope, map[string]any{"iv": "00"}).refused(400, "invalid_envelope"), "iv")
	require.Contains(t, send("validate", operation, envelope, map[string]any{"encrypted_data": "00"}).refused(400, "invalid_envelope"), "encrypted_data")
	for _, test := range []struct {
		field string
		value any
	}{
		{"iv", "zz"}, {"encrypted_data", nil}, {"encrypted_key", nil}, {"iv", nil}, {"public_key_fingerprint", nil}, {"oaep_hashing_algorithm", "SHA1"},
		{"operation_id", "x"}, {"device_id", nil}, {"ip_address", nil}, {"otp", "1"},
	} {
		require.Contains(t, send("execute", operation, envelope, map[string]any{test.field: test.value}).refused(400, "invalid_request"), test.field)
	}
	c.Advance(10 * time.Minute)
	send("execute", operation, envelope, nil).refused(400, "invalid_operation")
	require.Equal(t, "4321", c.PINOf(id))

	for _, field := range []string{"eaid", "device_id", "ip_address", "communication_method"} {
		require.Contains(t, initiate(map[string]any{field: nil}).refused(400, "invalid_request"), field)
	}
	initiate(map[string]any{"eaid": "nobody"}).refused(404, "account_not_found")
	initiate(map[string]any{"eaid": c.AddAccount(SeedAccount{Cardholder: &Cardholder{}})}).refused(400, "invalid_request")

	log, err := json.Marshal(c.Requests())
	require.NoError(t, err)
	for _, secret := range []any{envelope["encrypted_data"], envelope["encrypted_key"], envelope["iv"], c.token} {
		require.NotContains(t, string(log), secret)
	}
}

func TestPINKeysDifferBetweenServers(t *testing.T) {
	t.Parallel()
	require.NotEqual(t, NewServer(t, Options{}).PINCertificate(), NewServer(t, Options{}).PINCertificate())
}
