package prepaid

import (
	"crypto/fips140"
	"encoding/base64"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// In FIPS 140-only mode, which is chosen when a program starts, Go's SHA-1 panics: the test runs itself again.
func TestPINKeyInFIPSOnlyMode(t *testing.T) {
	t.Parallel()
	const variable = "PREPAID_TEST_FIPS_CERTIFICATE"
	if text := os.Getenv(variable); text != "" {
		certificate, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		require.True(t, fips140.Enabled())

		_, err = NewPINKey(certificate, PINKeyOptions{MGF1Hash: "SHA1"})
		requirePINFaults(t, err, Fault{Field: "certificate", Rule: "must have an RSA key that crypto/rsa can use with these hashes"})
		key, err := NewPINKey(certificate, PINKeyOptions{Hash: PINHashSHA512, MGF1Hash: "SHA256"})
		require.NoError(t, err)
		envelope, err := key.Seal(pinSecret("123456", "4821"))
		require.NoError(t, err)
		require.Empty(t, envelope.faults(""))
		return
	}

	program, err := os.Executable()
	require.NoError(t, err)
	again := exec.CommandContext(t.Context(), program, "-test.run=^TestPINKeyInFIPSOnlyMode$", "-test.v")
	again.Env = append(os.Environ(), "GODEBUG=fips140=only",
		variable+"="+base64.StdEncoding.EncodeToString(pinTestCertificate(t, &pinTestKey().PublicKey)))
	out, err := again.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestPINKeyInFIPSOnlyMode")
}
