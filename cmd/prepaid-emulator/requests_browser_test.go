package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pays sends a transfer from ada to grace; a fault may cut it.
func (p *program) pays(amount, requestID string) {
	p.t.Helper()
	if p.token == "" {
		p.token = p.newToken("emulator-client", "emulator-secret")
	}
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.page+"3.0/accounts/"+ada+"/transfer", strings.NewReader(fmt.Sprintf(
		`{"amount":%s,"request_id":%q,"source_reference":"s","destination_reference":"d","destination_account_id":%q,"transaction_type":1}`, amount, requestID, grace)))
	require.NoError(p.t, err)
	request.Header = http.Header{"Authorization": {"Bearer " + p.token}, "Content-Type": {"application/vnd.vendor+json"}}
	if response, err := p.http.Do(request); err == nil {
		_ = response.Body.Close()
	}
}

func theRequests(t *testing.T, d *driver) {
	t.Helper()
	p := launch(t, "-log", "off")
	p.call("GET", "accounts/EA404", "")
	p.pays("25.50", "r-1")
	p.pays("25.50", "r-1")
	p.press("/faults", "operation=POST /accounts/{id}/transfer&fault=commit-then-drop&times=1")
	p.pays("40", "r-2") // request 5
	for range 30 {
		p.call("GET", "accounts/"+grace+"/status", "")
	}
	for query, row := range map[string]string{
		"text=account_not_found": "r2", "text=EA404": "r2", "text=%235": "r5", "outcome=cut": "r5", "outcome=fault": "r5", "outcome=repeat": "r4",
		"operation=POST+%2Ftoken": "r1", "outcome=refused&text=404": "r2",
	} {
		require.Regexp(t, `>1 of (?s:.*)<tr[^>]* data-key="`+row+`"`, p.get("requests?"+query).body, query)
	}
	for _, form := range []browserForm{{}, {noJavaScript: true}, {phone: true}} {
		t.Run(form.name(), func(t *testing.T) { requestsAreFound(t, d.open(t, form), p) })
	}
	t.Run("one request", func(t *testing.T) { oneRequestIsShown(t, d.open(t, browserForm{}), p) })
	t.Run("keyboard", func(t *testing.T) { theKeyboardMoves(t, d.open(t, browserForm{}), p) })
	t.Run("live", func(t *testing.T) { nothingMovesUnderTheReader(t, d.open(t, browserForm{}), p) })
	t.Run("refused form", func(t *testing.T) { aRefusedFormStaysLive(t, d.open(t, browserForm{}), p) })
	t.Run("phone", func(t *testing.T) { balancesFit(t, d.open(t, browserForm{phone: true}), p) })
	for _, form := range []browserForm{{}, {phone: true}, {noJavaScript: true}} {
		t.Run("send, "+form.name(), func(t *testing.T) { requestsAreSentAgain(t, d.open(t, form), p, form.phone) })
	}
	t.Run("dark", func(t *testing.T) { darkIsDark(t, d.open(t, browserForm{}), p) })
	t.Run("dark phone", func(t *testing.T) {
		b := d.open(t, browserForm{phone: true})
		darkIsDark(t, b, p)
		b.visit(p.page + "clock")
		var row []float64
		b.eval(`const bar = document.querySelector(".top"), here = document.querySelector("nav [aria-current]").getBoundingClientRect();
			return [bar.getBoundingClientRect().height, here.left, here.right]`, &row)
		require.LessOrEqual(t, row[0], 60.0, "the navigation takes one row")
		require.True(t, row[1] >= 0 && row[2] <= 390, "the page's own entry is in sight: %v", row)
	})
}

// requestsAreFound searches and filters with the form.
func requestsAreFound(t *testing.T, b *browser, p *program) {
	t.Helper()
	b.visit(p.page + "requests")
	b.enter("#text", "r-1")
	b.click(`.filter button`)
	b.shows("#live-main", "2 of ")
	b.shows(`[data-key="r4"]`, "/accounts/"+ada+"/transfer")
	b.shows(`[data-key="r4"]`, "25.50")
	b.shows(`[data-key="r4"]`, "repeat of #3")
	b.shows(`[data-key="r4"]`, "kept response")
	b.shows(`[data-key="r4"]`, " ms")
	var account string
	b.eval(`return document.querySelector('[data-key="r4"] td.extra code').textContent`, &account)
	require.Equal(t, ada, account)
	require.NotContains(t, b.text(`[data-key="r3"]`), "repeat")
	var address string
	b.eval(`return location.search`, &address)
	require.Contains(t, address, "text=r-1")
	b.visit(p.page + "requests?outcome=twice")
	b.shows("#live-main", "Nothing was paid twice")
	require.Empty(t, b.console())
}

// oneRequestIsShown checks a request and its response, opens its neighbours, and copies it.
func oneRequestIsShown(t *testing.T, b *browser, p *program) {
	t.Helper()
	b.visit(p.page + "requests?text=r-")
	b.click(`[data-key="r5"] th a`)
	b.shows("h1", "Request 5")
	b.shows("#live-main", "carry out, then cut the connection")
	b.shows(".facts", "was active with 1,224.90")
	b.shows(".facts", "moved money once")
	b.shows(".halves", `"destination_account_id": "`+grace+`"`)
	b.shows(".halves", "Bearer [REDACTED]")
	b.shows(".halves", `"transaction_id"`)
	require.NotContains(t, b.text("#live-main"), p.token)
	b.click(`a[rel="next"]`)
	b.shows("h1", "Request 4")
	b.shows(".sent", "#3")
	b.click(`a[rel="next"]`)
	b.shows("h1", "Request 3")
	var last bool
	b.eval(`return document.querySelector("a[rel=next]") === null`, &last)
	require.True(t, last, "the filter goes along: there is no older one")
	b.click(`.facts a[href*="#t"]`)
	b.shows("h1", "Account "+ada)
	var there bool
	b.eval(`return document.querySelector("tr:target") !== null`, &there)
	require.True(t, there, "the transaction is on the page")

	b.visit(p.page + "requests/5")
	b.call(http.MethodPost, "/goog/cdp/execute", map[string]any{"cmd": "Browser.grantPermissions", "params": map[string]any{"permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"}}}, nil)
	for key, want := range map[string][]string{"c": {"curl -i", "$TOKEN", p.page + "3.0/accounts/" + ada + "/transfer"}, "t": {"package emulator_test", "client.Accounts.Transfer(", "commit-then-drop"}} {
		b.keys(key)
		b.shows("#said", "Copied")
		var copied string
		b.call(http.MethodPost, "/execute/async", map[string]any{"script": `navigator.clipboard.readText().then(arguments[0])`, "args": []any{}}, &copied)
		for _, part := range want {
			require.Contains(t, copied, part)
		}
		require.NotContains(t, copied, p.token)
		require.Eventually(t, func() bool { return b.text("#said") == "" }, 10*time.Second, 50*time.Millisecond)
	}
	require.Empty(t, b.console())
}

// requestsAreSentAgain sends one as it was, one edited, and makes a test of two that it selects.
func requestsAreSentAgain(t *testing.T, b *browser, p *program, phone bool) {
	t.Helper()
	fits := func() {
		if phone {
			fitsAPhone(b, b.text("h1"))
		}
	}
	b.visit(p.page + "requests/3")
	fits()
	b.click(`form.card[action="/requests/3/send"] button`)
	b.shows(`#live-main [role="status"]`, "It is sent.")
	b.shows(".sent", "kept response")
	b.click(`details[data-key="edit"] summary`)
	b.enter("#send-path", "/nowhere")
	b.click(`.edit button`)
	b.shows(`[role="alert"]`, "must begin with /3.0/")
	b.enter("#send-path", "/3.0/accounts/EA404")
	fits()
	b.click(`.edit button`)
	b.shows(".headline", "/accounts/EA404")
	b.visit(p.page + "requests?text=r-")
	b.click(`[data-key="r5"] .pick`)
	b.click(`[data-key="r4"] .pick`)
	var kept bool
	require.Eventually(t, func() bool { // also after a live update
		b.eval(`return document.querySelectorAll(".pick input:checked").length === 2`, &kept)
		return kept
	}, 5*time.Second, 1200*time.Millisecond)
	b.click(`#story button`)
	b.shows("h1", "Requests as a Go test")
	b.shows("#go-text", "func TestRequests4To5(")
	fits()
	for _, message := range b.console() {
		require.Contains(t, message, "422", "the browser notes the refusal and nothing else")
	}
}

// focused is the key of the row with the focus, or the element's id.
const focused = `return document.activeElement.closest("tr")?.dataset.key ?? document.activeElement.id`

func theKeyboardMoves(t *testing.T, b *browser, p *program) {
	t.Helper()
	at := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			var got string
			b.eval(focused, &got)
			return got == want
		}, 10*time.Second, 50*time.Millisecond, "the focus is not on %s", want)
	}
	b.visit(p.page + "requests?text=r-")
	b.shows("#live-control", "Live")
	b.keys("j")
	at("r5")
	b.keys(keyDown + "j")
	at("r3")
	b.keys("k")
	at("r4")
	var outline string
	b.eval(`return getComputedStyle(document.activeElement).outlineStyle`, &outline)
	require.Equal(t, "solid", outline, "the focus can be seen")
	b.keys(keyEnter)
	b.shows("h1", "Request 4")
	b.keys("k")
	b.shows("h1", "Request 5")
	b.keys(keyEscape)
	b.shows("h1", "Requests")
	b.shows("#live-control", "Live")
	b.keys("/")
	at("text")
	b.keys("jk?/c")
	b.shows("#live-main", "No request matches")
	var typed string
	b.eval(`return document.getElementById("text").value`, &typed)
	require.Equal(t, "jk?/c", typed, "nothing is taken from a field")
	b.eval(`document.getElementById("text").select(); return null`, nil)
	b.keys("r-2")
	b.shows("#live-main .quick", "1 of ")
	b.shows("#live-main tbody", "r-2")
	at("text")
	var search string
	b.eval(`return location.search`, &search)
	require.Equal(t, "?text=r-2", search, "a search is in the address while it is typed")
	b.keys(keyEscape)
	at("")
	b.keys("?")
	b.shows("dialog[open]", "Keyboard")
	b.keys(keyEscape)
	var open bool
	require.Eventually(t, func() bool {
		b.eval(`return document.querySelector("dialog[open]") !== null`, &open)
		return !open
	}, 10*time.Second, 50*time.Millisecond)
	b.keys("ga")
	b.shows("h1", "Accounts")
	b.enter("#text", "lovelace ADA")
	b.keys(keyEnter)
	b.shows(`[data-key="`+ada+`"]`, ada)
	require.Eventually(t, func() bool { return !strings.Contains(b.text("#live-main tbody"), grace) }, 10*time.Second, 50*time.Millisecond)
	require.Empty(t, b.console())
}

// nothingMovesUnderTheReader adds rows above a focused row.
func nothingMovesUnderTheReader(t *testing.T, b *browser, p *program) {
	t.Helper()
	b.visit(p.page + "requests")
	b.eval(`window.kept = document.querySelector('[data-key="r20"] th a'); window.kept.focus(); window.kept.scrollIntoView({block: "center"});
		getSelection().selectAllChildren(document.querySelector('[data-key="r20"] code')); return null`, nil)
	place := func() (top float64) {
		b.eval(`return window.kept.getBoundingClientRect().top`, &top)
		return top
	}
	before := place()
	p.call("GET", "accounts/"+grace+"/tokens", "")
	b.shows("#live-main tbody", "/tokens")
	require.InDelta(t, before, place(), 1.5)
	var kept []bool
	b.eval(`return [document.activeElement === window.kept, getSelection().toString().includes("/status")]`, &kept)
	require.Equal(t, []bool{true, true}, kept, "focus and selection")
	b.visit(p.page + "requests?text=r-9&outcome=ok")
	b.shows("#live-main", "No request matches")
	p.pays("1", "r-9")
	b.shows("#live-main tbody", "r-9")
	var address string
	b.eval(`return location.search`, &address)
	require.Equal(t, "?text=r-9&outcome=ok", address, "the filter stays")
	require.Empty(t, b.console())
}

// aRefusedFormStaysLive checks that a refused form keeps its input, stays live and explains the error in words.
func aRefusedFormStaysLive(t *testing.T, b *browser, p *program) {
	t.Helper()
	b.visit(p.page + "faults")
	b.enter("#fault", "respond 99 x2")
	b.click(`#fault ~ button`)
	b.shows(`[role="alert"]`, "the status must be 200 to 999. It is written respond STATUS [CODE].")
	b.shows("#live-control", "Live")
	p.press("/faults", "operation=GET /hooks&fault=truncate&times=3")
	b.shows("#live-main tbody", "GET /hooks")
	b.shows("#armed", "3")
	var entered string
	b.eval(`return document.getElementById("fault").value`, &entered)
	require.Equal(t, "respond 99 x2", entered)
	b.shows(`[role="alert"]`, "200 to 999")
	b.enter("#fault", "explode")
	b.click(`#fault ~ button`)
	b.shows(`[role="alert"]`, "known are commit-then-drop")
	require.NotRegexp(t, `prepaidtest|FaultForms|[a-z][A-Z]`, b.text(`[role="alert"]`))
	b.click(`form[action="/faults/clear"] button`)
}

// balancesFit checks a 390-px screen.
func balancesFit(t *testing.T, b *browser, p *program) {
	t.Helper()
	p.press("/accounts/"+grace+"/adjust", "amount=123456789.5678")
	p.press("/accounts/"+ada+"/status", "status=inactive_pin_tries_exceeded")
	for _, path := range []string{"", "accounts", "requests", "requests/5", "requests/3"} {
		b.visit(p.page + path)
		fitsAPhone(b, path)
		var cut []string
		b.eval(`return [...document.querySelectorAll("td.number, .balance strong, .badge, .meta strong")].filter(e => e.offsetParent)
			.filter(e => { const box = e.getBoundingClientRect(); return box.left < 0 || box.right > innerWidth || e.scrollWidth > e.clientWidth + 1; }).map(e => e.outerHTML)`, &cut)
		require.Empty(t, cut, "cut off on %q", path)
		var room float64
		b.eval(`return document.querySelector("footer").getBoundingClientRect().top - document.getElementById("live-main").getBoundingClientRect().bottom`, &room)
		require.GreaterOrEqual(t, room, 24.0, "space above the footer")
	}
	b.visit(p.page + "accounts")
	b.shows(`[data-key="`+grace+`"]`, "123,456,")
	p.press("/accounts/"+ada+"/status", "status=active")
	require.Empty(t, b.console())
}

// darkIsDark checks each page, which loads no foreign files.
func darkIsDark(t *testing.T, b *browser, p *program) {
	t.Helper()
	b.prefers("dark")
	t.Cleanup(func() { b.prefers("light") })
	for _, path := range []string{
		"", "requests", "requests/5", "requests/test?n=4&n=5", "accounts", "accounts/" + ada, "companies", "companies/42", "transfers", "reports", "webhooks", "faults", "access", "clock",
	} {
		b.visit(p.page + path)
		var light, foreign []string
		b.eval(`const light = (e) => (getComputedStyle(e).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
			return [document.body, ...document.querySelectorAll("pre, .facts, .note, .card, table, .empty, textarea, input:not([type=hidden])")]
				.filter(e => { const [red, green, blue, opacity = 1] = light(e); return opacity > 0 && red + green + blue > 250; }).map(e => e.outerHTML.slice(0, 80))`, &light)
		require.Empty(t, light, path)
		b.eval(`return performance.getEntriesByType("resource").map(e => e.name).filter(name => new URL(name).origin !== location.origin)`, &foreign)
		require.Empty(t, foreign, path)
	}
}
