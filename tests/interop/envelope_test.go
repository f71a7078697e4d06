package interop

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/envelope"
	"github.com/cardprograms/prepaid/internal/tests/operator"
)

// requireTool returns the path of an outside program. Without the program the test is skipped, or fails when
// PREPAID_TEST_REQUIRE_TOOLS is 1, so that a build meant to check against it cannot pass without it.
func requireTool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("PREPAID_TEST_REQUIRE_TOOLS") == "1" {
		t.Fatalf("%s is not installed, and PREPAID_TEST_REQUIRE_TOOLS=1 asks for it", name)
	}
	t.Skipf("NOT CHECKED: %s is not installed; set PREPAID_TEST_REQUIRE_TOOLS=1 to fail instead", name)
	return ""
}

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
	openssl := requireTool(t, "openssl")
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
		return runTool(t, wrapped, openssl, arguments...)
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
			payload, err := runTool(t, data, openssl, "enc", "-d", "-aes-128-cbc", "-K", hex.EncodeToString(ephemeral), "-iv", sealed.IV)
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
	openssl := requireTool(t, "openssl")
	data := operator.PEM("CERTIFICATE", operator.Certificate(t, &operator.Key().PublicKey))
	certificate, rule := envelope.ParseCertificate(data)
	require.Empty(t, rule)
	out, err := runTool(t, data, openssl, "x509", "-noout", "-fingerprint", "-sha256")
	require.NoError(t, err)
	_, fingerprint, found := strings.Cut(strings.TrimSpace(string(out)), "=")
	require.True(t, found)
	require.Equal(t, strings.ToLower(strings.ReplaceAll(fingerprint, ":", "")), envelope.Fingerprint(certificate))
}

// nodeOpen reads {"key": PEM, "hash": …, "envelope": {…}} and writes the payload. Node has one option for both hashes.
const nodeOpen = `
const crypto = require('node:crypto');
const { key, hash, envelope } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const bytes = (name) => Buffer.from(envelope[name], 'hex');
const ephemeral = crypto.privateDecrypt({
  key,
  padding: crypto.constants.RSA_PKCS1_OAEP_PADDING,
  oaepHash: hash.toLowerCase(),
}, bytes('Key'));
const aes = crypto.createDecipheriv('aes-128-cbc', ephemeral, bytes('IV'));
process.stdout.write(Buffer.concat([aes.update(bytes('Data')), aes.final()]));
`

func TestNodeOpensTheEnvelope(t *testing.T) {
	t.Parallel()
	node := requireTool(t, "node")
	open := func(t *testing.T, hash, mgf1 string) ([]byte, error) {
		sealed := seal(t, hash, mgf1, "12\"34é", "0042")
		input, err := json.Marshal(map[string]any{"key": string(keyPEM(t)), "hash": hash, "envelope": sealed})
		require.NoError(t, err)
		return runTool(t, input, node, "-e", nodeOpen)
	}
	for _, hash := range []string{"SHA256", "SHA512"} {
		t.Run(hash, func(t *testing.T) {
			t.Parallel()
			payload, err := open(t, hash, "")
			require.NoError(t, err)
			require.Equal(t, `{"otp":"12\"34é","pin":"0042"}`, string(payload))
		})
	}
	t.Run("another MGF1 hash fails", func(t *testing.T) {
		t.Parallel()
		_, err := open(t, "SHA256", "SHA1")
		require.Error(t, err)
	})
}
