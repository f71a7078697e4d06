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
	require.Equal(t, "suspended", token["current_status_code"])
	require.Equal(t, []any{"issuer"}, token["suspenders"])
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
	c.post("accounts/"+id+"/wallet/applepay", body(t, certified, map[string]any{"certificates": []string{}})).refused(404, "invalid_request")

	reference := strings.Repeat("R", 48)
	for _, provider := range []string{"googlepay", "samsungpay"} {
		c.post("accounts/"+id+"/wallet/"+provider, `{"token_unique_reference":"`+reference+`"}`).ok()
	}
	c.post("accounts/"+id+"/wallet/googlepay", certified).ok() // googlepay and samsungpay ignore Apple's members
	tokens := c.get("accounts/" + id + "/tokens").ok().list()
	require.Len(t, tokens, 4)
	require.Equal(t, reference, tokens[1]["token_unique_reference"])

	c.post("accounts/nobody/wallet/googlepay", `{}`).refused(404, "account_not_found")
	require.Len(t, c.get("accounts/"+id+"/tokens").list(), 4)
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

	c.post("accounts/"+id+"/dip", dip(t, map[string]any{"more": 1})).refused(400, "bad_application_id")
}

const (
	dipApplication = "123e4567-e89b-12d3-a456-426614174000"
	dipKeyID       = "123e4567-e89b-12d3-a456-426614174001"
)

// ephemeral is a 256-bit value in Base64.
func ephemeral(first byte) string {
	return base64.StdEncoding.EncodeToString(append([]byte{first}, make([]byte, 31)...))
}

func dip(t *testing.T, changes map[string]any) string {
	t.Helper()
	return body(t, `{"application_id":"`+dipApplication+`","key_id":"`+dipKeyID+`","ephemeral_key":"`+ephemeral(1)+`"}`, changes)
}

func TestSpec_7_400_RegisteredApplications(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	path := "accounts/" + c.AddAccount(SeedAccount{}) + "/dip"
	c.post(path, dip(t, map[string]any{"ephemeral_key": strings.Repeat("-", 44)})).refused(400, "bad_ephemeral_key")
	c.AddApplication(dipKeyID, dipKeyID)
	c.post(path, dip(t, nil)).refused(400, "bad_application_id")
	c.AddApplication(dipApplication, dipApplication)
	c.post(path, dip(t, nil)).refused(400, "bad_key_id")
	c.AddApplication(dipApplication, dipKeyID)
	c.post(path, dip(t, nil)).ok()
}

func TestSpec_4_4_DIP_TheEphemeralKeyIsForSingleUse(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	first, second := c.AddAccount(SeedAccount{}), c.AddAccount(SeedAccount{})
	c.post("accounts/"+first+"/dip", dip(t, nil)).ok()
	for _, id := range []string{first, second} {
		c.post("accounts/"+id+"/dip", dip(t, nil)).refused(400, "bad_ephemeral_key")
		c.post("accounts/"+id+"/dip", dip(t, map[string]any{"key_id": dipApplication})).refused(400, "bad_ephemeral_key")
	}
	c.post("accounts/"+first+"/dip", dip(t, map[string]any{"ephemeral_key": ephemeral(2)})).ok()
	// Refusals consume no key.
	c.post("accounts/nobody/dip", dip(t, map[string]any{"ephemeral_key": ephemeral(3)})).refused(400, "bad_account")
	c.post("accounts/"+first+"/dip", dip(t, map[string]any{"ephemeral_key": ephemeral(3)})).ok()

	c.AddApplication(dipApplication, dipKeyID)
	c = c.restart(Options{}) // which keeps the used keys and the registered ones
	c.post("accounts/"+first+"/dip", dip(t, nil)).refused(400, "bad_ephemeral_key")
}

func TestSpec_7_400_BadAccount(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.post("accounts/nobody/dip", dip(t, nil)).refused(400, "bad_account")
	c.post("accounts/"+c.AddAccount(SeedAccount{Status: "closed"})+"/dip", dip(t, nil)).refused(400, "bad_account")
	c.post("accounts/"+c.AddAccount(SeedAccount{Status: "lost_or_stolen"})+"/dip", dip(t, nil)).ok()
}

func TestSpec_4_4_WalletMembersOfEachProvider(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{})
	const certified = `{"nonce":"n","nonce_signature":"s","certificates":["c","d"]}`
	for provider, needs := range map[string]bool{"applepay": true, "googlepay": false, "samsungpay": false} {
		path := "accounts/" + id + "/wallet/" + provider
		c.post(path, certified).ok()
		for _, member := range []string{"nonce", "nonce_signature", "certificates"} {
			got := c.post(path, body(t, certified, map[string]any{member: nil}))
			if needs {
				require.Contains(t, got.refused(404, "invalid_request"), member)
			} else {
				got.ok()
			}
		}
		response := c.post(path, certified).ok().object()
		for _, member := range []string{"activation_data", "encrypted_pass_data", "ephemeral_public_key"} {
			require.Equal(t, needs, response[member] != nil, "%s %s", provider, member)
		}
		require.Equal(t, !needs, response["issuer_initiated_digitization_data"] != nil, provider)
		for _, length := range []int{47, 49} {
			c.post(path, body(t, certified, map[string]any{"token_unique_reference": strings.Repeat("R", length)})).ok()
		}
	}
	for _, token := range c.get("accounts/" + id + "/tokens").list() {
		require.Len(t, token["token_unique_reference"], 48, "2.9 has the length, the request of 4.4 none")
	}
	for _, provider := range []string{"paypal", "ApplePay", "applepay%20"} {
		c.post("accounts/"+id+"/wallet/"+provider, certified).refused(404, "unsupported_provider")
	}
}

// 2.3: a mobile number and an e-mail address are needed to tokenise a card; the response's registration needs sex.
func TestSpec_2_3_WhatTokenisingNeeds(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for field, without := range map[string]func(*Cardholder){
		"registration.mobile_number": func(p *Cardholder) { p.MobileNumber = "" },
		"registration.email_address": func(p *Cardholder) { p.EmailAddress = "" },
		"registration.sex":           func(p *Cardholder) { p.Sex = "" },
	} {
		person := lovelace()
		without(&person)
		id := c.AddAccount(SeedAccount{Cardholder: &person})
		description := c.post("accounts/"+id+"/wallet/googlepay", `{}`).refused(404, "invalid_request")
		require.Equal(t, "invalid fields: "+field+" is needed to tokenise a card", description)
		c.get("accounts/" + id + "/tokens").empty(204)
	}
	for _, status := range AccountStatuses()[1:] {
		id := c.AddAccount(SeedAccount{Status: status})
		require.Contains(t, c.post("accounts/"+id+"/wallet/googlepay", `{}`).refused(404, "invalid_request"), "status")
	}
}

func TestSpec_3_5_EachTokenStatusIsASeed(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{})
	current := []string{"unknown", "unmapped", "active", "suspended", "deleted"}
	provisioning := []string{
		"unknown", "token_being_prepared", "awaiting_cardholder_tc_acceptance", "token_being_delivered", "awaiting_activation", "success", "failed",
	}
	for _, status := range current {
		c.AddWalletToken(id, WalletToken{CurrentStatusCode: status})
	}
	for _, status := range provisioning {
		c.AddWalletToken(id, WalletToken{ProvisioningStatusCode: status})
	}
	tokens := c.get("accounts/" + id + "/tokens").ok().list()
	require.Len(t, tokens, len(current)+len(provisioning))
	for i, status := range current {
		require.Equal(t, status, tokens[i]["current_status_code"])
	}
	for i, status := range provisioning {
		require.Equal(t, status, tokens[len(current)+i]["provisioning_status_code"])
		require.Equal(t, "active", tokens[len(current)+i]["current_status_code"], "the default")
	}
}
