package prepaid

import (
	"encoding/json"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

func validPINEnvelope() PINEnvelope {
	return PINEnvelope{
		EncryptedData:        strings.Repeat("0a", 32),
		PublicKeyFingerprint: "any form",
		EncryptedKey:         strings.Repeat("fF", 256),
		OAEPHashingAlgorithm: PINHashSHA512,
		IV:                   strings.Repeat("9E", 16),
	}
}

func TestPINEnvelopeFaults(t *testing.T) {
	t.Parallel()
	const (
		data, fingerprint, key = "encrypted_data", "public_key_fingerprint", "encrypted_key"
		hash, iv               = "oaep_hashing_algorithm", "iv"
		dataRule               = "must be one or more whole blocks of 16 bytes in hex"
		keyRule                = "must be at least 256 bytes in hex"
		ivRule                 = "must be 16 bytes in hex"
		hashRule               = "must be SHA256 or SHA512"
	)
	hexOf := func(size int) string { return strings.Repeat("0a", size) }
	for name, c := range map[string]struct {
		edit   func(*PINEnvelope)
		faults []Fault
	}{
		"valid":             {func(*PINEnvelope) {}, nil},
		"one block":         {func(e *PINEnvelope) { e.EncryptedData = hexOf(16) }, nil},
		"4,096-bit key":     {func(e *PINEnvelope) { e.EncryptedKey = hexOf(512) }, nil},
		"data missing":      {func(e *PINEnvelope) { e.EncryptedData = "" }, []Fault{{data, "is required"}}},
		"data half a block": {func(e *PINEnvelope) { e.EncryptedData = hexOf(24) }, []Fault{{data, dataRule}}},
		"data odd":          {func(e *PINEnvelope) { e.EncryptedData = hexOf(16) + "0" }, []Fault{{data, dataRule}}},
		"data not hex":      {func(e *PINEnvelope) { e.EncryptedData = hexOf(15) + "0g" }, []Fault{{data, dataRule}}},
		"data spaced":       {func(e *PINEnvelope) { e.EncryptedData = hexOf(15) + " 0" }, []Fault{{data, dataRule}}},
		"no fingerprint":    {func(e *PINEnvelope) { e.PublicKeyFingerprint = "" }, []Fault{{fingerprint, "is required"}}},
		"raw fingerprint":   {func(e *PINEnvelope) { e.PublicKeyFingerprint = "\xff" }, []Fault{{fingerprint, "must be valid UTF-8"}}},
		"key missing":       {func(e *PINEnvelope) { e.EncryptedKey = "" }, []Fault{{key, "is required"}}},
		"key short":         {func(e *PINEnvelope) { e.EncryptedKey = hexOf(255) }, []Fault{{key, keyRule}}},
		"key odd":           {func(e *PINEnvelope) { e.EncryptedKey = hexOf(256) + "0" }, []Fault{{key, keyRule}}},
		"key not hex":       {func(e *PINEnvelope) { e.EncryptedKey = hexOf(256) + "0/" }, []Fault{{key, keyRule}}},
		"hash left out":     {func(e *PINEnvelope) { e.OAEPHashingAlgorithm = "" }, nil},
		"hash unknown":      {func(e *PINEnvelope) { e.OAEPHashingAlgorithm = "SHA-256" }, []Fault{{hash, hashRule}}},
		"iv missing":        {func(e *PINEnvelope) { e.IV = "" }, []Fault{{iv, "is required"}}},
		"iv short":          {func(e *PINEnvelope) { e.IV = hexOf(15) }, []Fault{{iv, ivRule}}},
		"iv long":           {func(e *PINEnvelope) { e.IV = hexOf(17) }, []Fault{{iv, ivRule}}},
		"iv not hex":        {func(e *PINEnvelope) { e.IV = hexOf(15) + "é" }, []Fault{{iv, ivRule}}},
		"all": {func(e *PINEnvelope) { *e = PINEnvelope{} }, []Fault{
			{data, "is required"}, {fingerprint, "is required"}, {key, "is required"}, {iv, "is required"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			envelope := validPINEnvelope()
			c.edit(&envelope)
			require.Equal(t, c.faults, envelope.faults(""))
			for i, fault := range envelope.faults("envelope") {
				require.Equal(t, Fault{"envelope." + c.faults[i].Field, c.faults[i].Rule}, fault)
			}
		})
	}
}

func TestPINEnvelopeJSON(t *testing.T) {
	t.Parallel()
	const (
		text    = `{"encrypted_data":"0a","public_key_fingerprint":"1b","encrypted_key":"2c","oaep_hashing_algorithm":"SHA256","iv":"3d"}`
		without = `{"encrypted_data":"0a","public_key_fingerprint":"1b","encrypted_key":"2c","iv":"3d"}` // means SHA256, and stays so
	)
	for name, codec := range map[string]struct {
		marshal   func(any) ([]byte, error)
		unmarshal func([]byte, any) error
	}{
		"v1": {json.Marshal, json.Unmarshal},
		"v2": {
			func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
			func(b []byte, v any) error { return jsonv2.Unmarshal(b, v) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for text, hash := range map[string]PINHash{text: PINHashSHA256, without: ""} {
				envelope := PINEnvelope{
					EncryptedData: "0a", PublicKeyFingerprint: "1b", EncryptedKey: "2c", OAEPHashingAlgorithm: hash, IV: "3d",
				}
				encoded, err := codec.marshal(envelope)
				require.NoError(t, err)
				require.Equal(t, text, string(encoded))
				var decoded PINEnvelope
				require.NoError(t, codec.unmarshal(encoded, &decoded))
				require.Equal(t, envelope, decoded)
			}
		})
	}
}
