package interop

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/envelope"
	"github.com/cardprograms/prepaid/internal/tests/operator"
	"github.com/cardprograms/prepaid/tests/built"
)

// runTool executes an outside program and returns its output.
func runTool(t *testing.T, stdin []byte, program string, arguments ...string) ([]byte, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Stdin = bytes.NewReader(stdin)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, problems.String())
	}
	return out.Bytes(), nil
}

func keyPEM(t *testing.T) []byte {
	t.Helper()
	private, err := x509.MarshalPKCS8PrivateKey(operator.Key())
	require.NoError(t, err)
	return operator.PEM("PRIVATE KEY", private)
}

// hashCases are the names of the OAEP hash and of its mask function's hash; the same when empty.
var hashCases = []struct{ hash, mgf1 string }{
	{"SHA256", ""}, {"SHA256", "SHA1"}, {"SHA256", "SHA256"}, {"SHA256", "SHA512"},
	{"SHA512", ""}, {"SHA512", "SHA1"}, {"SHA512", "SHA256"}, {"SHA512", "SHA512"},
}

// seal returns an envelope for the operator's key.
func seal(t *testing.T, hash, mgf1, otp, pin string) envelope.Sealed {
	t.Helper()
	key, rule := envelope.NewKey(&operator.Key().PublicKey, envelope.Hash(hash), envelope.Hash(mgf1))
	require.Empty(t, rule)
	sealed, err := key.Seal(otp, pin)
	require.NoError(t, err)
	return sealed
}

func TestOpenSSLOpensTheEnvelope(t *testing.T) {
	t.Parallel()
	built.NeedTool(t, "openssl")
	keyFile := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(keyFile, keyPEM(t), 0o600))

	unwrap := func(t *testing.T, sealed envelope.Sealed, hash, mgf1 string) ([]byte, error) {
		wrapped, err := hex.DecodeString(sealed.Key)
		require.NoError(t, err)
		arguments := []string{
			"pkeyutl", "-decrypt", "-inkey", keyFile, "-pkeyopt", "rsa_padding_mode:oaep",
			"-pkeyopt", "rsa_oaep_md:" + strings.ToLower(hash),
		}
		if mgf1 != "" { // by default OpenSSL uses hash too
			arguments = append(arguments, "-pkeyopt", "rsa_mgf1_md:"+strings.ToLower(mgf1))
		}
		return runTool(t, wrapped, "openssl", arguments...)
	}
	for _, c := range hashCases {
		t.Run(fmt.Sprintf("%s MGF1 %s", c.hash, c.mgf1), func(t *testing.T) {
			t.Parallel()
			sealed := seal(t, c.hash, c.mgf1, "12\"34é", "0042")
			ephemeral, err := unwrap(t, sealed, c.hash, c.mgf1)
			require.NoError(t, err)
			require.Len(t, ephemeral, 16)

			data, err := hex.DecodeString(sealed.Data)
			require.NoError(t, err)
			payload, err := runTool(t, data, "openssl", "enc", "-d", "-aes-128-cbc", "-K", hex.EncodeToString(ephemeral), "-iv", sealed.IV)
			require.NoError(t, err)
			require.Equal(t, `{"otp":"12\"34é","pin":"0042"}`, string(payload))
		})
	}

	t.Run("another MGF1 hash fails", func(t *testing.T) {
		t.Parallel()
		ephemeral, err := unwrap(t, seal(t, "SHA256", "", "1", "2"), "SHA256", "SHA1")
		require.True(t, err != nil || len(ephemeral) != 16, "opened with SHA1")
	})
}

func TestOpenSSLAgreesOnTheFingerprint(t *testing.T) {
	t.Parallel()
	built.NeedTool(t, "openssl")
	data := operator.PEM("CERTIFICATE", operator.Certificate(t, &operator.Key().PublicKey))
	certificate, rule := envelope.ParseCertificate(data)
	require.Empty(t, rule)
	out, err := runTool(t, data, "openssl", "x509", "-noout", "-fingerprint", "-sha256")
	require.NoError(t, err)
	_, fingerprint, found := strings.Cut(strings.TrimSpace(string(out)), "=")
	require.True(t, found)
	require.Equal(t, strings.ToLower(strings.ReplaceAll(fingerprint, ":", "")), envelope.Fingerprint(certificate))
}
