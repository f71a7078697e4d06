package prepaidtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const neverAsked = "https://partner.example/hook"

// refusedHook checks that a member is refused with code at registration, with each value and when it is absent,
// and with each value in a change, which then changes nothing.
func refusedHook(t *testing.T, field, code string, values ...any) {
	t.Helper()
	c := start(t, Options{})
	id := c.addHook(hookText(t, neverAsked, map[string]any{"enabled": false}))
	before := string(c.get("hooks/" + id).ok().body)
	for _, value := range append(values, nil) {
		got := c.post("hooks", hookText(t, neverAsked, map[string]any{"enabled": false, field: value})).refused(400, code)
		require.Contains(t, got, field)
		require.NotContains(t, got, hookSecret[:20])
		if value != nil {
			c.do("PATCH", "hooks/"+id, body(t, `{"hmac_key_id":"changed"}`, map[string]any{field: value})).refused(400, code)
		}
	}
	require.JSONEq(t, before, string(c.get("hooks/"+id).ok().body))
	require.Len(t, c.get("hooks").ok().list(), 1)
}

func TestSpec_4_8_400_InvalidURI(t *testing.T) {
	t.Parallel()
	refusedHook(t, "uri", "invalid_uri", "http://127.0.0.1/x", "http://partner.example/", "https://", "https:///path", "partner.example", "ftp://partner.example/",
		"::", "", 5, []string{neverAsked})
}

func TestSpec_4_8_400_InvalidScope(t *testing.T) {
	t.Parallel()
	refusedHook(t, "scope", "invalid_scope", 42, "42", []string{"42"}, []float64{42.5}, []any{42, true})
	c := start(t, Options{})
	id := c.addHook(hookText(t, "https://partner.example/", map[string]any{"enabled": false, "scope": []int{}}))
	require.Empty(t, c.get("hooks/" + id).ok().object()["scope"].([]any), "the reference has no least number")
}

func TestSpec_4_8_400_InvalidFilterSpec(t *testing.T) {
	t.Parallel()
	refusedHook(t, "filter_spec", "invalid_filter_spec", "", "**", " *", "amount > 5", 5)
}

func TestSpec_4_8_400_InvalidEnabled(t *testing.T) {
	t.Parallel()
	refusedHook(t, "enabled", "invalid_enabled", "true", "false", 0, 1, []bool{true})
}

func TestSpec_4_8_400_InvalidReliabilityMode(t *testing.T) {
	t.Parallel()
	refusedHook(t, "reliability_mode", "invalid_reliability_mode", "", "all", "None", "STORE_UNDELIVERABLE", true)
}

func TestSpec_4_8_400_InvalidHMACKeyID(t *testing.T) {
	t.Parallel()
	refusedHook(t, "hmac_key_id", "invalid_hmac_key_id", "a b", "", 5)
}

func TestSpec_4_8_400_InvalidHMACKeySecret(t *testing.T) {
	t.Parallel()
	refusedHook(t, "hmac_key_secret", "invalid_hmac_key_secret", hookSecret[2:], hookSecret[:62]+"zz", "", 5)
}

func TestSpec_4_8_400_InvalidRequest(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.addHook(hookText(t, neverAsked, map[string]any{"enabled": false}))
	for _, text := range []string{"{", "[]", "null", `"x"`, "{} {}", `{"enabled":tru}`, `{"colour":"red"}`} {
		c.do("PATCH", "hooks/"+id, text).refused(400, "invalid_request")
		c.post("hooks/"+id+"/undeliverable/dismiss", text).refused(400, "invalid_request")
		if text != `{"colour":"red"}` { // it also lacks members of a registration
			c.post("hooks", text).refused(400, "invalid_request")
		}
	}
	c.post("hooks", hookText(t, neverAsked, map[string]any{"enabled": false, "colour": "red"})).refused(400, "invalid_request")
	for _, ids := range []string{`{}`, `{"message_ids":[]}`, `{"message_ids":"m"}`, `{"message_ids":[5]}`, `{"message_ids":null}`} {
		c.post("hooks/"+id+"/undeliverable/dismiss", ids).refused(400, "invalid_request")
	}
}

func TestSpec_4_8_400_InvalidHookID(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, id := range []string{"nothing", "123e4567-e89b-12d3-a456-426614174000"} {
		c.get("hooks/"+id).refused(400, "invalid_hook_id")
		c.do("PATCH", "hooks/"+id, `{}`).refused(400, "invalid_hook_id")
		c.get("hooks/"+id+"/undeliverable").refused(400, "invalid_hook_id")
		c.post("hooks/"+id+"/undeliverable/dismiss", `{"message_ids":["m"]}`).refused(400, "invalid_hook_id")
		c.do("DELETE", "hooks/"+id, "").empty(204) // its row has no 400: it is deleted
	}
}

func TestSpec_4_8_400_InvalidMessageID(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	c := start(t, Options{WebhookRoots: r.pool()})
	first := c.addHook(hookText(t, r.URL, nil))
	second := c.addHook(hookText(t, r.URL, nil))
	r.answer(500)
	c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	of := func(hook string) string {
		return c.get("hooks/" + hook + "/undeliverable").ok().list()[0]["id"].(string)
	}
	for _, ids := range []string{`["nothing"]`, `[""]`, `["` + of(first) + `","nothing"]`, `["` + of(second) + `"]`} {
		c.post("hooks/"+first+"/undeliverable/dismiss", `{"message_ids":`+ids+`}`).refused(400, "invalid_message_id")
	}
	require.NotEmpty(t, of(first), "all of the ids, or none")
	c.post("hooks/"+first+"/undeliverable/dismiss", `{"message_ids":["`+of(first)+`"]}`).empty(204)
	c.get("hooks/" + first + "/undeliverable").empty(204)
	require.NotEmpty(t, of(second), "each hook has its own")
}
