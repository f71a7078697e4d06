package page

import (
	"net/http"
	"strings"
	"testing"

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
		buttonsWork(b.in(t, browserForm{phone: true, noJavaScript: true}), emulator.Start(t, "-log", "off"))
	})
	t.Run("live", func(t *testing.T) {
		theLiveUpdateKeepsThePage(b.in(t, browserForm{}), emulator.Start(t, "-log", "off"))
	})
	t.Run("pin", func(t *testing.T) { aPINIsSealedInThePage(b.in(t, browserForm{phone: true})) })
	t.Run("requests", func(t *testing.T) {
		p := emulator.Start(t, "-log", "off")
		p.Call("GET", "accounts/EA404", "")
		p.Pay("25.50", "r-1")
		p.Pay("25.50", "r-1")
		p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=commit-then-drop&times=1")
		p.Pay("40", "r-2") // request 5
		for range 30 {
			p.Call("GET", "accounts/"+grace+"/status", "")
		}
		oneRequestIsShown(b.in(t, browserForm{}), p)
		nothingMovesUnderTheReader(b.in(t, browserForm{}), p)
		p.Press("/accounts/"+grace+"/adjust", "amount=123456789.5678")
		p.Press("/accounts/"+ada+"/status", "status=inactive_pin_tries_exceeded")
		p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=proxy-page 502 commit-after 30s")
		p.Pay("1", "r-3")
		pagesFit(b.in(t, browserForm{phone: true}), p, "", "accounts", "accounts/"+ada, "requests", "requests/5", "requests/3", "requests?outcome=failed",
			"requests/test?n=4&n=5", "transfers", "webhooks", "faults", "clock")
	})
}

// buttonsWork presses the buttons. A refused form keeps its input and explains the error in words.
func buttonsWork(b *browser, p *emulator.Process) {
	b.visit(p.Page)
	b.click(`button[value="24h"]`)
	b.shows(`main [role="status"]`, "clock has moved")

	b.visit(p.Page + "faults?operation=GET /accounts/{id}")
	b.enter("#arm-fault", "respond 503")
	b.click(`form[action="/faults"] button`)
	b.shows("#live-main tbody", "respond 503")
	require.Equal(b.t, http.StatusServiceUnavailable, p.Call("GET", "accounts/"+ada, "").Status)
	require.Equal(b.t, http.StatusOK, p.Call("GET", "accounts/"+ada, "").Status)
	b.visit(p.Page + "faults")
	b.enter("#arm-fault", "explode")
	b.click(`form[action="/faults"] button`)
	b.shows(`[role="alert"]`, "cannot be read", "known are commit-then-drop")
	require.NotRegexp(b.t, `prepaidtest|FaultForms|[a-z][A-Z]`, b.text(`[role="alert"]`))
	require.Equal(b.t, "explode", its[string](b, `document.getElementById("arm-fault").value`))
	b.onlyRefused()
	b.enter("#arm-fault", "delay 1ms")
	b.click(`form[action="/faults"] button`)
	b.click(`form[action="/faults/clear"] button`)
	b.shows("#live-main", "No faults armed")

	b.visit(p.Page + "webhooks")
	b.enter("#arm-fault", "delay-message 1s x2")
	b.click(`form[action="/webhooks/faults"] button`)
	b.shows("#live-main tbody", "delay-message 1s x2")
	b.click(`form[action="/webhooks/faults/clear"] button`)
	b.shows("#live-main", "No delivery faults armed.")

	b.visit(p.Page + "accounts/" + grace)
	b.enter("#adjust-amount", "-1.25")
	b.click(`form[action$="/adjust"] button`)
	b.shows("tbody", "−1.25")
	b.eval(`document.querySelector('#status-status option[value="pre_active"]').selected = true; return null`, nil)
	b.click(`form[action$="/status"] button`)
	b.shows("#part-state", "pre active")
	b.click(`form[action$="/activate"] button`)
	b.shows(`main [role="status"]`, "card is activated")
	require.True(b.t, its[bool](b, `document.querySelector("#live-control button") === null`))
	require.Empty(b.t, b.console())
}

// theLiveUpdateKeepsThePage changes the page without a reload. Input and focus stay, and a paused page sends no requests.
func theLiveUpdateKeepsThePage(b *browser, p *emulator.Process) {
	b.visit(p.Page)
	b.eval(`document.querySelector('[data-key="`+ada+`"] a').focus({preventScroll: true}); window.scrollTo(0, 60); window.loaded = true;
		window.asked = 0; const real = window.fetch; window.fetch = (...of) => { window.asked++; return real(...of); }; return null`, nil)
	require.Contains(b.t, b.text("#live-main"), "No request yet")
	require.Equal(b.t, http.StatusOK, p.Call("PUT", "accounts/"+ada+"/status", `{"status":"suspected_fraud"}`).Status)
	b.becomes(func() bool { return strings.Contains(b.text(`[data-key="`+ada+`"]`), "suspected fraud") }, "no live update")
	b.shows("#live-main", "/accounts/"+ada+"/status")
	require.Equal(b.t, []bool{true, true, true}, its[[]bool](b, `[window.loaded, document.activeElement.textContent === "`+ada+`", window.scrollY > 0]`))
	asked := `(window.asked = 0, document.dispatchEvent(new Event("visibilitychange")), window.asked)`
	require.Equal(b.t, 1, its[int](b, asked))
	b.click("#live-control button")
	require.Zero(b.t, its[int](b, asked), "paused")

	b.visit(p.Page + "accounts/" + grace)
	b.enter("#adjust-amount", "12.3")
	p.Call("PUT", "accounts/"+grace+"/status", `{"status":"inactive"}`)
	b.shows("#part-state", "inactive")
	require.Equal(b.t, "12.3", its[string](b, `document.activeElement.id === "adjust-amount" ? document.activeElement.value : "focus lost"`))
	require.Empty(b.t, b.console())
}

// oneRequestIsShown checks a request and its response, and copies it. The first Tab is at the link to the content.
func oneRequestIsShown(b *browser, p *emulator.Process) {
	b.visit(p.Page + "requests?text=r-")
	b.keys(keyTab)
	require.Equal(b.t, "#content", its[string](b, `document.activeElement.getAttribute("href")`))
	require.Equal(b.t, "solid", its[string](b, `getComputedStyle(document.activeElement).outlineStyle`), "the focus can be seen")
	b.click(`[data-key="r5"] th a`)
	b.shows("h1", "Request 5")
	b.shows("#part-summary", "cut", "commit-then-drop", "active", "1,224.90")
	b.shows("#live-main", `"destination_account_id": "`+grace+`"`, "Bearer [REDACTED]", `"transaction_id"`)
	require.NotContains(b.t, b.text("#live-main"), p.Token)
	b.devTools("Browser.grantPermissions", map[string]any{"permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"}})
	for id, want := range map[string][]string{
		"curl-text": {"curl -i", "$TOKEN", p.Page + "3.0/accounts/" + ada + "/transfer"}, "go-text": {"package emulator_test", "accounts/" + ada + "/transfer", "commit-then-drop"},
	} {
		b.eval(`document.getElementById("said").textContent = ""; return null`, nil)
		b.click(`[data-copy="` + id + `"]`)
		b.shows("#said", "Copied")
		var copied string
		b.call(http.MethodPost, "/execute/async", map[string]any{"script": `navigator.clipboard.readText().then(arguments[0])`, "args": []any{}}, &copied)
		for _, part := range want {
			require.Contains(b.t, copied, part)
		}
		require.NotContains(b.t, copied, p.Token)
	}
	b.click(`#part-requests-with-this-id .button`)
	b.shows("h1", "Requests as a Go test")
	require.Empty(b.t, b.console())
}

// nothingMovesUnderTheReader adds rows above a focused row. A selection stays, and so does a filter.
func nothingMovesUnderTheReader(b *browser, p *emulator.Process) {
	b.visit(p.Page + "requests")
	b.eval(`const row = document.querySelector('[data-key="r20"] th a'); row.focus(); row.scrollIntoView({block: "center"}); return null`, nil)
	place := func() float64 {
		return its[float64](b, `document.querySelector('[data-key="r20"]').getBoundingClientRect().top`)
	}
	before := place()
	p.Call("GET", "accounts/"+grace+"/tokens", "")
	b.shows("#live-main tbody", "/tokens")
	require.InDelta(b.t, before, place(), 1.5)
	require.True(b.t, its[bool](b, `document.activeElement === document.querySelector('[data-key="r20"] th a')`))
	b.visit(p.Page + "requests?text=r-9&outcome=")
	b.shows("#live-main", "No request matches")
	p.Pay("1", "r-9")
	b.shows("#live-main tbody", "r-9")
	require.Equal(b.t, "?text=r-9&outcome=", its[string](b, `location.search`), "the filter stays")
	require.Empty(b.t, b.console())
}

// pagesFit checks each page on a phone and on a desktop, in dark colours. They load no foreign files.
func pagesFit(b *browser, p *emulator.Process, paths ...string) {
	scheme := func(name string) {
		b.devTools("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": name}}})
	}
	scheme("dark")
	defer scheme("light")
	for _, path := range paths {
		b.visit(p.Page + path)
		fitsAPhone(b, path)
		isDark(b, path)
		b.isWide(1280)
		isDark(b, path)
		require.False(b.t, its[bool](b, `document.documentElement.scrollWidth > document.documentElement.clientWidth`), "the page %q scrolls sideways", path)
		b.isWide(390)
	}
	require.Empty(b.t, b.console())
}

// fitsAPhone checks that nothing scrolls sideways or is cut off, and that controls are large enough. The navigation takes one
// row, with the page's own entry in sight.
func fitsAPhone(b *browser, path string) {
	b.t.Helper()
	require.Empty(b.t, its[[]string](b, `(() => {
		const wrong = [...document.querySelectorAll("button, .button, input:not([type=hidden]), select, nav a, tbody th a, summary")]
			.filter(e => e.offsetParent && e.getBoundingClientRect().height < 43.5).map(e => "too small: " + e.outerHTML);
		const page = document.documentElement;
		if (page.scrollWidth > page.clientWidth) { wrong.push("the page scrolls sideways"); }
		for (const e of document.querySelectorAll(".scroll")) { if (e.scrollWidth > e.clientWidth) { wrong.push(e.getAttribute("aria-label") + " scrolls sideways"); } }
		wrong.push(...[...document.querySelectorAll("td.number, .balance strong, .badge, .meta strong")].filter(e => e.offsetParent).filter(e => {
			const box = e.getBoundingClientRect();
			return box.left < 0 || box.right > innerWidth || e.scrollWidth > e.clientWidth + 1;
		}).map(e => "cut off: " + e.outerHTML));
		const room = document.querySelector("footer").getBoundingClientRect().top - document.getElementById("live-main").getBoundingClientRect().bottom;
		if (room < 24) { wrong.push("no space above the footer"); }
		const here = document.querySelector(".script nav [aria-current]")?.getBoundingClientRect(); // a script scrolls
		if (document.querySelector(".top").getBoundingClientRect().height > 60) { wrong.push("the navigation takes more than a row"); }
		if (here && (here.left < 0 || here.right > 390)) { wrong.push("the page's own entry is out of sight"); }
		return wrong;
	})()`), path)
}

func isDark(b *browser, path string) {
	b.t.Helper()
	require.Empty(b.t, its[[]string](b, `[document.body, ...document.querySelectorAll("pre, .facts, .note, .card, table, .empty, textarea, input:not([type=hidden])")].filter(e => {
			const [red, green, blue, opacity = 1] = (getComputedStyle(e).backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
			return opacity > 0 && red + green + blue > 250;
		}).map(e => e.outerHTML.slice(0, 80))
		.concat(performance.getEntriesByType("resource").map(e => e.name).filter(name => new URL(name).origin !== location.origin))`), path)
}
