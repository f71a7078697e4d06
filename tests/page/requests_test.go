package page

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/tests/programs/emulator"
)

// withRequests starts a program and sends requests.
func withRequests(t *testing.T) *emulator.Process {
	t.Helper()
	p := emulator.Start(t, "-log", "off")
	p.Call("GET", "accounts/EA404", "")
	p.Pay("25.50", "r-1")
	p.Pay("25.50", "r-1")
	p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=commit-then-drop&times=1")
	p.Pay("40", "r-2") // request 5
	for range 30 {
		p.Call("GET", "accounts/"+grace+"/status", "")
	}
	return p
}

// oneRequestIsShown checks a request and its response, opens its neighbours, and copies it.
func oneRequestIsShown(b *browser, p *emulator.Process) {
	b.visit(p.Page + "requests?text=r-")
	b.click(`[data-key="r5"] th a`)
	b.shows("h1", "Request 5")
	b.shows("#live-main", "carry out, then cut the connection")
	b.shows(".facts", "was active with 1,224.90", "moved money once")
	b.shows(".halves", `"destination_account_id": "`+grace+`"`, "Bearer [REDACTED]", `"transaction_id"`)
	require.NotContains(b.t, b.text("#live-main"), p.Token)
	b.click(`a[rel="next"]`)
	b.shows("h1", "Request 4")
	b.shows(".sent", "#3")
	b.click(`a[rel="next"]`)
	b.shows("h1", "Request 3")
	require.True(b.t, its[bool](b, `document.querySelector("a[rel=next]") === null`), "the filter goes along: there is no older one")
	b.click(`.facts a[href*="#t"]`)
	b.shows("h1", "Account "+ada)
	require.True(b.t, its[bool](b, `document.querySelector("tr:target") !== null`), "the transaction is on the page")

	b.visit(p.Page + "requests/5")
	b.devTools("Browser.grantPermissions", map[string]any{"permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"}})
	for key, want := range map[string][]string{"c": {"curl -i", "$TOKEN", p.Page + "3.0/accounts/" + ada + "/transfer"}, "t": {"package emulator_test", "accounts/" + ada + "/transfer", "commit-then-drop"}} {
		b.eval(`document.getElementById("said").textContent = ""; return null`, nil)
		b.keys(key)
		b.shows("#said", "Copied")
		var copied string
		b.call(http.MethodPost, "/execute/async", map[string]any{"script": `navigator.clipboard.readText().then(arguments[0])`, "args": []any{}}, &copied)
		for _, part := range want {
			require.Contains(b.t, copied, part)
		}
		require.NotContains(b.t, copied, p.Token)
	}
	b.becomes(func() bool { return b.text("#said") == "" })
	require.Empty(b.t, b.console())
}

// requestsAreSentAgain sends one as it was, one edited, and makes a test of two that it selects.
func requestsAreSentAgain(b *browser, p *emulator.Process, phone bool) {
	fits := func() {
		if phone {
			fitsAPhone(b, b.text("h1"))
		}
	}
	b.visit(p.Page + "requests/3")
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
	b.visit(p.Page + "requests")
	b.enter("#text", "r-")
	b.click(`.filter button`)
	b.becomes(func() bool { return strings.Contains(its[string](b, `location.search`), "text=r-") })
	b.click(`[data-key="r5"] .pick`)
	b.click(`[data-key="r4"] .pick`)
	if phone { // a live update keeps the selection
		p.Pay("1", "r-3")
		b.shows("#live-main tbody", "r-3")
	}
	require.Equal(b.t, 2, its[int](b, `document.querySelectorAll(".pick input:checked").length`))
	b.click(`#story button`)
	b.shows("h1", "Requests as a Go test")
	b.shows("#go-text", "func TestRequests4To5(")
	fits()
	b.onlyRefused()
}

func theKeyboardMoves(b *browser, p *emulator.Process) {
	at := func(want string) { // the key of a row, or an element's id
		b.t.Helper()
		b.becomes(func() bool {
			return its[string](b, `document.activeElement.closest("tr")?.dataset.key ?? document.activeElement.id`) == want
		}, "the focus is not on %s", want)
	}
	b.visit(p.Page + "requests?text=r-")
	b.shows("#live-control", "Live")
	b.keys("j")
	at("r5")
	b.keys(keyDown + "j")
	at("r3")
	b.keys("k")
	at("r4")
	require.Equal(b.t, "solid", its[string](b, `getComputedStyle(document.activeElement).outlineStyle`), "the focus can be seen")
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
	require.Equal(b.t, "jk?/c", its[string](b, `document.getElementById("text").value`), "nothing is taken from a field")
	b.eval(`document.getElementById("text").select(); return null`, nil)
	b.keys("r-2")
	b.shows("#live-main .quick", "1 of ")
	b.shows("#live-main tbody", "r-2")
	at("text")
	require.Equal(b.t, "?text=r-2", its[string](b, `location.search`), "a search is in the address while it is typed")
	b.keys(keyEscape)
	at("")
	b.keys("?")
	b.shows("dialog[open]", "Keyboard")
	b.keys(keyEscape)
	b.becomes(func() bool { return its[bool](b, `document.querySelector("dialog[open]") === null`) })
	b.keys("ga")
	b.shows("h1", "Accounts")
	b.enter("#text", "lovelace ADA")
	b.keys(keyEnter)
	b.shows(`[data-key="`+ada+`"]`, ada)
	b.becomes(func() bool { return !strings.Contains(b.text("#live-main tbody"), grace) })
	require.Empty(b.t, b.console())
}

// nothingMovesUnderTheReader adds rows above a focused row.
func nothingMovesUnderTheReader(b *browser, p *emulator.Process) {
	b.visit(p.Page + "requests")
	b.eval(`window.kept = document.querySelector('[data-key="r20"] th a'); window.kept.focus(); window.kept.scrollIntoView({block: "center"});
		getSelection().selectAllChildren(document.querySelector('[data-key="r20"] code')); return null`, nil)
	place := func() float64 { return its[float64](b, `window.kept.getBoundingClientRect().top`) }
	before := place()
	p.Call("GET", "accounts/"+grace+"/tokens", "")
	b.shows("#live-main tbody", "/tokens")
	require.InDelta(b.t, before, place(), 1.5)
	require.Equal(b.t, []bool{true, true}, its[[]bool](b, `[document.activeElement === window.kept, getSelection().toString().includes("/status")]`), "focus and selection")
	b.visit(p.Page + "requests?text=r-9&outcome=ok")
	b.shows("#live-main", "No request matches")
	p.Pay("1", "r-9")
	b.shows("#live-main tbody", "r-9")
	require.Equal(b.t, "?text=r-9&outcome=ok", its[string](b, `location.search`), "the filter stays")
	require.Empty(b.t, b.console())
}

// aRefusedFormStaysLive checks that a refused form keeps its input, stays live and explains the error in words.
func aRefusedFormStaysLive(b *browser, p *emulator.Process) {
	b.visit(p.Page + "faults")
	b.enter("#fault", "respond 99 x2")
	b.click(`#fault ~ button`)
	b.shows(`[role="alert"]`, "the status must be 200 to 999. It is written respond STATUS [CODE].")
	b.shows("#live-control", "Live")
	p.Press("/faults", "operation=GET /hooks&fault=truncate&times=3")
	b.shows("#live-main tbody", "GET /hooks")
	b.shows("#armed", "3")
	require.Equal(b.t, "respond 99 x2", its[string](b, `document.getElementById("fault").value`))
	b.shows(`[role="alert"]`, "200 to 999")
	b.enter("#fault", "explode")
	b.click(`#fault ~ button`)
	b.shows(`[role="alert"]`, "known are commit-then-drop")
	require.NotRegexp(b.t, `prepaidtest|FaultForms|[a-z][A-Z]`, b.text(`[role="alert"]`))
	b.click(`form[action="/faults/clear"] button`)
	b.onlyRefused()
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
