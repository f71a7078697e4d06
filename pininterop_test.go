package prepaid

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
)

// runTool executes an outside program and returns what it wrote.
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

func pinTestKeyPEM(t *testing.T) []byte {
	t.Helper()
	private, err := x509.MarshalPKCS8PrivateKey(pinTestKey())
	require.NoError(t, err)
	return pemBlock("PRIVATE KEY", private)
}

func TestOpenSSLOpensTheEnvelope(t *testing.T) {
	t.Parallel()
	openssl := requireTool(t, "openssl")
	keyFile := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(keyFile, pinTestKeyPEM(t), 0o600))

	unwrap := func(t *testing.T, envelope *PINEnvelope, mgf1 string) ([]byte, error) {
		wrapped, err := hex.DecodeString(envelope.EncryptedKey)
		require.NoError(t, err)
		arguments := []string{
			"pkeyutl", "-decrypt", "-inkey", keyFile, "-pkeyopt", "rsa_padding_mode:oaep",
			"-pkeyopt", "rsa_oaep_md:" + strings.ToLower(string(envelope.OAEPHashingAlgorithm)),
		}
		if mgf1 != "" { // OpenSSL has the same default
			arguments = append(arguments, "-pkeyopt", "rsa_mgf1_md:"+strings.ToLower(mgf1))
		}
		return runTool(t, wrapped, openssl, arguments...)
	}
	for _, c := range pinHashCases {
		t.Run(fmt.Sprintf("%s MGF1 %s", c.hash, c.mgf1), func(t *testing.T) {
			t.Parallel()
			envelope, err := testPINKey(t, PINKeyOptions{Hash: c.hash, MGF1Hash: c.mgf1}).Seal(pinSecret("12\"34é", "0042"))
			require.NoError(t, err)
			ephemeral, err := unwrap(t, envelope, c.mgf1)
			require.NoError(t, err)
			require.Len(t, ephemeral, 16)

			data, err := hex.DecodeString(envelope.EncryptedData)
			require.NoError(t, err)
			payload, err := runTool(t, data, openssl, "enc", "-d", "-aes-128-cbc", "-K", hex.EncodeToString(ephemeral), "-iv", envelope.IV)
			require.NoError(t, err)
			require.Equal(t, `{"otp":"12\"34é","pin":"0042"}`, string(payload))
		})
	}

	t.Run("another MGF1 hash fails", func(t *testing.T) {
		t.Parallel()
		envelope, err := testPINKey(t, PINKeyOptions{}).Seal(pinSecret("1", "2"))
		require.NoError(t, err)
		ephemeral, err := unwrap(t, envelope, "SHA1")
		require.True(t, err != nil || len(ephemeral) != 16, "opened with SHA1")
	})
}

func TestOpenSSLAgreesOnTheFingerprint(t *testing.T) {
	t.Parallel()
	openssl := requireTool(t, "openssl")
	certificate := pemBlock("CERTIFICATE", pinTestCertificate(t, &pinTestKey().PublicKey))
	key, err := NewPINKey(certificate, PINKeyOptions{})
	require.NoError(t, err)
	out, err := runTool(t, certificate, openssl, "x509", "-noout", "-fingerprint", "-sha256")
	require.NoError(t, err)
	_, fingerprint, found := strings.Cut(strings.TrimSpace(string(out)), "=")
	require.True(t, found)
	require.Equal(t, strings.ToLower(strings.ReplaceAll(fingerprint, ":", "")), key.Fingerprint())
}

// nodeOpen reads {"key": PEM, "envelope": {…}} and writes the payload. Node has one option for both hashes.
const nodeOpen = `
const crypto = require('node:crypto');
const { key, envelope } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const bytes = (name) => Buffer.from(envelope[name], 'hex');
const ephemeral = crypto.privateDecrypt({
  key,
  padding: crypto.constants.RSA_PKCS1_OAEP_PADDING,
  oaepHash: envelope.oaep_hashing_algorithm.toLowerCase(),
}, bytes('encrypted_key'));
const aes = crypto.createDecipheriv('aes-128-cbc', ephemeral, bytes('iv'));
process.stdout.write(Buffer.concat([aes.update(bytes('encrypted_data')), aes.final()]));
`

func TestNodeOpensTheEnvelope(t *testing.T) {
	t.Parallel()
	node := requireTool(t, "node")
	open := func(t *testing.T, options PINKeyOptions) ([]byte, error) {
		envelope, err := testPINKey(t, options).Seal(pinSecret("12\"34é", "0042"))
		require.NoError(t, err)
		input, err := json.Marshal(map[string]any{"key": string(pinTestKeyPEM(t)), "envelope": envelope})
		require.NoError(t, err)
		return runTool(t, input, node, "-e", nodeOpen)
	}
	for _, hash := range []PINHash{"", PINHashSHA256, PINHashSHA512} {
		t.Run("hash "+string(hash), func(t *testing.T) {
			t.Parallel()
			payload, err := open(t, PINKeyOptions{Hash: hash})
			require.NoError(t, err)
			require.Equal(t, `{"otp":"12\"34é","pin":"0042"}`, string(payload))
		})
	}
	t.Run("another MGF1 hash fails", func(t *testing.T) {
		t.Parallel()
		_, err := open(t, PINKeyOptions{MGF1Hash: "SHA1"})
		require.Error(t, err)
	})
}
