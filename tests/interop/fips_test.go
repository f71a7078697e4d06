package interop

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/fips140"
	"encoding/base64"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/envelope"
	"github.com/cardprograms/prepaid/internal/tests/operator"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// In FIPS 140-only mode, which is chosen when a program starts, Go's SHA-1 panics: the test runs itself again.
func TestFIPSOnlyMode(t *testing.T) {
	t.Parallel()
	const variable = "PREPAID_TEST_FIPS_CERTIFICATE"
	if text := os.Getenv(variable); text != "" {
		data, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		require.True(t, fips140.Enabled())
		certificate, rule := envelope.ParseCertificate(data)
		require.Empty(t, rule)
		public, rule := envelope.PublicKey(certificate)
		require.Empty(t, rule)

		_, rule = envelope.NewKey(public, crypto.SHA256, crypto.SHA1)
		require.Equal(t, "must have an RSA key that crypto/rsa can use with these hashes", rule)
		key, rule := envelope.NewKey(public, crypto.SHA512, crypto.SHA256)
		require.Empty(t, rule)
		sealed, err := key.Seal("123456", "4821")
		require.NoError(t, err)
		require.Len(t, sealed.Data, 2*32)

		srv := prepaidtest.NewServer(t, prepaidtest.Options{})
		secret := make([]byte, 32)
		ephemeral, err := prepaid.EphemeralKeyFrom(secret)
		require.NoError(t, err)
		const application, keyID = "0a1b2c3d-0000-4000-8000-000000000001", "0a1b2c3d-0000-4000-8000-000000000002"
		response, err := srv.Client().Accounts.ExchangeKey(t.Context(), srv.AddAccount(prepaidtest.SeedAccount{}), prepaid.ExchangeKeyParams{
			ApplicationID: application, KeyID: keyID, EphemeralKey: ephemeral,
		})
		require.NoError(t, err)
		data, err = base64.StdEncoding.DecodeString(string(response.Body))
		require.NoError(t, err)
		block, err := aes.NewCipher(secret)
		require.NoError(t, err)
		opener, err := cipher.NewGCMWithRandomNonce(block)
		require.NoError(t, err)
		_, err = opener.Open(nil, nil, data, nil)
		require.NoError(t, err)
		return
	}

	program, err := os.Executable()
	require.NoError(t, err)
	again := exec.CommandContext(t.Context(), program, "-test.run=^TestFIPSOnlyMode$", "-test.v")
	again.Env = append(os.Environ(), "GODEBUG=fips140=only",
		variable+"="+base64.StdEncoding.EncodeToString(operator.Certificate(t, &operator.Key().PublicKey)))
	out, err := again.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestFIPSOnlyMode")
}
