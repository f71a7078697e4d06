package prepaidtest

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
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

func TestSpec_5_Rule5_AllowedAddresses(t *testing.T) {
	t.Parallel()
	s := NewServer(t, Options{RateLimit: 1, RateWindow: 1e9, FrozenClock: true, AllowedAddresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.8/29"), netip.MustParsePrefix("::ffff:198.51.100.4/126"), netip.MustParsePrefix("2001:db8::/32")}})
	call := func(remote string, body []byte) reply {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/3.0/nowhere", bytes.NewReader(body))
		request.RemoteAddr = remote
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request)
		return reply{t, w.Code, w.Header(), w.Body.Bytes()}
	}
	for _, remote := range []string{"192.0.2.7:1", "192.0.2.16:1", "198.51.100.8:1", "[2001:db9::1]:1", "pipe", "pipe", "pipe:1"} {
		call(remote, nil).refused(403, "forbidden")
	}
	call("192.0.2.7:1", make([]byte, exchange.MaxBody+1)).refused(403, "forbidden")
	for _, remote := range []string{"192.0.2.8:1", "192.0.2.15:1", "198.51.100.7:1", "[2001:db8::1]:1", "[::ffff:192.0.2.9]:1"} {
		call(remote, nil).refused(404, "not_found")
	}
	call("192.0.2.10:1", make([]byte, exchange.MaxBody+1)).refused(413, "invalid_request")

	c := start(t, Options{AllowedAddresses: []netip.Prefix{}})
	c.get("policy/mccodes").ok()
	c = start(t, Options{AllowedAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	c.get("policy/mccodes").ok()
	for _, prefix := range []netip.Prefix{
		netip.MustParsePrefix("192.0.2.0/28"), netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::ffff:192.0.2.0/124"), {},
	} {
		_, err := Start(Options{AllowedAddresses: []netip.Prefix{prefix}})
		require.ErrorContains(t, err, "AllowedAddresses")
	}
}
