package prepaidtest

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpec_2_9_WalletTokens(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{})
	c.get("accounts/" + id + "/tokens").empty(204)
	c.get("accounts/nobody/tokens").refused(404, "account_not_found")
	c.AddWalletToken(id, WalletToken{CurrentStatusCode: "suspended", Suspenders: []string{"issuer"}, Device: WalletDevice{DeviceType: "watch1"}})
	tokens := c.get("accounts/" + id + "/tokens").ok().list()
	require.Len(t, tokens, 1)
	token := tokens[0]
	for _, required := range []string{
		"storage_technology", "device", "last_comment_id", "token_type", "token_requestor_id", "token_assurance_level", "current_status_date_time",
		"current_status_code", "current_status_description", "account_pan_sequence_number", "expiration_date", "token_unique_reference", "token_deleted_from_consumer_app",
	} {
		require.Contains(t, token, required)
	}
	require.Equal(t, "suspended", token["current_status_code"])
	require.Equal(t, []any{"issuer"}, token["suspenders"])
	require.Len(t, token["token_unique_reference"], 48)
	require.LessOrEqual(t, len(token["token_requestor_id"].(string)), 11)
	require.Len(t, token["expiration_date"], 4)
	require.Equal(t, map[string]any{"device_type": "watch1"}, token["device"])
}

func TestSpec_4_4_WalletOfEachProvider(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{ProductType: "gift"})
	const certified = `{"nonce":"n","nonce_signature":"s","certificates":["c"],"initiating_user_id":"u"}`

	first := c.post("accounts/"+id+"/wallet/applepay", certified).ok().object()
	require.Equal(t, "gift", first["pruduct_type"])
	require.Equal(t, "mastercard", first["provider"])
	require.Len(t, first["pan_last_four"], 4)
	require.Equal(t, "ada@example.com", first["registration"].(map[string]any)["email_address"])
	for _, name := range []string{"activation_data", "encrypted_pass_data", "ephemeral_public_key"} {
		require.NotEmpty(t, first[name])
	}
	require.NotContains(t, first, "issuer_initiated_digitization_data")
	c.post("accounts/"+id+"/wallet/applepay", body(t, certified, map[string]any{"certificates": []string{}})).refused(404, "invalid_request")

	reference := strings.Repeat("R", 48)
	for _, provider := range []string{"googlepay", "samsungpay"} {
		other := c.post("accounts/"+id+"/wallet/"+provider, `{"token_unique_reference":"`+reference+`"}`).ok().object()
		require.NotEmpty(t, other["issuer_initiated_digitization_data"])
		require.NotContains(t, other, "activation_data")
	}
	c.post("accounts/"+id+"/wallet/googlepay", certified).ok() // googlepay and samsungpay ignore Apple's members
	tokens := c.get("accounts/" + id + "/tokens").ok().list()
	require.Len(t, tokens, 4)
	require.Equal(t, reference, tokens[1]["token_unique_reference"])

	c.post("accounts/nobody/wallet/googlepay", `{}`).refused(404, "account_not_found")
	require.Len(t, c.get("accounts/"+id+"/tokens").list(), 4)

	named := start(t, Options{WalletProviders: [3]string{"one", "two", "three"}, CardNetwork: "network"})
	id = named.AddAccount(SeedAccount{})
	named.post("accounts/"+id+"/wallet/applepay", certified).refused(404, "unsupported_provider")
	require.Equal(t, "network", named.post("accounts/"+id+"/wallet/three", `{}`).ok().object()["provider"])
}

func TestSpec_4_4_DIP(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{})
	got := c.post("accounts/"+id+"/dip", dip(t, nil)).ok()
	require.Equal(t, "application/octet-stream", got.header.Get("Content-Type"))

	sealed, err := base64.StdEncoding.DecodeString(string(got.body))
	require.NoError(t, err)
	block, err := aes.NewCipher(append([]byte{1}, make([]byte, 31)...))
	require.NoError(t, err)
	opener, err := cipher.NewGCM(block)
	require.NoError(t, err)
	plain, err := opener.Open(nil, sealed[:12], sealed[12:], nil)
	require.NoError(t, err)
	var data map[string]string
	require.NoError(t, json.Unmarshal(plain, &data))
	require.Equal(t, id, data["account_id"])

	c.post("accounts/"+id+"/dip", dip(t, map[string]any{"more": 1})).refused(400, "invalid_request")

	quoted := start(t, Options{QuotedStrings: true})
	got = quoted.post("accounts/"+quoted.AddAccount(SeedAccount{})+"/dip", dip(t, nil)).ok()
	require.True(t, json.Valid(got.body))
}
