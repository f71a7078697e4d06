package prepaidtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
	r := newReceiver(t)
	c := start(t, Options{WebhookRoots: r.pool(), FrozenClock: true, AlertEvery: time.Hour})
	c.addHook(hookText(t, r.URL, nil))
	r.answer(500)
	c.AddAccount(SeedAccount{Balance: "1"})
	c.quiet()
	c.Advance(24 * time.Hour)
	c.quiet()
	require.Len(t, r.types(), 2+24)
	c.Advance(10_000 * time.Hour)
	c.quiet()
	require.Less(t, len(r.types()), 2+24+100)
}
