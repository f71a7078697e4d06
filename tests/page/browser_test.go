package page

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/caller"
	"github.com/cardprograms/prepaid/tests/programs/emulator"
)

const ada, grace = caller.Ada, caller.Grace

// TestInABrowser uses one browser for all its parts. Forms need no script, and no script depends on the width.
func TestInABrowser(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	t.Run("buttons", func(t *testing.T) {
		buttonsWork(t, b.in(t, browserForm{phone: true, noJavaScript: true}), emulator.Start(t, "-log", "off"))
	})
	t.Run("card", func(t *testing.T) { cardWorks(b.in(t, browserForm{phone: true}), emulator.Start(t, "-log", "off")) })
	for name, form := range map[string]browserForm{"phone": {phone: true}, "without JavaScript": {noJavaScript: true}} {
		t.Run("requests, "+name, func(t *testing.T) {
			p := withRequests(t)
			requestsAreSentAgain(b.in(t, form), p, form.phone)
		})
	}
	t.Run("live", func(t *testing.T) {
		theLiveUpdateKeepsThePage(b.in(t, browserForm{}), emulator.Start(t, "-log", "off"))
	})
	t.Run("requests", func(t *testing.T) {
		p := withRequests(t)
		oneRequestIsShown(b.in(t, browserForm{}), p)
		theKeyboardMoves(b.in(t, browserForm{}), p)
		nothingMovesUnderTheReader(b.in(t, browserForm{}), p)
		aRefusedFormStaysLive(b.in(t, browserForm{}), p)
		p.Press("/accounts/"+grace+"/adjust", "amount=123456789.5678")
		p.Press("/accounts/"+ada+"/status", "status=inactive_pin_tries_exceeded")
		pagesFit(b.in(t, browserForm{phone: true}), p, "", "accounts", "accounts/"+ada, "requests", "requests/5", "requests/3", "requests?outcome=failed",
			"requests/test?n=4&n=5", "webhooks", "faults", "clock")
	})
	t.Run("state", func(t *testing.T) {
		p := emulator.Start(t, "-log", "off")
		companiesAreShown(b.in(t, browserForm{}), p)
		p.Call("GET", "reporting/templates/daily_settlement", "")
		transfersAreShown(b.in(t, browserForm{}), p)
		pagesFit(b.in(t, browserForm{phone: true}), p, "accounts/"+ada, "accounts/EA10000000000006", "companies", "companies/42", "transfers", "reports", "access")
	})
}

// theLiveUpdateKeepsThePage changes the page without a reload. A paused page asks for nothing.
func theLiveUpdateKeepsThePage(b *browser, p *emulator.Process) {
	b.visit(p.Page)
	b.eval(`window.kept = document.querySelector('[data-key="`+ada+`"] a'); window.kept.focus({preventScroll: true}); window.scrollTo(0, 60);
		window.asked = 0; const real = window.fetch; window.fetch = (...of) => { window.asked++; return real(...of); }; return null`, nil)
	require.Contains(b.t, b.text("#live-main"), "No request yet")
	require.Equal(b.t, http.StatusOK, p.Call("PUT", "accounts/"+ada+"/status", `{"status":"suspected_fraud"}`).Status)
	b.becomes(func() bool { return strings.Contains(b.text(`[data-key="`+ada+`"]`), "suspected fraud") }, "no live update")
	b.shows("#live-main", "/accounts/"+ada+"/status")
	require.Equal(b.t, []bool{true, true, true}, its[[]bool](b, `[window.kept === document.querySelector('[data-key="`+ada+`"] a'), document.activeElement === window.kept, window.scrollY > 0]`),
		"same element, focus, scroll position")
	asked := `(window.asked = 0, document.dispatchEvent(new Event("visibilitychange")), window.asked)`
	require.Equal(b.t, 1, its[int](b, asked))
	b.click("#live-control button")
	require.Zero(b.t, its[int](b, asked), "paused")

	b.visit(p.Page + "accounts/" + grace)
	b.enter("#amount", "12.3")
	p.Call("PUT", "accounts/"+grace+"/plastic", `{"plastic_enabled":false}`)
	b.shows(".headline", "plastic off")
	require.Equal(b.t, "12.3", its[string](b, `document.activeElement.id === "amount" ? document.activeElement.value : "focus lost"`))
	require.Empty(b.t, b.console())
}

// buttonsWork moves the clock, arms, meets and clears a fault, changes an account, and opens every kind of page.
func buttonsWork(t *testing.T, b *browser, p *emulator.Process) {
	t.Helper()
	b.visit(p.Page)
	moved := clockOf(t, b)
	b.click(`.side button[value="24h"]`)
	b.shows(`#live-main [role="status"]`, "clock has moved")
	require.GreaterOrEqual(t, clockOf(t, b).Sub(moved), 24*time.Hour)

	b.visit(p.Page + "faults?operation=GET /accounts/{id}")
	b.enter("#fault", "respond 503")
	b.click(`#fault ~ button`)
	b.shows("#live-main", "respond 503")
	p.Token = "" // it is a day later
	require.Equal(t, http.StatusServiceUnavailable, p.Call("GET", "accounts/"+ada, "").Status)
	require.Equal(t, http.StatusOK, p.Call("GET", "accounts/"+ada, "").Status)

	b.visit(p.Page + "faults")
	b.enter("#fault", "no such fault")
	b.click(`#fault ~ button`)
	b.shows(`[role="alert"]`, "cannot be read")
	b.onlyRefused()
	b.enter("#fault", "delay 1ms")
	b.click(`#fault ~ button`)
	b.shows("#live-main", "delay 1ms")
	b.click(`form[action="/faults/clear"] button`)
	b.shows("#live-main", "No faults armed")

	b.visit(p.Page + "webhooks")
	b.click(`button[value="lose-message"]`)
	b.shows("#live-main tbody", "lose-message")
	b.enter("#hook-fault", "delay-message 1s x2")
	b.click(`.side form:last-of-type > button`)
	b.shows("#live-main", "delay-message 1s x2")
	b.click(`form[action="/webhooks/faults/clear"] button`)
	b.shows("#live-main", "No delivery faults armed.")

	b.visit(p.Page + "accounts/" + grace)
	b.enter("#amount", "-1.25")
	b.click(`form[action$="/adjust"] button`)
	b.shows("tbody", "−1.25")
	b.click(`form[action$="/activate"] button`)
	b.shows(".headline", "active")

	for _, path := range []string{"", "accounts", "accounts/" + ada, "requests", "requests?outcome=failed", "requests/1", "webhooks", "faults", "clock"} {
		b.visit(p.Page + path)
		fitsAPhone(b, path)
		require.True(t, its[bool](b, `document.querySelector("#live-control button") === null`), path)
	}
	require.Empty(t, b.console())
}

func clockOf(t *testing.T, b *browser) time.Time {
	t.Helper()
	at, err := time.Parse(time.DateTime, b.text("#now"))
	require.NoError(t, err)
	return at
}
