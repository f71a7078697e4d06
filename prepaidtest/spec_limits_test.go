package prepaidtest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fullCreation has every object of a creation, so that a path into any of them can be changed.
func fullCreation(t *testing.T) string {
	t.Helper()
	return body(t, creation, map[string]any{
		"portal_identifier":              map[string]any{"client_id": "a", "program_id": "b", "cardholder_id": "c"},
		"registration.alternate_address": map[string]any{},
		"registration.passport": map[string]any{
			"passport_number": "N1", "passport_expiry": "2090-01-01T00:00:00Z", "passport_issuing_country": "AUS",
		},
	})
}

// lengthLimit is a member and its greatest number of characters, not bytes unless it must be ASCII.
type lengthLimit struct {
	field, letter string
	most          int
}

func creationLimits() []lengthLimit {
	return []lengthLimit{
		{"client_account_key", "~", 255}, {"display_name", "é", 100}, {"mdes_config_id", "é", 10}, {"name_on_card", "A", 19},
		{"registration.title", "é", 50}, {"registration.first_name", "é", 50}, {"registration.middle_name", "é", 50},
		{"registration.last_name", "é", 50}, {"registration.mobile_number", "é", 50}, {"registration.phone_number", "é", 50},
		{"registration.driver_licence_number", "é", 30}, {"registration.passport.passport_number", "é", 10},
		{"registration.primary_address.address_line1", "é", 50}, {"registration.primary_address.address_line2", "é", 50},
		{"registration.primary_address.address_line3", "é", 50}, {"registration.primary_address.city", "é", 50},
		{"registration.primary_address.state", "é", 6}, {"registration.primary_address.postcode", "1", 30},
		{"registration.alternate_address.address_line1", "é", 50}, {"registration.alternate_address.address_line2", "é", 50},
		{"registration.alternate_address.city", "é", 50}, {"registration.alternate_address.state", "é", 6},
		{"registration.alternate_address.postcode", "1", 30},
	}
}

func TestSpec_8_LengthsOfAnAccount(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	path := "accounts/" + c.AddAccount(SeedAccount{})
	full := fullCreation(t)
	update := body(t, full, map[string]any{"company_id": nil, "initial_load_amount": nil})
	for _, limit := range creationLimits() {
		at, above := map[string]any{limit.field: strings.Repeat(limit.letter, limit.most)}, map[string]any{limit.field: strings.Repeat(limit.letter, limit.most+1)}
		require.Equal(t, 201, c.post("accounts", body(t, full, at)).status, limit.field)
		require.Contains(t, c.post("accounts", body(t, full, above)).refused(400, "invalid_request"), limit.field+" ", limit.field)
		if limit.field != "mdes_config_id" && limit.field != "name_on_card" { // no members of an update
			c.do("PUT", path, body(t, update, at)).empty(200)
			require.Contains(t, c.do("PUT", path, body(t, update, above)).refused(400, "invalid_request"), limit.field+" ", limit.field)
		}
	}
	for length, status := range map[int]int{1: 400, 2: 201} {
		require.Equal(t, status, c.post("accounts", body(t, full, map[string]any{"name_on_card": strings.Repeat("A", length)})).status)
	}
}

func TestSpec_8_LengthsOfATransfer(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "1000.00"}), c.AddAccount(SeedAccount{})
	for _, limit := range []lengthLimit{{"request_id", "é", 100}, {"source_reference", "é", 75}, {"destination_reference", "é", 75}} {
		at, above := map[string]any{limit.field: strings.Repeat(limit.letter, limit.most)}, map[string]any{limit.field: strings.Repeat(limit.letter, limit.most+1)}
		require.NotEmpty(t, c.post("accounts/"+from+"/transfer", transferTo(t, to, at)).ok().object()["transaction_id"])
		require.Contains(t, c.post("accounts/"+from+"/transfer", transferTo(t, to, above)).refused(400, "invalid_request"), limit.field)
		require.NotEmpty(t, c.post("accounts/"+from+"/directentryout", directEntry(t, at)).ok().object()["transaction_id"])
		require.Contains(t, c.post("accounts/"+from+"/directentryout", directEntry(t, above)).refused(400, "invalid_request"), limit.field)
	}
}

func TestSpec_8_LengthsOfAHookKey(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	uri := "https://partner.example/hook"
	hook := func(field string, value any) reply {
		return c.post("hooks", hookText(t, uri, map[string]any{"enabled": false, field: value}))
	}
	for _, good := range []string{"k", strings.Repeat("k", 64), "!\"#$%&'()*+,-./:<=>?@[]^_`{|}~\\"} {
		require.Equal(t, 201, hook("hmac_key_id", good).status, "length %d", len(good))
	}
	for _, bad := range []string{"", strings.Repeat("k", 65), "a b", "a\tb", "a;b", "a\x7f", "é"} {
		hook("hmac_key_id", bad).refused(400, "invalid_hmac_key_id")
	}
	require.Equal(t, 201, hook("hmac_key_secret", strings.ToUpper(hookSecret)).status)
	for _, bad := range []string{"", hookSecret[:63], hookSecret + "0", hookSecret + "00", hookSecret[:63] + "g"} {
		hook("hmac_key_secret", bad).refused(400, "invalid_hmac_key_secret")
	}
}

func TestSpec_2_3_RequiredMembersOfARegistration(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	full := fullCreation(t)
	for _, field := range []string{
		"registration.first_name", "registration.last_name", "registration.primary_address", "registration.date_of_birth",
		"registration.primary_address.state", "registration.primary_address.country", "registration.passport.passport_number",
		"registration.passport.passport_expiry", "registration.passport.passport_issuing_country",
		"portal_identifier.client_id", "portal_identifier.program_id", "portal_identifier.cardholder_id",
	} {
		require.Contains(t, c.post("accounts", body(t, full, map[string]any{field: nil})).refused(400, "invalid_request"), field+" is required")
	}
	for _, field := range []string{"registration.first_name", "registration.last_name", "registration.primary_address.state"} {
		require.Contains(t, c.post("accounts", body(t, full, map[string]any{field: ""})).refused(400, "invalid_request"), field+" must not be empty")
	}
	// Every other member may be absent, the two objects among them.
	require.Equal(t, 201, c.post("accounts", creation).status)
}

func TestSpec_2_3_SexAndEmailAddressAreOptional(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for field, values := range map[string]map[string]int{
		"registration.sex": {"M": 201, "F": 201, "m": 400, "X": 400, "": 400},
		"registration.email_address": {"a@b.example": 201, "nobody": 400, "Ada <a@b.example>": 400, "a@b@c": 400, "": 400,
			`"ada"@b.example`: 201, `"ada lovelace"@b.example`: 201, `"a@b"@b.example`: 201, `"Ada" <"a"@b.example>`: 400, `"ada" @b.example`: 400},
	} {
		for value, status := range values {
			require.Equal(t, status, c.post("accounts", body(t, creation, map[string]any{field: value})).status, field)
		}
	}
}

func TestSpec_2_4_FormsOfAnAddress(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	full := fullCreation(t)
	for _, kind := range []string{"primary", "alternate"} {
		address := "registration." + kind + "_address."
		for _, test := range []struct {
			field, value string
			status       int
		}{
			{"country", "NZ", 201}, {"country", "NZL", 400}, {"country", "N", 400}, {"country", "nz", 400}, {"country", "1Z", 400},
			{"postcode", "2000", 201}, {"postcode", "AB12CD", 201}, {"postcode", "20 00", 400}, {"postcode", "20-00", 400},
		} {
			got := c.post("accounts", body(t, full, map[string]any{address + test.field: test.value}))
			require.Equal(t, test.status, got.status, "%s%s", address, test.field)
		}
	}
	require.Contains(t, c.post("accounts", body(t, full, map[string]any{"registration.alternate_address.address_line3": "x"})).
		refused(400, "invalid_request"), "address_line3")
}

func TestSpec_2_5_APassportExpiresLaterThanNow(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	c := start(t, Options{StartAt: now, FrozenClock: true})
	for at, status := range map[string]int{"2030-01-01T12:00:00Z": 400, "2030-01-01T12:00:01Z": 201, "2029-12-31T12:00:01Z": 400} {
		got := c.post("accounts", body(t, fullCreation(t), map[string]any{"registration.passport.passport_expiry": at}))
		require.Equal(t, status, got.status, at)
	}
	for country, status := range map[string]int{"AUS": 201, "AU": 400, "aus": 400, "A1S": 400} {
		got := c.post("accounts", body(t, fullCreation(t), map[string]any{"registration.passport.passport_issuing_country": country}))
		require.Equal(t, status, got.status, country)
	}
}

func TestSpec_2_7_PortalIdentifierIsReadBack(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	require.Equal(t, 201, c.post("accounts", body(t, fullCreation(t), map[string]any{"client_account_key": "k"})).status)
	got := c.get("accounts?client_id=acme&client_account_key=k").ok().list()[0]
	require.Equal(t, map[string]any{"client_id": "a", "program_id": "b", "cardholder_id": "c"}, got["portal_identifier"])
}
