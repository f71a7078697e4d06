package prepaid

import (
	"encoding/json"

	"context"
	"encoding/base64"
	"github.com/stretchr/testify/require"
	"strings"
	"testing"
)

const someUUID = "01234567-89ab-cdef-0123-456789abcdef"

// badUUIDs are beside legal ones: no version and no case is prescribed.
func badUUIDs() [][2]string {
	return [][2]string{
		{"917531", someUUID}, {"01234567-89ab-cdef-0123-456789abcdeQ", strings.ToUpper(someUUID)},
		{strings.ReplaceAll(someUUID, "-", ""), "00000000-0000-0000-0000-000000000000"},
		{"{" + someUUID + "}", "ffffffff-ffff-ffff-ffff-ffffffffffff"}, {someUUID + "0", someUUID},
		{"0123456-789ab-cdef-0123-456789abcdef", someUUID}, {someUUID + "\n", someUUID},
	}
}

func validExchangeKey() ExchangeKeyParams {
	return ExchangeKeyParams{ApplicationID: someUUID, KeyID: someUUID, EphemeralKey: base64Key(32)}
}

func callExchangeKey(ctx context.Context, c *Client, p ExchangeKeyParams) error {
	_, err := c.Accounts.ExchangeKey(ctx, "eaid", p)
	return err
}

func base64Key(size int) Secret {
	return NewSecret(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("qZ7x", 20)[:size])))
}

// Section 4.4, POST /accounts/{id}/dip.
func TestValidationExchangeKey(t *testing.T) {
	t.Parallel()
	type P = ExchangeKeyParams
	rows := []limit[P]{
		form("4.4", "application_id", "is required", func(p *P) *string { return &p.ApplicationID }, "", someUUID),
		form("4.4", "key_id", "is required", func(p *P) *string { return &p.KeyID }, "", someUUID),
		{ref: "4.4", field: "ephemeral_key", rule: "is required", bad: func(p *P) { p.EphemeralKey = Secret{} }, good: func(*P) {}},
	}
	rows = append(rows, forms("4.4", "application_id", "must be a UUID", func(p *P) *string { return &p.ApplicationID }, badUUIDs()...)...)
	rows = append(rows, forms("4.4", "key_id", "must be a UUID", func(p *P) *string { return &p.KeyID }, badUUIDs()...)...)
	for _, bad := range []Secret{
		base64Key(31), base64Key(33), base64Key(64), NewSecret(strings.Repeat("qZ7x", 8)), NewSecret(strings.Repeat("9175", 16)),
		NewSecret(base64Key(32).Reveal() + "\n"), NewSecret(strings.Replace(base64Key(32).Reveal(), "e", "-", 1)),
	} {
		rows = append(rows, limit[P]{
			ref: "4.4", field: "ephemeral_key", rule: "must be 32 bytes in Base64", shown: bad.Reveal(),
			bad: func(p *P) { p.EphemeralKey = bad }, good: func(p *P) { p.EphemeralKey = base64Key(32) },
		})
	}
	refused(t, validExchangeKey, callExchangeKey, rows...)
	requireRefusal(t, sendsNothing(t, func(ctx context.Context, c *Client) error {
		_, err := c.Accounts.ExchangeKey(ctx, "", P{})
		return err
	}), "", fault{"id", ""}, fault{"application_id", ""}, fault{"key_id", ""}, fault{"ephemeral_key", ""})
}

func callProvision(ctx context.Context, c *Client, p ProvisionWalletParams) error {
	_, err := c.Accounts.ProvisionWallet(ctx, "eaid", "provider", p)
	return err
}

// Section 4.4, wallet request body: everything is optional, for two of the three wallets need none of it.
func TestValidationProvisionWallet(t *testing.T) {
	t.Parallel()
	type P = ProvisionWalletParams
	refused(t, func() P { return P{} }, callProvision, limit[P]{
		ref: "4.4", field: "certificates[1]", rule: "is required",
		bad:  func(p *P) { p.Certificates = []string{"a", ""} },
		good: func(p *P) { p.Certificates = []string{"\n"} },
	})
}

func validInitiate() InitiatePINParams {
	return InitiatePINParams{AccountID: "eaid", DeviceID: "d", IPAddress: "i", CommunicationMethod: "c"}
}

func callInitiate(ctx context.Context, c *Client, p InitiatePINParams) error {
	_, err := c.PIN.Initiate(ctx, p)
	return err
}

func validSealed() SealedPINParams {
	return SealedPINParams{OperationID: someUUID, DeviceID: "d", IPAddress: "i", Envelope: validSealedEnvelope()}
}

// Section 4.7. The reference marks nothing as required and shows no form of ip_address and communication_method: all
// fields are needed, in any form.
func TestValidationPIN(t *testing.T) {
	t.Parallel()
	t.Run("initiate", func(t *testing.T) {
		t.Parallel()
		type P = InitiatePINParams
		refused(t, validInitiate, callInitiate,
			needed("4.7", "eaid", func(p *P) *AccountID { return &p.AccountID }),
			needed("4.7", "device_id", func(p *P) *string { return &p.DeviceID }),
			needed("4.7", "ip_address", func(p *P) *string { return &p.IPAddress }),
			needed("4.7", "communication_method", func(p *P) *string { return &p.CommunicationMethod }))
		requireRefusal(t, sendsNothing(t, func(ctx context.Context, c *Client) error { return callInitiate(ctx, c, P{}) }), "",
			fault{"eaid", ""}, fault{"device_id", ""}, fault{"ip_address", ""}, fault{"communication_method", ""})
	})
	type P = SealedPINParams
	rows := []limit[P]{
		form("4.7", "operation_id", "is required", func(p *P) *string { return &p.OperationID }, "", someUUID),
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
	hash := func(p *P) *PINHash { return &p.Envelope.OAEPHashingAlgorithm }
	rows = append(rows, showing("qzx", forms("4.7", "oaep_hashing_algorithm", "must be SHA256 or SHA512", hash,
		[2]PINHash{"qzxwv", "SHA512"}, [2]PINHash{"sha256", "SHA256"}, [2]PINHash{"SHA1", ""})...)...)
	for name, call := range map[string]func(ctx context.Context, c *Client, p P) error{
		"validate": func(ctx context.Context, c *Client, p P) error { _, err := c.PIN.Validate(ctx, p); return err },
		"execute":  func(ctx context.Context, c *Client, p P) error { _, err := c.PIN.Execute(ctx, p); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, validSealed, call, rows...)
			requireRefusal(t, sendsNothing(t, func(ctx context.Context, c *Client) error { return call(ctx, c, P{}) }), "",
				fault{"operation_id", ""}, fault{"device_id", ""}, fault{"ip_address", ""}, fault{"encrypted_data", ""},
				fault{"public_key_fingerprint", ""}, fault{"encrypted_key", ""}, fault{"iv", ""})
		})
	}
}

func validSealedEnvelope() PINEnvelope {
	return PINEnvelope{
		EncryptedData: strings.Repeat("0a", 32), PublicKeyFingerprint: "any form", EncryptedKey: strings.Repeat("fF", 256),
		OAEPHashingAlgorithm: PINHashSHA512, IV: strings.Repeat("9E", 16),
	}
}

// An envelope that arrives without the name of its hash is sent without it; one that was sealed here always names it.
func TestPINEnvelopeIsForwardedAsItArrived(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(validSealedEnvelope())
	require.NoError(t, err)
	const hash = `"oaep_hashing_algorithm":"SHA512",`
	for arrived, named := range map[string]bool{
		string(whole): true,
		strings.Replace(string(whole), hash, "", 1):                               false,
		strings.Replace(string(whole), hash, `"oaep_hashing_algorithm":null,`, 1): false,
	} {
		params := validSealed()
		params.Envelope = PINEnvelope{}
		require.NoError(t, json.Unmarshal([]byte(arrived), &params.Envelope))
		for name, call := range map[string]func(*PINService, context.Context, SealedPINParams) (*PINResponse, error){
			"validate": (*PINService).Validate, "execute": (*PINService).Execute,
		} {
			sent := sends(t, name, func(ctx context.Context, c *Client) error {
				_, err := call(c.PIN, ctx, params)
				return err
			})
			require.Equal(t, named, strings.Contains(sent.body, "oaep_hashing_algorithm"), sent.body)
		}
	}
}
