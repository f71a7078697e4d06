package prepaidtest

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/reference"
)

func TestSpec_3_1_StatusUpdateToEachOfTheEleven(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	statuses := []string{
		"active", "pre_active", "inactive", "deactivated", "lost_or_stolen", "expired", "suspected_fraud", "closed",
		"inactive_pin_tries_exceeded", "vendor_inactive", "replaced",
	}
	for _, from := range statuses {
		for _, to := range statuses {
			id := c.AddAccount(SeedAccount{Status: from})
			c.do("PUT", "accounts/"+id+"/status", `{"status":"`+to+`"}`).empty(200)
			require.Equal(t, to, c.get("accounts/" + id + "/status").ok().object()["status"], "from %s", from)
			require.Equal(t, to, c.Status(id))
		}
	}
}

func TestSpec_3_1_StatusUpdateOfAnUnknownAccountIs404(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.do("PUT", "accounts/nobody/status", `{"status":"active"}`).refused(404, "account_not_found")
}

// Each flag belongs only to the operations whose row names it.
func TestSpec_1_OptionalFieldGroupsOfEachOperation(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{Key: "k", MDESConfigID: "m", CorrespondingAccountID: "o"})
	groups := map[string]string{}
	account, _ := reference.Read().Schemas.Get("Account")
	for _, member := range account.Properties {
		groups[member.Value.Include] = member.Name
	}
	delete(groups, "")
	require.Len(t, groups, 7)
	for path, allowed := range map[string][]string{
		"accounts?client_id=acme&client_account_key=k&": {"with_personal", "with_directentry", "with_freetext", "with_bpay"},
		"accounts/company/42?":                          {"with_personal"},
		"accounts/" + id + "?":                          slices.Collect(maps.Keys(groups)),
		"accounts/" + id + "/status?":                   {},
		"accounts/" + id + "/tokens?":                   {},
		"accounts/" + id + "/transactions?":             {},
	} {
		for flag, field := range groups {
			got := c.get(path + flag + "=0")
			if !slices.Contains(allowed, flag) {
				require.Equal(t, 400, got.status, path+flag)
				continue
			}
			require.Contains(t, string(got.ok().body), `"`+field+`"`, "any value that is not blank: "+path+flag)
			for _, blank := range []string{"", "=", "=%20%09%0A", "=%C2%A0"} {
				require.NotContains(t, string(c.get(path+flag+blank).ok().body), `"`+field+`"`, path+flag+blank)
			}
		}
	}
}

func TestSpec_4_4_InitialLoadAmountIsFoundByName(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	octal := strings.Replace(creation, `"initial_load_amount":0`, `"initial_load_amount" : 010`, 1)
	for _, member := range []string{
		`"display_name":"initial_load_amount",`, `"display_name":"\"initial_load_amount\":011",`, `"display_name":"{\"initial_load_amount\":",`,
	} {
		got := c.post("accounts", strings.Replace(octal, "{", "{"+member, 1))
		require.Equal(t, 201, got.status, member)
		require.Equal(t, json.Number("8.00"), got.object()["balance"])
	}
}

func TestSpec_4_4_OptionalMembersOfACreation(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for value, want := range map[any]bool{nil: true, true: true, false: false} {
		require.Equal(t, want, c.post("accounts", body(t, creation, map[string]any{"is_plastic_enabled": value})).object()["is_plastic_enabled"])
	}
	c.post("accounts", body(t, creation, map[string]any{"card_holder_type": 2, "client_account_key": "two"}))
	id := c.get("accounts?client_id=acme&client_account_key=two").list()[0]["account_id"].(string)
	require.Equal(t, json.Number("2"), c.get("accounts/" + id + "?with_cardholdertype=1").object()["card_holder_type"])
}

func TestSpec_4_4_Transactions_OrderIsASetting(t *testing.T) {
	t.Parallel()
	for _, oldest := range []bool{false, true} {
		c := start(t, Options{FrozenClock: true, Kind: oldest})
		id := c.AddAccount(SeedAccount{})
		for _, amount := range []string{"1", "2", "3"} {
			c.Adjust(id, amount)
		}
		var got []any
		for _, page := range []string{"1", "2"} {
			for _, item := range c.get("accounts/" + id + "/transactions?page_size=2&page_number=" + page).ok().list() {
				got = append(got, item["amount"])
			}
		}
		want := []any{json.Number("1.00"), json.Number("2.00"), json.Number("3.00")}
		if !oldest {
			slices.Reverse(want)
		}
		require.Equal(t, want, got)
		kept := c.Transactions(id)
		require.Equal(t, []string{"1.00", "2.00", "3.00"}, []string{kept[0].Amount, kept[1].Amount, kept[2].Amount})
	}
}

func TestSpec_2_2_ProductAndAccountTypes(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, product := range []string{"reloadable", "gift", "loyalty"} {
		for _, kind := range []string{"proxy", "ledger"} {
			got := c.get("accounts/" + c.AddAccount(SeedAccount{ProductType: product, AccountType: kind})).object()
			require.Equal(t, product, got["product_type"])
			require.Equal(t, kind, got["account_type"])
			require.NotContains(t, got["card_number"], "0000000", "masked")
			require.Contains(t, got["card_number"], "*")
		}
	}
}

// A response has whole seconds. A request may have a fraction, as JavaScript writes it, and either way to write UTC.
func TestSpec_1_DateTimesAreUTCWholeSeconds(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, value := range []string{
		"2031-01-02T03:04:05Z", "2031-01-02T03:04:05.000Z", "2031-01-02T03:04:05.9Z", "2031-01-02T03:04:05.123456789Z", "2031-01-02T03:04:05+00:00",
		"2031-01-02T03:04:05.5+00:00",
	} {
		got := c.post("accounts", body(t, creation, map[string]any{"account_expiry": value, "client_account_key": value, "registration.date_of_birth": value}))
		require.Equal(t, 201, got.status, value)
		made := c.get("accounts?client_id=acme&client_account_key=" + url.QueryEscape(value)).ok().list()
		require.Equal(t, "2031-01-02T03:04:05Z", made[0]["account_expiry"], value)
	}
	for _, value := range []string{
		"2031-01-02", "2031-01-02T03:04:05+10:00", "2031-01-02T03:04:05", "2031-02-29T00:00:00Z", "2031-01-02 03:04:05Z", "", "2031-01-02T03:04:05.Z",
		"2031-01-02T03:04:05-00:00", "2031-01-02T3:04:05Z", "2031-01-02t03:04:05z", "2031-01-02T03:04:05,5Z",
	} {
		got := c.post("accounts", body(t, creation, map[string]any{"plastic_expiry": value}))
		require.Contains(t, got.refused(400, "invalid_request"), "plastic_expiry", value)
	}
}

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

func TestSpec_2_3_FormsOfAnEmailAddress(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for field, values := range map[string]map[string]int{
		"registration.email_address": {"a@b.example": 201, "nobody": 400, "Ada <a@b.example>": 400, "a@b@c": 400, "": 400,
			`"ada"@b.example`: 201, `"ada lovelace"@b.example`: 201, `"a@b"@b.example`: 201, `"Ada" <"a"@b.example>`: 400, `"ada" @b.example`: 400},
	} {
		for value, status := range values {
			require.Equal(t, status, c.post("accounts", body(t, creation, map[string]any{field: value})).status, field)
		}
	}
}

func TestSpec_2_5_APassportExpiresLaterThanNow(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	c := start(t, Options{StartAt: now, FrozenClock: true})
	for at, status := range map[string]int{"2030-01-01T12:00:00Z": 400, "2030-01-01T12:00:01Z": 201, "2029-12-31T12:00:01Z": 400} {
		got := c.post("accounts", body(t, fullCreation(t), map[string]any{"registration.passport.passport_expiry": at}))
		require.Equal(t, status, got.status, at)
	}
}

func TestSpec_2_7_PortalIdentifierIsReadBack(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	require.Equal(t, 201, c.post("accounts", body(t, fullCreation(t), map[string]any{"client_account_key": "k"})).status)
	got := c.get("accounts?client_id=acme&client_account_key=k").ok().list()[0]
	require.Equal(t, map[string]any{"client_id": "a", "program_id": "b", "cardholder_id": "c"}, got["portal_identifier"])
}
