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
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// seal is an independent partner's side of 4.7.
func seal(t *testing.T, certificate []byte, hash crypto.Hash, name, payload string) map[string]any {
	t.Helper()
	key := make([]byte, 16)
	_, _ = rand.Read(key)
	return sealRaw(t, certificate, hash, name, key, padded(payload))
}

// sealRaw encrypts bytes as they are, under a key of any length.
func sealRaw(t *testing.T, certificate []byte, hash crypto.Hash, name string, key, plain []byte) map[string]any {
	t.Helper()
	block, _ := pem.Decode(certificate)
	require.NotNil(t, block)
	parsed, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	iv := make([]byte, aes.BlockSize)
	_, _ = rand.Read(iv)
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
	c := start(t, Options{FrozenClock: true}).withKeyPair()
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
	send("validate", operation, envelope, map[string]any{"device_id": "other"}).refused(400, "invalid_device")
	send("execute", operation, envelope, map[string]any{"device_id": "other"}).refused(400, "invalid_device")
	send("validate", "123e4567-e89b-12d3-a456-426614174000", envelope, nil).refused(400, "invalid_operation")
	send("validate", operation, seal(t, certificate, crypto.SHA256, "SHA256", `{"otp":"x","pin":"1"}`), nil).refused(400, "invalid_otp")
	require.Contains(t, send("validate", operation, envelope, map[string]any{"iv": "00"}).refused(400, "invalid_request"), "iv")
	require.Contains(t, send("validate", operation, envelope, map[string]any{"encrypted_data": "00"}).refused(400, "invalid_envelope"), "encrypted_data")
	c.Advance(10 * time.Minute)
	send("execute", operation, envelope, nil).refused(400, "invalid_operation")
	require.Equal(t, "4321", c.PINOf(id))

	initiate(map[string]any{"eaid": "nobody"}).refused(404, "account_not_found")
	initiate(map[string]any{"eaid": c.AddAccount(SeedAccount{Cardholder: &Cardholder{}})}).refused(400, "invalid_request")

	log, err := json.Marshal(c.Requests())
	require.NoError(t, err)
	for _, secret := range []any{envelope["encrypted_data"], envelope["encrypted_key"], envelope["iv"], c.token} {
		require.NotContains(t, string(log), secret)
	}
}

// pinCase is a running PIN change with an envelope whose parts a test can break.
type pinCase struct {
	*caller
	id, operation, otp string
	certificate        []byte
}

func newPINCase(t *testing.T, options Options) *pinCase {
	t.Helper()
	c := start(t, options).withKeyPair()
	p := &pinCase{caller: c, id: c.AddAccount(SeedAccount{}), certificate: c.PINCertificate()}
	began := c.post("pin/initiate", `{"device_id":"d","ip_address":"192.0.2.1","communication_method":"sms","eaid":"`+p.id+`"}`)
	p.operation = began.ok().object()["operation_id"].(string)
	p.otp = c.OTP(p.operation)
	return p
}

func (p *pinCase) payload() string { return `{"otp":"` + p.otp + `","pin":"4321"}` }

func (p *pinCase) step(step string, envelope map[string]any) reply {
	p.t.Helper()
	return p.post("pin/"+step, body(p.t, `{"device_id":"d","ip_address":"192.0.2.1","operation_id":"`+p.operation+`"}`, envelope))
}

// sealRaw is sealRaw with the SHA256 hash.
func (p *pinCase) sealRaw(key, plain []byte) map[string]any {
	p.t.Helper()
	return sealRaw(p.t, p.certificate, crypto.SHA256, "SHA256", key, plain)
}

func padded(text string) []byte {
	n := aes.BlockSize - len(text)%aes.BlockSize
	return append([]byte(text), bytes.Repeat([]byte{byte(n)}, n)...)
}

func TestSpec_4_7_Rule1_TheCertificateIsTheOperators(t *testing.T) {
	t.Parallel()
	p := newPINCase(t, Options{})
	require.Equal(t, p.certificate, p.PINCertificate(), "the same each time")
	other := NewServer(t, Options{}).PINCertificate()
	require.Contains(t, p.step("validate", seal(t, other, crypto.SHA256, "SHA256", p.payload())).refused(400, "invalid_envelope"), "public_key_fingerprint")
}

func TestSpec_4_7_Rule2_TheKeyHas128Bits(t *testing.T) {
	t.Parallel()
	p := newPINCase(t, Options{})
	for size, good := range map[int]bool{16: true, 24: false, 32: false} {
		got := p.step("validate", p.sealRaw(make([]byte, size), padded(p.payload())))
		if good {
			got.ok()
		} else {
			require.Contains(t, got.refused(400, "invalid_envelope"), "encrypted_key")
		}
	}
}

func TestSpec_4_7_Rule3_ThePayloadIsTwoStrings(t *testing.T) {
	t.Parallel()
	p := newPINCase(t, Options{})
	for _, payload := range []string{
		`{"otp":"` + p.otp + `"}`, `{"pin":"4321"}`, `{"otp":"` + p.otp + `","pin":4321}`, `{"otp":"` + p.otp + `","pin":null}`, `{"otp":null,"pin":"4321"}`,
		`{"otp":"` + p.otp + `","pin":"4321","more":"x"}`, `["otp","pin"]`, ``, `otp`,
	} {
		envelope := seal(t, p.certificate, crypto.SHA256, "SHA256", payload)
		for _, step := range []string{"validate", "execute"} {
			rule := p.step(step, envelope).refused(400, "invalid_envelope")
			require.Contains(t, rule, "encrypted_data", payload)
			require.NotContains(t, rule, p.otp)
		}
	}
	require.Empty(t, p.PINOf(p.id))
	p.step("execute", seal(t, p.certificate, crypto.SHA256, "SHA256", p.payload())).ok()
	require.Equal(t, "4321", p.PINOf(p.id))
}

func TestSpec_4_7_Rule4_ThePaddingIsPKCS7(t *testing.T) {
	t.Parallel()
	p := newPINCase(t, Options{})
	key := make([]byte, 16)
	good := padded(p.payload())
	p.step("validate", p.sealRaw(key, good)).ok()
	length := int(good[len(good)-1])
	for name, spoil := range map[string]func([]byte){
		"zeros":           func(b []byte) { clear(b[len(b)-length:]) },
		"more than block": func(b []byte) { b[len(b)-1] = 17 },
		"one byte wrong":  func(b []byte) { b[len(b)-length] ^= 1 },
	} {
		if name == "one byte wrong" && length == 1 {
			continue
		}
		spoiled := bytes.Clone(good)
		spoil(spoiled)
		require.Contains(t, p.step("validate", p.sealRaw(key, spoiled)).refused(400, "invalid_envelope"), "encrypted_data", name)
	}
	// A payload of whole blocks has a block of padding.
	whole := strings.Replace(p.payload(), "}", strings.Repeat(" ", aes.BlockSize-len(p.payload())%aes.BlockSize)+"}", 1)
	require.Zero(t, len(whole)%aes.BlockSize)
	p.step("validate", p.sealRaw(key, padded(whole))).ok()
	require.Contains(t, p.step("validate", p.sealRaw(key, []byte(whole))).refused(400, "invalid_envelope"), "encrypted_data")
}

func TestSpec_4_7_Rule5_TheHashIsSHA256OrSHA512(t *testing.T) {
	t.Parallel()
	p := newPINCase(t, Options{})
	for _, test := range []struct {
		sealed crypto.Hash
		named  any
		field  string // wrong one; empty when it opens
	}{
		{crypto.SHA256, "SHA256", ""}, {crypto.SHA512, "SHA512", ""}, {crypto.SHA256, nil, ""}, {crypto.SHA512, nil, "encrypted_key"},
		{crypto.SHA512, "SHA256", "encrypted_key"}, {crypto.SHA256, "SHA512", "encrypted_key"},
		{crypto.SHA1, "SHA1", "oaep_hashing_algorithm"}, {crypto.SHA256, "sha256", "oaep_hashing_algorithm"}, {crypto.SHA256, "", "oaep_hashing_algorithm"},
	} {
		envelope := seal(t, p.certificate, test.sealed, "", p.payload())
		if envelope["oaep_hashing_algorithm"] = test.named; test.named == nil {
			delete(envelope, "oaep_hashing_algorithm")
		}
		got := p.step("validate", envelope)
		if test.field == "" {
			got.ok()
			continue
		}
		require.Equal(t, 400, got.status)
		require.Contains(t, got.object()["error_description"], test.field)
	}
}

func TestSpec_4_7_Rule6_BinaryValuesAreHex(t *testing.T) {
	t.Parallel()
	p := newPINCase(t, Options{})
	envelope := seal(t, p.certificate, crypto.SHA256, "SHA256", p.payload())
	upper := make(map[string]any)
	for name, value := range envelope {
		upper[name] = strings.ToUpper(value.(string))
	}
	p.step("validate", upper).ok()
	for _, name := range []string{"encrypted_data", "encrypted_key", "iv"} {
		spoiled := body(t, `{}`, envelope)
		text := body(t, spoiled, map[string]any{name: "zz", "device_id": "d", "ip_address": "i", "operation_id": p.operation})
		require.Contains(t, p.post("pin/validate", text).refused(400, "invalid_request"), name+" must match")
	}
}

func TestSpec_4_7_AnyCommunicationMethodIsTaken(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{})
	for _, method := range []string{"sms", "email", "SMS", "pigeon"} {
		text := `{"device_id":"d","ip_address":"192.0.2.1","communication_method":"` + method + `","eaid":"` + id + `"}`
		got := c.post("pin/initiate", text).ok().object()
		require.Equal(t, "initiated", got["status"])
		require.Len(t, got, 2)
	}
}

func TestPINChanges(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true, OTPLifetime: time.Minute}).withKeyPair()
	id, other := c.AddAccount(SeedAccount{}), c.AddAccount(SeedAccount{})
	initiate := func(account string) string {
		return c.post("pin/initiate", `{"device_id":"d","ip_address":"i","communication_method":"sms","eaid":"`+account+`"}`).object()["operation_id"].(string)
	}
	require.Empty(t, c.PINChanges(id))
	first := initiate(id)
	c.Advance(time.Second)
	second := initiate(id)
	initiate(other)

	got := c.PINChanges(id)
	require.Len(t, got, 2)
	require.Equal(t, PINChange{OperationID: first, AccountID: c.Account(id).ID, OTP: c.OTP(first), DeviceID: "d", ExpiresAt: c.Now().Add(59 * time.Second)}, got[0])
	require.Equal(t, second, got[1].OperationID)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(verb, got)
		require.NotContains(t, text, got[0].OTP)
		require.Contains(t, text, first)
	}

	certificate := c.PINCertificate()
	block, _ := pem.Decode(certificate)
	sum := sha256.Sum256(block.Bytes)
	require.Equal(t, hex.EncodeToString(sum[:]), c.PINFingerprint())
	c.post("pin/execute", body(t, `{"device_id":"d","ip_address":"i","operation_id":"`+second+`"}`,
		seal(t, certificate, crypto.SHA256, "SHA256", `{"otp":"`+c.OTP(second)+`","pin":"1234"}`))).ok()
	require.Len(t, c.PINChanges(id), 1, "what is finished is not pending")
	c.Advance(59 * time.Second)
	require.Empty(t, c.PINChanges(id), "what has expired is not pending")
	c.Advance(time.Second)
	initiate(id)
	require.Equal(t, 1, strings.Count(c.text(), `"operation_id"`), "what has expired is forgotten")
}
