package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	ada   = "EA10000000000001"
	grace = "EA10000000000002"
)

// TestInABrowser needs a browser of each form, which all its parts use in turn.
func TestInABrowser(t *testing.T) {
	t.Parallel()
	d := startBrowser(t)
	t.Run("requests", func(t *testing.T) { theRequests(t, d) })
	t.Run("state", func(t *testing.T) { theState(t, d) })
	p := launch(t, "-log", "off")

	t.Run("live update", func(t *testing.T) {
		b := d.open(t, browserForm{})
		b.visit(p.page)
		b.eval(`window.kept = document.querySelector('[data-key="`+ada+`"] a'); window.kept.focus({preventScroll: true}); window.scrollTo(0, 60); return null`, nil)
		require.Contains(t, b.text("#live-main"), "No request yet")
		require.Equal(t, http.StatusOK, p.call("PUT", "accounts/"+ada+"/status", `{"status":"suspected_fraud"}`).status)
		require.Eventually(t, func() bool {
			return strings.Contains(b.text(`[data-key="`+ada+`"]`), "suspected fraud") && strings.Contains(b.text("#live-main"), "/accounts/"+ada+"/status")
		}, 10*time.Second, 100*time.Millisecond, "the change appears without a reload")
		var kept []bool
		b.eval(`return [window.kept === document.querySelector('[data-key="`+ada+`"] a'), document.activeElement === window.kept, window.scrollY > 0]`, &kept)
		require.Equal(t, []bool{true, true, true}, kept, "same element, focus, scroll position")
		b.click("#live-control button")
		before := b.text("#now")
		time.Sleep(2200 * time.Millisecond)
		require.Equal(t, before, b.text("#now"), "paused")
		require.Empty(t, b.console())
	})

	t.Run("typed text stays", func(t *testing.T) {
		b := d.open(t, browserForm{})
		b.visit(p.page + "accounts/" + grace)
		b.enter("#amount", "12.3")
		p.call("PUT", "accounts/"+grace+"/plastic", `{"plastic_enabled":false}`)
		require.Eventually(t, func() bool { return strings.Contains(b.text(".headline"), "plastic off") }, 10*time.Second, 100*time.Millisecond)
		var value string
		b.eval(`return document.activeElement === document.getElementById("amount") ? document.activeElement.value : "focus lost"`, &value)
		require.Equal(t, "12.3", value)
	})

	for _, form := range []browserForm{{}, {noJavaScript: true}, {phone: true}} {
		t.Run(form.name(), func(t *testing.T) { buttonsWork(t, d.open(t, form), p, form) })
	}
}

func (f browserForm) name() string {
	switch {
	case f.noJavaScript:
		return "buttons without JavaScript"
	case f.phone:
		return "buttons on a phone"
	}
	return "buttons"
}

// buttonsWork moves the clock, arms, meets and clears a fault, changes an account, and opens every kind of page.
func buttonsWork(t *testing.T, b *browser, p *program, form browserForm) {
	t.Helper()
	b.visit(p.page)
	moved := clockOf(t, b)
	b.click(`.side button[value="24h"]`)
	b.shows(`#live-main [role="status"]`, "clock has moved")
	require.GreaterOrEqual(t, clockOf(t, b).Sub(moved), 24*time.Hour)

	b.visit(p.page + "faults?operation=GET /accounts/{id}")
	b.enter("#fault", "respond 503")
	b.click(`#fault ~ button`)
	b.shows("#live-main", "respond 503")
	p.token = "" // it is a day later
	require.Equal(t, http.StatusServiceUnavailable, p.call("GET", "accounts/"+ada, "").status)
	require.Equal(t, http.StatusOK, p.call("GET", "accounts/"+ada, "").status)

	b.visit(p.page + "faults")
	b.enter("#fault", "no such fault")
	b.click(`#fault ~ button`)
	b.shows(`[role="alert"]`, "cannot be read")
	for _, message := range b.console() {
		require.Contains(t, message, "422", "the browser notes the refusal and nothing else")
	}
	b.enter("#fault", "delay 1ms")
	b.click(`#fault ~ button`)
	b.shows("#live-main", "delay 1ms")
	b.click(`form[action="/faults/clear"] button`)
	b.shows("#live-main", "No faults armed")

	b.visit(p.page + "webhooks")
	b.click(`button[value="lose-message"]`)
	b.shows("#live-main tbody", "lose-message")
	b.enter("#hook-fault", "delay-message 1s x2")
	b.click(`.side form:last-of-type > button`)
	b.shows("#live-main", "delay-message 1s x2")
	b.click(`form[action="/webhooks/faults/clear"] button`)
	b.shows("#live-main", "No delivery faults armed.")

	b.visit(p.page + "accounts/" + grace)
	amount := map[browserForm]string{{}: "1.25", {noJavaScript: true}: "2.25", {phone: true}: "3.25"}[form]
	b.enter("#amount", "-"+amount)
	b.click(`form[action$="/adjust"] button`)
	b.shows("tbody", "−"+amount)
	b.click(`form[action$="/activate"] button`)
	b.shows(".headline", "active")

	for _, path := range []string{"", "accounts", "accounts/" + ada, "requests", "requests?outcome=failed", "requests/1", "webhooks", "faults", "clock"} {
		b.visit(p.page + path)
		var wide [2]int
		b.eval(`return [document.documentElement.scrollWidth, document.documentElement.clientWidth]`, &wide)
		require.LessOrEqual(t, wide[0], wide[1], "the page %q scrolls sideways", path)
		var running bool
		b.eval(`return document.querySelector("#live-control button") !== null`, &running)
		require.Equal(t, !form.noJavaScript, running, path)
		if form.phone {
			fitsAPhone(b, path)
		}
	}
	require.Empty(t, b.console())
}

func clockOf(t *testing.T, b *browser) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateTime, b.text("#now"))
	require.NoError(t, err)
	return at
}

// PREPAID_SCREENSHOTS=directory takes new pictures for docs/emulator.md.
func TestScreenshots(t *testing.T) {
	directory := os.Getenv("PREPAID_SCREENSHOTS")
	if directory == "" {
		t.Skip("PREPAID_SCREENSHOTS names no directory")
	}
	d := startBrowser(t)
	p := launch(t, "-log", "off", "-deterministic", "1", "-start-at", "2026-02-02T09:30:00Z")
	p.call("GET", "accounts/company/42", "")
	p.pays("25.50", "lunch-1")
	p.pays("25.50", "lunch-1")
	p.call("POST", "simulation/transact", `{"transaction_type":"Purchase","account_id":"`+ada+`","amount":"18.90","bank_name":"Bank","location":"Sydney","location_code":"NSW","currency_code":"AUD","acquirer_id":"400001","merchant_id":"BOOKSHOP000001","terminal_id":"T0000001","mcc":"5942"}`)
	p.call("PUT", "accounts/EA10000000000003/status", `{"status":"activated"}`)
	p.call("GET", "accounts/"+ada+"/transactions", "")
	p.call("GET", "accounts/EA404", "")
	p.pays("99999", "lunch-2")
	p.press("/faults", "operation=POST /accounts/{id}/transfer&fault=commit-then-drop&times=1")
	p.pays("40", "payout-8") // request 10
	p.pays("40", "payout-8")
	p.press("/transfers/hold", "operation=POST /accounts/{id}/transfer")
	p.pays("12.50", "payout-9")
	p.pays("12.50", "payout-9")
	p.press("/faults", "operation=POST /accounts/{id}/transfer&fault=commit-then-drop&times=1")
	p.press("/faults", "operation=*&fault=delay+250ms&times=&probability=0.1")
	b := d.open(t, browserForm{})
	for _, picture := range []struct{ file, path string }{
		{"emulator-transfers.png", "transfers"}, // first: its transfers take 30 s
		{"emulator-overview.png", ""},
		{"emulator-requests.png", "requests"},
		{"emulator-request.png", "requests/10"},
		{"emulator-account.png", "accounts/" + ada},
	} {
		b.visit(p.page + picture.path)
		time.Sleep(1200 * time.Millisecond) // a live update
		require.NoError(t, os.WriteFile(filepath.Join(directory, picture.file), b.picture("/screenshot"), 0o600))
	}
}
