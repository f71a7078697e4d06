package prepaidtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func TestSpec_3_3_OnlyASuccessAnswersAPing(t *testing.T) {
	t.Parallel()
	for status, registered := range map[int]bool{
		200: true, 201: true, 202: true, 204: true, 300: false, 302: false, 400: false, 404: false, 500: false, 503: false,
	} {
		r, c := startHooked(t, Options{})
		r.respond(status)
		got := c.post("hooks", hookText(t, r.URL, nil))
		if registered {
			require.Equal(t, 201, got.status)
			require.Equal(t, true, c.get("hooks").ok().list()[0]["enabled"])
		} else {
			got.refused(400, "no_response")
			c.get("hooks").empty(204)
		}
		require.Equal(t, []string{"ping"}, r.types())
	}
	c := start(t, Options{})
	c.post("hooks", hookText(t, "https://127.0.0.1:1/", nil)).refused(400, "no_response")
	c.get("hooks").empty(204)
}

func TestSpec_3_3_EnablingPings(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{})
	id := c.addHook(hookText(t, r.URL, map[string]any{"enabled": false}))
	r.respond(500)
	c.do("PATCH", "hooks/"+id, `{"enabled":true,"hmac_key_id":"k2"}`).refused(400, "no_response")
	hook := c.get("hooks/" + id).ok().object()
	require.Equal(t, false, hook["enabled"])
	require.Equal(t, "k1", hook["hmac_key_id"], "nothing of a refused change remains")
	r.respond(200)
	c.do("PATCH", "hooks/"+id, `{"enabled":true}`).empty(200)
	require.Equal(t, true, c.get("hooks/" + id).ok().object()["enabled"])
	c.do("PATCH", "hooks/"+id, `{"enabled":true}`).empty(200)
	require.Equal(t, []string{"ping", "ping", "ping"}, r.types(), "an update with enabled true pings an enabled hook too")
	r.respond(500)
	c.do("PATCH", "hooks/"+id, `{"enabled":true}`).refused(400, "no_response")
	require.Equal(t, true, c.get("hooks/" + id).ok().object()["enabled"], "unchanged")
}

func TestSpec_3_3_DisablingStopsMessagesAndStoring(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{FrozenClock: true, TokenLifetime: 24 * time.Hour, DeliveryRetries: []time.Duration{time.Minute}})
	id := c.addHook(hookText(t, r.URL, nil))
	account := c.AddAccount(SeedAccount{})
	r.respond(500)
	c.Adjust(account, "1") // fails once and waits for its retry
	c.quiet()
	c.do("PATCH", "hooks/"+id, `{"enabled":false}`).empty(200)
	c.Adjust(account, "1")
	sent := len(r.types())
	c.Advance(time.Hour)
	c.quiet()
	require.Len(t, r.types(), sent, "no message, and no retry")
	c.get("hooks/" + id + "/undeliverable").empty(204)
	require.Nil(t, c.get("hooks/" + id).object()["last_undeliverable"])
}

func TestSpec_3_3_DeletedFromEitherState(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{})
	for _, enabled := range []bool{true, false} {
		id := c.addHook(hookText(t, r.URL, map[string]any{"enabled": enabled}))
		for _, unknown := range []string{id, "nothing", "123e4567-e89b-12d3-a456-426614174000"} {
			c.do("DELETE", "hooks/"+unknown, "").empty(204) // its row has no 400: an unknown hook is deleted
			c.get("hooks/"+unknown).refused(400, "invalid_hook_id")
			c.do("PATCH", "hooks/"+unknown, `{}`).refused(400, "invalid_request") // its row does not list invalid_hook_id
			c.get("hooks/"+unknown+"/undeliverable").refused(400, "invalid_hook_id")
			c.post("hooks/"+unknown+"/undeliverable/dismiss", `{"message_ids":["m"]}`).refused(400, "invalid_hook_id")
		}
	}
	c.get("hooks").empty(204)
	sent := len(r.types())
	c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	require.Len(t, r.types(), sent)
}

func TestSpec_4_8_PATCHKeepsEachOmittedMember(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{Lenient: true})
	c.AddCompany(Company{ID: 7, ClientID: "seven"})
	changed := map[string]any{
		"uri": r.URL + "/two", "scope": []any{7, 42}, "filter_spec": "loads", "enabled": false, "reliability_mode": "none", "hmac_key_id": "k2",
	}
	for field, value := range changed {
		id := c.addHook(hookText(t, r.URL, nil))
		want := c.get("hooks/" + id).object()
		c.do("PATCH", "hooks/"+id, body(t, `{}`, map[string]any{field: value})).empty(200)
		got := c.get("hooks/" + id).object()
		require.NotEqual(t, want[field], got[field], field)
		delete(want, field)
		delete(got, field)
		require.Equal(t, want, got, field)
	}
	// Only the signature shows the secret: it is kept if not sent.
	id := c.addHook(hookText(t, r.URL, nil))
	first := len(r.raw)
	c.do("PATCH", "hooks/"+id, `{"enabled":true}`).empty(200)
	require.Equal(t, hookSignature(t, hookSecret, r.raw[first]), r.headers[first].Get("X-Signature"))
	other := "ff" + hookSecret[2:]
	c.do("PATCH", "hooks/"+id, `{"enabled":true,"hmac_key_secret":"`+other+`"}`).empty(200)
	require.Equal(t, hookSignature(t, other, r.raw[first+1]), r.headers[first+1].Get("X-Signature"))
}

func TestSpec_3_4_TheStoredMessageIsTheOneThatWasSent(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{})
	id := c.addHook(hookText(t, r.URL, nil))
	r.respond(500)
	c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	stored := c.get("hooks/" + id + "/undeliverable").ok()
	require.Equal(t, "["+string(r.raw[1])+"]", string(stored.body))
	message := stored.list()[0]
	require.Equal(t, "transaction", message["type"])
	require.Equal(t, id, message["hook_id"])
}

func TestSpec_6_TheEnvelopeOfEachKind(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{FrozenClock: true, StartAt: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)})
	id := c.addHook(hookText(t, r.URL, nil))
	r.respond(500)
	c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	c.Advance(time.Hour)
	c.quiet()
	require.Equal(t, []string{"ping", "transaction", "undeliverable_alert"}, r.types())
	for i, at := range []string{"2030-01-02T03:04:05Z", "2030-01-02T03:04:05Z", "2030-01-02T04:04:05Z"} {
		message := r.messages[i]
		require.True(t, wire.IsUUID(message["id"].(string)))
		require.Equal(t, id, message["hook_id"])
		require.Equal(t, at, message["timestamp"])
		require.Equal(t, "POST", r.methods[i])
	}
	require.NotEqual(t, r.messages[0]["id"], r.messages[1]["id"])
}

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

func TestSpec_4_8_400_EachMember(t *testing.T) {
	t.Parallel()
	for field, values := range map[string][]any{
		"uri": {
			"http://127.0.0.1/x", "http://partner.example/", "https://", "https:///path", "partner.example", "ftp://partner.example/", "::", "https://partner.example/a b", "https://partner.example:99999/", "", 5,
			[]string{neverAsked},
		},
		"filter_spec": {"", "**", " *", "amount > 5", 5},
	} {
		refusedHook(t, field, "invalid_"+field, values...)
	}
	c := start(t, Options{})
	id := c.addHook(hookText(t, neverAsked, map[string]any{"enabled": false, "scope": []int{}}))
	require.Empty(t, c.get("hooks/" + id).ok().object()["scope"].([]any), "the reference has no least number")
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

func TestSpec_4_8_400_InvalidMessageID(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{})
	first := c.addHook(hookText(t, r.URL, nil))
	second := c.addHook(hookText(t, r.URL, nil))
	r.respond(500)
	c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	of := func(hook string) string {
		return c.get("hooks/" + hook + "/undeliverable").ok().list()[0]["id"].(string)
	}
	for _, ids := range []string{`["nothing"]`, `[""]`, `["` + of(first) + `","nothing"]`, `["` + of(second) + `"]`} {
		c.post("hooks/"+first+"/undeliverable/dismiss", `{"message_ids":`+ids+`}`).refused(400, "invalid_message_id")
	}
	require.NotEmpty(t, of(first), "all of the ids, or none")
	c.post("hooks/"+first+"/undeliverable/dismiss", `{"message_ids":["`+of(first)+`","`+of(first)+`"]}`).empty(204) // one message
	c.get("hooks/" + first + "/undeliverable").empty(204)
	require.NotEmpty(t, of(second), "each hook has its own")
}

// A change that waits for its ping sets only its own members, and keeps those of a concurrent change (4.8).
func TestSpec_4_8_ConcurrentChangesKeepEachOthersMembers(t *testing.T) {
	t.Parallel()
	pings, release := make(chan struct{}, 4), make(chan struct{})
	slow := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		pings <- struct{}{}
		<-release
	}))
	t.Cleanup(slow.Close)
	r := &receiver{Server: slow}
	c := start(t, Options{WebhookRoots: r.pool()})
	id := c.addHook(hookText(t, slow.URL, map[string]any{"enabled": false}))
	done := make(chan reply)
	go func() {
		text := `{"enabled":true}`
		got, _ := c.try(http.MethodPatch, "hooks/"+id, text, c.header(text))
		done <- got
	}()
	<-pings
	c.do(http.MethodPatch, "hooks/"+id, `{"hmac_key_id":"NEWKEY"}`).empty(200)
	close(release)
	(<-done).empty(200)
	got := c.get("hooks/" + id).object()
	require.Equal(t, "NEWKEY", got["hmac_key_id"])
	require.Equal(t, true, got["enabled"])
}

// If the clock moves over several alerts, all are made, up to 100.
func TestSpec_6_AlertsOfAClockThatWasMovedFar(t *testing.T) {
	t.Parallel()
	r, c := startHooked(t, Options{FrozenClock: true, AlertEvery: time.Hour})
	c.addHook(hookText(t, r.URL, nil))
	r.respond(500)
	c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	c.Advance(24 * time.Hour)
	c.quiet()
	require.Len(t, r.types(), 2+24)
	c.Advance(10_000 * time.Hour)
	c.quiet()
	require.Less(t, len(r.types()), 2+24+100)
}

func TestSpec_4_8_TheSecretIsNeverReturned(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.addHook(hookText(t, "https://partner.example/", map[string]any{"enabled": false}))
	for _, path := range []string{"hooks", "hooks/" + id} {
		text := string(c.get(path).ok().body)
		require.NotContains(t, text, "secret")
		require.NotContains(t, text, hookSecret)
	}
}
