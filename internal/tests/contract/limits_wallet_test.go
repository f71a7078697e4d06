package contract

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// badUUIDs stand next to legal ones: no version and no case is prescribed.
func badUUIDs() [][2]string {
	return [][2]string{
		{"917531", harness.UUID}, {"01234567-89ab-cdef-0123-456789abcdeQ", strings.ToUpper(harness.UUID)},
		{strings.ReplaceAll(harness.UUID, "-", ""), "00000000-0000-0000-0000-000000000000"},
		{"{" + harness.UUID + "}", "ffffffff-ffff-ffff-ffff-ffffffffffff"}, {harness.UUID + "0", harness.UUID},
		{"0123456-789ab-cdef-0123-456789abcdef", harness.UUID}, {harness.UUID + "\n", harness.UUID},
	}
}

// Section 4.4, POST /accounts/{id}/dip.
func TestValidationExchangeKey(t *testing.T) {
	t.Parallel()
	type P = prepaid.ExchangeKeyParams
	rows := []limit[P]{
		form("4.4", "application_id", "is required", func(p *P) *string { return &p.ApplicationID }, "", harness.UUID),
		form("4.4", "key_id", "is required", func(p *P) *string { return &p.KeyID }, "", harness.UUID),
		{ref: "4.4", field: "ephemeral_key", rule: "is required", bad: func(p *P) { p.EphemeralKey = prepaid.EphemeralKey{} }, good: func(*P) {}},
	}
	rows = append(rows, forms("4.4", "application_id", "must be a UUID", func(p *P) *string { return &p.ApplicationID }, badUUIDs()...)...)
	rows = append(rows, forms("4.4", "key_id", "must be a UUID", func(p *P) *string { return &p.KeyID }, badUUIDs()...)...)
	requireLimits(t, harness.ValidExchangeKey, method[prepaid.ExchangeKeyParams]("Accounts.ExchangeKey", "eaid"), rows...)
	requireRefusal(t, sendsNothing(t, harness.Calling("Accounts.ExchangeKey", "", P{})),
		"", fields("id", "application_id", "key_id", "ephemeral_key")...)
}

func TestEphemeralKeyFrom(t *testing.T) {
	t.Parallel()
	bytes := []byte(strings.Repeat("qZ7x", 8))
	key, err := prepaid.EphemeralKeyFrom(bytes)
	require.NoError(t, err)
	want := string(bytes)
	clear(bytes)
	require.Equal(t, want, string(key.Bytes()), "a copy is kept")
	for _, size := range []int{0, 31, 33, 44} {
		_, err := prepaid.EphemeralKeyFrom([]byte(strings.Repeat("q", size)))
		invalid := harness.As[*prepaid.ValidationError](t, err)
		require.Equal(t, []prepaid.Fault{{Field: "ephemeral_key", Rule: "must be 32 bytes"}}, invalid.Faults)
	}
	var read prepaid.EphemeralKey
	require.NoError(t, read.UnmarshalText([]byte(base64.StdEncoding.EncodeToString(key.Bytes()))))
	require.Equal(t, key.Bytes(), read.Bytes())
	for _, text := range []string{"", "hunter2!", strings.Repeat("q", 43), base64.StdEncoding.EncodeToString(key.Bytes()) + "!"} {
		err := read.UnmarshalText([]byte(text))
		require.EqualError(t, err, "prepaid: invalid input: ephemeral_key must be 32 bytes")
		require.Equal(t, key.Bytes(), read.Bytes(), "unchanged")
	}
	require.NotEqual(t, prepaid.NewEphemeralKey().Bytes(), prepaid.NewEphemeralKey().Bytes())
	require.Len(t, prepaid.NewEphemeralKey().Bytes(), 32)
}

// Section 4.4, wallet request body: everything is optional, for two of the three wallets need none of it.
func TestValidationProvisionWallet(t *testing.T) {
	t.Parallel()
	type P = prepaid.ProvisionWalletParams
	requireLimits(t, zero[P], method[prepaid.ProvisionWalletParams]("Accounts.ProvisionWallet", "eaid", "provider"), limit[P]{
		ref: "4.4", field: "certificates[1]", rule: "is required",
		bad:  func(p *P) { p.Certificates = []string{"a", ""} },
		good: func(p *P) { p.Certificates = []string{"\n"} },
	})
}

func validInitiate() prepaid.InitiatePINParams {
	return prepaid.InitiatePINParams{AccountID: "eaid", DeviceID: "d", IPAddress: "i", CommunicationMethod: "c"}
}

func validSealed() prepaid.SealedPINParams {
	return prepaid.SealedPINParams{OperationID: harness.UUID, DeviceID: "d", IPAddress: "i", Envelope: validSealedEnvelope()}
}

// Section 4.7. The reference marks nothing as required and shows no form of ip_address and communication_method: all
// fields are needed, in any form.
func TestValidationPIN(t *testing.T) {
	t.Parallel()
	t.Run("initiate", func(t *testing.T) {
		t.Parallel()
		type P = prepaid.InitiatePINParams
		requireLimits(t, validInitiate, method[prepaid.InitiatePINParams]("PIN.Initiate"),
			needed("4.7", "eaid", func(p *P) *prepaid.AccountID { return &p.AccountID }),
			needed("4.7", "device_id", func(p *P) *string { return &p.DeviceID }),
			needed("4.7", "ip_address", func(p *P) *string { return &p.IPAddress }),
			needed("4.7", "communication_method", func(p *P) *string { return &p.CommunicationMethod }))
		requireRefusal(t, sendsNothing(t, harness.Calling("PIN.Initiate", P{})), "",
			fields("eaid", "device_id", "ip_address", "communication_method")...)
	})
	type P = prepaid.SealedPINParams
	rows := []limit[P]{
		form("4.7", "operation_id", "is required", func(p *P) *string { return &p.OperationID }, "", harness.UUID),
		needed("4.7", "device_id", func(p *P) *string { return &p.DeviceID }),
		needed("4.7", "ip_address", func(p *P) *string { return &p.IPAddress }),
	}
	rows = append(rows, forms("4.7", "operation_id", "must be a UUID", func(p *P) *string { return &p.OperationID }, badUUIDs()...)...)
	hex := func(n int) string { return strings.Repeat("9a", n) }
	for _, field := range []struct {
		name, rule string
		at         func(*P) *string
		pairs      [][2]string
	}{
		{"encrypted_data", "whole blocks of 16 bytes", func(p *P) *string { return &p.Envelope.EncryptedData }, [][2]string{
			{hex(15), hex(16)}, {hex(17), hex(32)}, {hex(15) + "QZ", strings.ToUpper(hex(16))}, {hex(16)[1:], hex(1600)},
		}},
		{"encrypted_key", "at least 256 bytes", func(p *P) *string { return &p.Envelope.EncryptedKey }, [][2]string{
			{hex(255), hex(256)}, {hex(255) + "QZ", hex(512)}, {hex(256) + "9", hex(257)},
		}},
		{"iv", "must be 16 bytes", func(p *P) *string { return &p.Envelope.IV }, [][2]string{
			{hex(15), hex(16)}, {hex(17), hex(16)}, {hex(15) + "QZ", strings.ToUpper(hex(16))},
		}},
	} {
		rows = append(rows, form("4.7", field.name, "is required", field.at, "", field.pairs[0][1]))
		rows = append(rows, forms("4.7", field.name, field.rule, field.at, field.pairs...)...)
	}
	rows = append(rows, needed("4.7", "public_key_fingerprint", func(p *P) *string { return &p.Envelope.PublicKeyFingerprint }))
	hash := func(p *P) *prepaid.PINHash { return &p.Envelope.OAEPHashingAlgorithm }
	rows = append(rows, showing("qzx", forms("4.7", "oaep_hashing_algorithm", "must be SHA256 or SHA512", hash,
		[2]prepaid.PINHash{"qzxwv", "SHA512"}, [2]prepaid.PINHash{"sha256", "SHA256"}, [2]prepaid.PINHash{"SHA1", ""})...)...)
	for name, call := range map[string]func(ctx context.Context, c *prepaid.Client, p P) error{
		"validate": method[P]("PIN.Validate"),
		"execute":  method[P]("PIN.Execute"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireLimits(t, validSealed, call, rows...)
			requireRefusal(t, sendsNothing(t, func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, P{}) }), "",
				harness.Fault{Field: "operation_id"}, harness.Fault{Field: "device_id"}, harness.Fault{Field: "ip_address"}, harness.Fault{Field: "envelope", Rule: "is required"})
			requireRefusal(t, sendsNothing(t, func(ctx context.Context, c *prepaid.Client) error {
				return call(ctx, c, P{Envelope: &prepaid.PINEnvelope{}})
			}), "",
				fields("operation_id", "device_id", "ip_address", "encrypted_data", "public_key_fingerprint",
					"encrypted_key", "iv")...)
		})
	}
}

func validSealedEnvelope() *prepaid.PINEnvelope {
	return &prepaid.PINEnvelope{
		EncryptedData: strings.Repeat("0a", 32), PublicKeyFingerprint: "any form", EncryptedKey: strings.Repeat("fF", 256),
		OAEPHashingAlgorithm: prepaid.PINHashSHA512, IV: strings.Repeat("9E", 16),
	}
}
