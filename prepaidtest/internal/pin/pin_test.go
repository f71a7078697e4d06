package pin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange/exchangetest"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// seal encrypts a payload whose PKCS#7 padding it adds.
func seal(t *testing.T, identity *Identity, plain string) *envelope {
	t.Helper()
	key, iv := make([]byte, 16), make([]byte, aes.BlockSize)
	_, _ = rand.Read(key) // never fails
	_, _ = rand.Read(iv)
	padding := aes.BlockSize - len(plain)%aes.BlockSize
	data := []byte(plain)
	for range padding {
		data = append(data, byte(padding))
	}
	block, err := aes.NewCipher(key)
	require.NoError(t, err)
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(data, data)
	wrapped, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, &identity.key.PublicKey, key, nil)
	require.NoError(t, err)
	return &envelope{data: data, key: wrapped, iv: iv, fingerprint: identity.Fingerprint(), hash: "SHA256"}
}

func TestAnEnvelopeIsOpenedOrRefusedByItsPart(t *testing.T) {
	t.Parallel()
	identity, err := newPINIdentity()
	require.NoError(t, err)
	otp, pin, err := seal(t, identity, `{"otp":"123456","pin":"1234"}`).open(identity, 0)
	require.NoError(t, err)
	require.Equal(t, "123456 1234", otp+" "+pin)
	for part, change := range map[string]func(*envelope){
		"public_key_fingerprint": func(e *envelope) { e.fingerprint = "other" },
		"encrypted_key":          func(e *envelope) { e.hash = "SHA512" },
		"iv":                     func(e *envelope) { e.iv = e.iv[1:] },
		"encrypted_data":         func(e *envelope) { e.data = e.data[1:] },
		"payload":                func(e *envelope) { e.iv = []byte("0123456789abcdef") },
	} {
		sealed := seal(t, identity, `{"otp":"hunter2","pin":"hunter2"}`)
		change(sealed)
		_, _, err := sealed.open(identity, 0)
		require.ErrorContains(t, err, part)
		require.NotContains(t, err.Error(), "hunter2")
	}
	for _, plain := range []string{`{"otp":"1"}`, `{"otp":"1","pin":null}`, `{"otp":"1","pin":"2","more":"3"}`, `"otp"`} {
		_, _, err := seal(t, identity, plain).open(identity, 0)
		require.Error(t, err, plain)
	}
	require.Contains(t, string(identity.CertificatePEM()), "BEGIN CERTIFICATE")
	require.Len(t, identity.Fingerprint(), 64)
}

// A saved change continues in another store with the same key.
func TestAChangeSurvivesARestart(t *testing.T) {
	t.Parallel()
	now := clock.New(time.Time{}, true)
	books := ledger.New(ledger.Options{IDs: ids.New(nil)})
	l := books.Lock()
	a := l.NewAccount(l.PutCompany(ledger.CompanyData{ID: 42}), now.Now())
	a.Register(ledger.Personal{MobileNumber: "1", EmailAddress: "a@example.com"})
	l.Add(a)
	l.Unlock()
	first := New(books, now, ids.New(nil), Options{OTPLifetime: time.Hour, Tries: 2})
	begun := exchangetest.Object(t, first.Initiate(exchangetest.Call(t, http.MethodPost, "/pin/initiate",
		`{"eaid":"`+a.ID+`","device_id":"d","ip_address":"i","communication_method":"sms"}`)))
	identity, err := first.Identity()
	require.NoError(t, err)

	l = books.Lock()
	changes, saved, err := first.Save(l.View)
	require.NoError(t, err)
	s := New(books, now, ids.New(nil), first.with)
	require.ErrorContains(t, s.Restore(l, []Change{{AccountID: "nobody"}}, nil), "pin_changes[0]")
	require.ErrorContains(t, s.Restore(l, nil, &SavedIdentity{Key: saved.Key, Certificate: saved.Key}), "pin_identity")
	require.NoError(t, s.Restore(l, changes, saved))
	pending := s.Pending(l.View, a.ID, now.Now())
	require.Len(t, pending, 1)
	otp, known := s.OTP(l.View, begun["operation_id"].(string))
	require.True(t, known)
	require.Equal(t, pending[0].OTP, otp)
	_, known = s.OTP(l.View, "unknown")
	require.False(t, known)
	l.Unlock()

	execute := func(otp string) int {
		sealed := seal(t, identity, `{"otp":"`+otp+`","pin":"1234"}`)
		return s.Execute(exchangetest.Call(t, http.MethodPost, "/pin/execute", fmt.Sprintf(
			`{"device_id":"d","ip_address":"i","operation_id":%q,"encrypted_data":%q,"encrypted_key":%q,"iv":%q,"public_key_fingerprint":%q}`,
			begun["operation_id"], hex.EncodeToString(sealed.data), hex.EncodeToString(sealed.key), hex.EncodeToString(sealed.iv), sealed.fingerprint))).Status
	}
	require.Equal(t, http.StatusBadRequest, execute("wrong"))
	require.Equal(t, 1, a.PINTries)
	require.Equal(t, http.StatusOK, execute(otp))
	require.Equal(t, "1234", a.PIN)
	require.Zero(t, a.PINTries)
	require.Equal(t, http.StatusBadRequest, execute(otp), "once")
}
