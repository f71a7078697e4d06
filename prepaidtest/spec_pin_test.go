package prepaidtest

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pinCase is a running PIN change with an envelope whose parts a test can break.
type pinCase struct {
	*caller
	id, operation, otp string
	certificate        []byte
}

func newPINCase(t *testing.T) *pinCase {
	t.Helper()
	c := start(t, Options{})
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

// sealRaw encrypts bytes as they are, under a key of any length.
func (p *pinCase) sealRaw(key, plain []byte) map[string]any {
	p.t.Helper()
	envelope := seal(p.t, p.certificate, crypto.SHA256, "SHA256", "{}")
	block, err := aes.NewCipher(key)
	require.NoError(p.t, err)
	iv := make([]byte, aes.BlockSize)
	_, _ = rand.Read(iv)
	data := make([]byte, len(plain))
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(data, plain)
	decoded, _ := pem.Decode(p.certificate)
	parsed, err := x509.ParseCertificate(decoded.Bytes)
	require.NoError(p.t, err)
	sealed, err := rsa.EncryptOAEP(crypto.SHA256.New(), rand.Reader, parsed.PublicKey.(*rsa.PublicKey), key, nil)
	require.NoError(p.t, err)
	envelope["encrypted_data"], envelope["encrypted_key"] = hex.EncodeToString(data), hex.EncodeToString(sealed)
	envelope["iv"] = hex.EncodeToString(iv)
	return envelope
}

func padded(text string) []byte {
	n := aes.BlockSize - len(text)%aes.BlockSize
	return append([]byte(text), bytes.Repeat([]byte{byte(n)}, n)...)
}

func TestSpec_4_7_Rule1_TheCertificateIsTheOperators(t *testing.T) {
	t.Parallel()
	p := newPINCase(t)
	require.Equal(t, p.certificate, p.PINCertificate(), "the same each time")
	other := NewServer(t, Options{}).PINCertificate()
	require.Contains(t, p.step("validate", seal(t, other, crypto.SHA256, "SHA256", p.payload())).refused(400, "invalid_envelope"), "public_key_fingerprint")
}

func TestSpec_4_7_Rule2_TheKeyHas128Bits(t *testing.T) {
	t.Parallel()
	p := newPINCase(t)
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
	p := newPINCase(t)
	for _, payload := range []string{
		`{"otp":"` + p.otp + `"}`, `{"pin":"4321"}`, `{"otp":"` + p.otp + `","pin":4321}`, `{"otp":"` + p.otp + `","pin":null}`, `{"otp":null,"pin":"4321"}`,
		`{"otp":"` + p.otp + `","pin":"4321","more":"x"}`, `["otp","pin"]`, ``, `otp`,
	} {
		envelope := seal(t, p.certificate, crypto.SHA256, "SHA256", payload)
		for _, step := range []string{"validate", "execute"} {
			require.Contains(t, p.step(step, envelope).refused(400, "invalid_envelope"), "encrypted_data", payload)
		}
	}
	require.Empty(t, p.PINOf(p.id))
	p.step("execute", seal(t, p.certificate, crypto.SHA256, "SHA256", p.payload())).ok()
	require.Equal(t, "4321", p.PINOf(p.id))
}

func TestSpec_4_7_Rule4_ThePaddingIsPKCS7(t *testing.T) {
	t.Parallel()
	p := newPINCase(t)
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
	p := newPINCase(t)
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
	p := newPINCase(t)
	envelope := seal(t, p.certificate, crypto.SHA256, "SHA256", p.payload())
	upper := make(map[string]any)
	for name, value := range envelope {
		upper[name] = strings.ToUpper(value.(string))
	}
	p.step("validate", upper).ok()
	for _, name := range []string{"encrypted_data", "encrypted_key", "iv"} {
		spoiled := body(t, `{}`, envelope)
		text := body(t, spoiled, map[string]any{name: "zz", "device_id": "d", "ip_address": "i", "operation_id": p.operation})
		require.Contains(t, p.post("pin/validate", text).refused(400, "invalid_request"), name+" must be hex")
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
