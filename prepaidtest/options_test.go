package prepaidtest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpec_4_4_ExpiriesOfANewAccount(t *testing.T) {
	t.Parallel()
	const plastic, gift, old = "2031-02-03T04:05:06Z", "2032-02-03T04:05:06Z", "2033-02-03T04:05:06Z"
	c := start(t, Options{InitialStatus: "active"})
	created := c.post("accounts", body(t, creation, map[string]any{
		"plastic_expiry": plastic, "gift_card_expiry": gift, "account_expiry": old, "client_account_key": "both",
	})).object()
	require.NotEqual(t, plastic, created["plastic_expiry"])
	require.Equal(t, "active", created["status"])
	require.Equal(t, gift, c.get("accounts?client_id=acme&client_account_key=both").list()[0]["account_expiry"])
	c.post("accounts", body(t, creation, map[string]any{"account_expiry": old, "client_account_key": "one"}))
	require.Equal(t, old, c.get("accounts?client_id=acme&client_account_key=one").list()[0]["account_expiry"])
}

func TestPINMGF1(t *testing.T) {
	t.Parallel()
	for _, mgf1 := range []crypto.Hash{crypto.SHA1, crypto.SHA512} {
		p := newPINCase(t, Options{PINMGF1: mgf1})
		envelope := seal(t, p.certificate, crypto.SHA256, "SHA256", p.payload())
		require.Contains(t, p.step("execute", envelope).refused(400, "invalid_envelope"), "encrypted_key")

		block, _ := pem.Decode(p.certificate)
		parsed, err := x509.ParseCertificate(block.Bytes)
		require.NoError(t, err)
		var saved struct {
			Identity struct {
				Key []byte `json:"private_key"`
			} `json:"pin_identity"`
		}
		require.NoError(t, json.Unmarshal([]byte(p.text()), &saved))
		key, err := x509.ParsePKCS8PrivateKey(saved.Identity.Key)
		require.NoError(t, err)
		wrapped, err := hex.DecodeString(envelope["encrypted_key"].(string))
		require.NoError(t, err)
		plain, err := rsa.DecryptOAEP(crypto.SHA256.New(), nil, key.(*rsa.PrivateKey), wrapped, nil)
		require.NoError(t, err)
		wrapped, err = rsa.EncryptOAEPWithOptions(rand.Reader, parsed.PublicKey.(*rsa.PublicKey), plain, &rsa.OAEPOptions{Hash: crypto.SHA256, MGFHash: mgf1})
		require.NoError(t, err)
		envelope["encrypted_key"] = hex.EncodeToString(wrapped)
		require.Equal(t, "executed", p.step("execute", envelope).ok().object()["status"])
		require.Equal(t, "4321", p.PINOf(p.id))
	}
}
