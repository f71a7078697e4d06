package prepaidtest

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// Each example is sent. The emulator accepts it, or only lacks the objects that it refers to.
func TestOpenAPIExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	d, _ := described[openAPI](t, Options{})
	sent := 0
	for template, item := range d.Paths {
		for method, operation := range item {
			for media, content := range operation.RequestBody.Content {
				sent++
				t.Run(operation.OperationID, func(t *testing.T) {
					t.Parallel()
					require.NotEmpty(t, content.Example)
					if media == vendorJSON {
						sendExample(t, strings.ToUpper(method), template, string(content.Example))
						return
					}
					form := make(map[string]string)
					require.NoError(t, json.Unmarshal(content.Example, &form))
					values := url.Values{}
					for name, value := range form {
						values.Set(name, value)
					}
					startWithoutToken(t, Options{}).tokenRequest(basic("emulator-client", "emulator-secret"), values.Encode()).ok()
				})
			}
		}
	}
	require.Equal(t, 26, sent)
}

func sendExample(t *testing.T, method, template, example string) {
	t.Helper()
	c := start(t, Options{}).withKeyPair()
	c.AddApplication("0a1b2c3d-0000-4000-8000-000000000001", "0a1b2c3d-0000-4000-8000-000000000002")
	for _, id := range []prepaid.AccountID{"emp-1", "emp-2"} {
		c.AddAccount(SeedAccount{ID: id, Balance: "500"})
	}
	id := "emp-1"
	switch {
	case strings.HasPrefix(template, "/policy"):
		id = "42"
	case strings.HasPrefix(template, "/hooks/"):
		id = c.addHook(hookText(t, "https://partner.example/", map[string]any{"enabled": false}))
	}
	got := c.do(method, strings.NewReplacer("{id}", id, "{provider}", "googlepay").Replace(template[1:]), example)
	switch template {
	case "/pin/validate", "/pin/execute":
		require.Contains(t, got.refused(400, "invalid_envelope"), "public_key_fingerprint is not that of the certificate")
	case "/hooks/{id}/undeliverable/dismiss":
		got.refused(400, "invalid_message_id")
	case "/funding/redemptions":
		require.Equal(t, "approved", got.ok().object()["outcome"])
	case "/simulation/transact":
		require.Equal(t, true, got.ok().object()["success"])
	default:
		require.Contains(t, []int{200, 201}, got.status, string(got.body))
	}
}

// Rules stricter than the reference would break a client.
func TestOpenAPIIsNotStricterThanTheReference(t *testing.T) {
	t.Parallel()
	d, _ := described[openAPI](t, Options{})
	schemas := d.Components.Schemas
	require.Empty(t, schemas["Message"].Properties["id"].Format, "only the ID of a webhook has the form of a UUID")
	require.Equal(t, []string{"default_action", "description"}, schemas["PolicyTerminals"].Required)
	require.Equal(t, []string{"terminal_rules", "category_rules"}, schemas["Restrictions"].Required)
	require.Empty(t, schemas["PolicyCategory"].Properties["merchant_category_code"].Pattern)
	require.Empty(t, schemas["ProvisionWalletRequest"].Properties["token_unique_reference"].Pattern, "it has a length in 2.9 only")
	sequence := schemas["WalletToken"].Properties["account_pan_sequence_number"]
	require.Equal(t, []any{3, ""}, []any{sequence.MaxLength, sequence.Pattern}, "up to 3 characters")
	require.Zero(t, schemas["CreateHookRequest"].Properties["scope"].MinItems)

	// The address of tokens, relative to each server's, whose path has no slash at the end.
	base, err := url.Parse("https://api.example/3.0")
	require.NoError(t, err)
	address, err := base.Parse(d.Components.SecuritySchemes["OAuth2"].Flows["clientCredentials"].TokenURL)
	require.NoError(t, err)
	require.Equal(t, "https://api.example/3.0/token", address.String())

	change := d.Paths["/hooks/{id}"]["patch"].Responses["400"].Codes
	require.Equal(t, "reference", change["invalid_uri"])
	require.Equal(t, "emulator", change["invalid_hook_id"], "the row does not name it")
	require.Equal(t, "emulator", d.Paths["/hooks/{id}"]["get"].Responses["400"].Codes["invalid_hook_id"])
	require.Equal(t, "reference", d.Paths["/hooks/{id}/undeliverable"]["get"].Responses["400"].Codes["invalid_hook_id"])
}
