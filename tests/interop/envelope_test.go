package interop

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
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

// OpenSSL opens the envelopes of this module; it has made the vectors, which this module opens.
func TestOpenSSLOpensTheEnvelope(t *testing.T) {
	t.Parallel()
	built.NeedTool(t, "openssl")
	v, private := operator.ReadVectors(t)
	keyFile := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(keyFile, []byte(v.PrivateKey), 0o600))
	for _, c := range v.EncryptedKeys {
		t.Run(c.Hash+" MGF1 "+c.MGF1Hash, func(t *testing.T) {
			t.Parallel()
			key, rule := envelope.NewKey(&private.PublicKey, envelope.Hash(c.Hash), envelope.Hash(c.MGF1Hash))
			require.Empty(t, rule)
			sealed, err := key.Seal("12\"34é", "0042")
			require.NoError(t, err)
			wrapped, err := hex.DecodeString(sealed.Key)
			require.NoError(t, err)
			ephemeral, err := runTool(t, wrapped, "openssl", "pkeyutl", "-decrypt", "-inkey", keyFile, "-pkeyopt", "rsa_padding_mode:oaep",
				"-pkeyopt", "rsa_oaep_md:"+c.Hash, "-pkeyopt", "rsa_mgf1_md:"+c.MGF1Hash)
			require.NoError(t, err)
			require.Len(t, ephemeral, 16)
			data, err := hex.DecodeString(sealed.Data)
			require.NoError(t, err)
			payload, err := runTool(t, data, "openssl", "enc", "-d", "-aes-128-cbc", "-K", hex.EncodeToString(ephemeral), "-iv", sealed.IV)
			require.NoError(t, err)
			require.Equal(t, `{"otp":"12\"34é","pin":"0042"}`, string(payload))
		})
	}
}

// requireOpens requires that the operator can open an envelope which a device has sealed for a certificate with the key of the vectors.
func requireOpens(t *testing.T, text json.RawMessage, certificate []byte, hash, mgf1, payload string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	var sealed prepaid.PINEnvelope
	require.NoError(t, decoder.Decode(&sealed), "%s", text)
	fingerprint := sha256.Sum256(certificate)
	require.Equal(t, hex.EncodeToString(fingerprint[:]), sealed.PublicKeyFingerprint)
	require.Equal(t, hash, string(sealed.OAEPHashingAlgorithm))
	_, private := operator.ReadVectors(t)
	opened, err := operator.Open(private, sealed.EncryptedData, sealed.EncryptedKey, sealed.IV, envelope.Hash(hash), envelope.Hash(mgf1))
	require.NoError(t, err)
	require.Equal(t, payload, opened)
}

// nodeSeal seals each payload for each certificate with each hash, and prints the envelopes in this order.
const nodeSeal = `
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { sealPIN } from '../../docs/pin.mjs';
const { vectors: { certificate, payloads }, damaged, certificates } = JSON.parse(readFileSync(0, 'utf8'));
const [der, ...others] = certificates.map((each) => Buffer.from(each, 'base64'));
for (const refused of [...damaged, Buffer.from(certificate), der.subarray(0, -1), Buffer.concat([der, Buffer.of(0)])]) {
  await assert.rejects(sealPIN(refused, '1', '2'), /certificate must/);
}
for (const refused of [[1, '2'], ['1', 2], ['', '2'], ['1', undefined], ['1', '2', 'SHA1']]) {
  await assert.rejects(sealPIN(certificate, ...refused), TypeError);
}
const sealed = [];
for (const each of [certificate, der, ...others]) {
  for (const { otp, pin } of payloads) {
    for (const hash of [undefined, 'SHA256', 'SHA512']) sealed.push(await sealPIN(each, otp, pin, hash));
  }
}
console.log(JSON.stringify(sealed));
`

// docs/pin.mjs reads PEM, DER and X.509 of version 1. WebCrypto in Node is that of browsers; package page uses a browser.
func TestNodeSealsThePIN(t *testing.T) {
	t.Parallel()
	built.NeedTool(t, "node")
	v, private := operator.ReadVectors(t)
	block, _ := pem.Decode([]byte(v.Certificate))
	second := operator.Certificate(t, &private.PublicKey)
	first := slices.Concat(second[:8], second[13:]) // without the version; the lengths of the two outer elements are in front
	for _, at := range []int{2, 6} {
		binary.BigEndian.PutUint16(first[at:], binary.BigEndian.Uint16(first[at:])-5)
	}
	cut := v.Certificate[:len(v.Certificate)/2]
	input, err := json.Marshal(map[string]any{
		"vectors": v, "damaged": []string{"", "text", cut, cut + v.Certificate}, "certificates": [][]byte{second, first},
	})
	require.NoError(t, err)
	out, err := runTool(t, input, "node", "--input-type=module", "-e", nodeSeal)
	require.NoError(t, err)
	var sealed []json.RawMessage
	require.NoError(t, json.Unmarshal(out, &sealed))
	for _, certificate := range [][]byte{block.Bytes, second, first} {
		for _, p := range v.Payloads {
			for _, hash := range []string{"SHA256", "SHA256", "SHA512"} {
				requireOpens(t, sealed[0], certificate, hash, hash, p.Payload)
				sealed = sealed[1:]
			}
		}
	}
	require.Empty(t, sealed)
}

// javaMain seals a payload with each pair of hashes and prints an envelope per line.
const javaMain = `
import java.io.*; import java.nio.charset.*; import java.util.*; import java.util.stream.*; import javax.crypto.*; import javax.crypto.spec.*;
import java.security.*; import java.security.cert.*; import java.security.spec.*;

class Main {
	public static void main(String[] args) throws Exception {
		for (String hash : List.of("SHA-256", "SHA-512")) for (String mask : List.of("SHA-1", "SHA-256", "SHA-512"))
			System.out.println(sealPIN(new FileInputStream(args[0]), args[1], args[2], hash, mask).entrySet().stream()
				.map(e -> '"' + e.getKey() + "\":\"" + e.getValue() + '"').collect(Collectors.joining(",", "{", "}")));
	}
`

// The Java code of docs/pin.md seals with every pair of hashes.
func TestJavaSealsThePIN(t *testing.T) {
	t.Parallel()
	built.NeedTool(t, "javac")
	v, _ := operator.ReadVectors(t)
	document, err := os.ReadFile("../../docs/pin.md")
	require.NoError(t, err)
	code := regexp.MustCompile("(?s)```java\n(.*?)```").FindSubmatch(document)
	require.Len(t, code, 2)
	main, certificate := filepath.Join(t.TempDir(), "Main.java"), filepath.Join(t.TempDir(), "certificate.pem")
	require.NoError(t, os.WriteFile(main, slices.Concat([]byte(javaMain), code[1], []byte("}\n")), 0o600))
	require.NoError(t, os.WriteFile(certificate, []byte(v.Certificate), 0o600))
	block, _ := pem.Decode([]byte(v.Certificate))
	for _, p := range v.Payloads {
		out, err := runTool(t, nil, "java", main, certificate, p.OTP, p.PIN)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		require.Len(t, lines, len(v.EncryptedKeys))
		for i, k := range v.EncryptedKeys {
			requireOpens(t, json.RawMessage(lines[i]), block.Bytes, k.Hash, k.MGF1Hash, p.Payload)
		}
	}
}
