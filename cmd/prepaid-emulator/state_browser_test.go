package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func theState(t *testing.T, d *driver) {
	t.Helper()
	for _, form := range []browserForm{{}, {noJavaScript: true}, {phone: true}} {
		t.Run("account, "+form.name(), func(t *testing.T) { cardWorks(t, d.open(t, form), launch(t, "-log", "off")) })
	}
	p := launch(t, "-log", "off", "-report-delay", "1m")
	t.Run("companies", func(t *testing.T) { companiesAreShown(t, d.open(t, browserForm{}), p) })
	t.Run("reports", func(t *testing.T) { reportsAreShown(t, d.open(t, browserForm{}), p) })
	t.Run("transfers", func(t *testing.T) { transfersAreShown(t, d.open(t, browserForm{}), p) })
	t.Run("access", func(t *testing.T) { accessIsShown(t, d.open(t, browserForm{}), p) })
	t.Run("phone", func(t *testing.T) {
		b := d.open(t, browserForm{phone: true})
		for _, path := range []string{"accounts/" + ada, "accounts/EA10000000000006", "companies", "companies/42", "transfers", "reports", "access"} {
			b.visit(p.page + path)
			fitsAPhone(b, path)
		}
		require.Empty(t, b.console())
	})
}

// fitsAPhone checks that nothing scrolls sideways or is cut off, and that controls are large enough.
func fitsAPhone(b *browser, path string) {
	b.t.Helper()
	var wrong []string
	b.eval(`const wrong = [...document.querySelectorAll("button, .button, input:not([type=hidden]), select, nav a, tbody th a, summary")]
		.filter(e => e.offsetParent && e.getBoundingClientRect().height < 43.5).map(e => e.outerHTML);
		const page = document.documentElement;
		if (page.scrollWidth > page.clientWidth) { wrong.push("the page scrolls sideways"); }
		for (const e of document.querySelectorAll(".scroll")) { if (e.scrollWidth > e.clientWidth) { wrong.push(e.getAttribute("aria-label") + " scrolls sideways"); } }
		return wrong`, &wrong)
	require.Empty(b.t, wrong, path)
}

// cardWorks makes a purchase, reverses it, and is refused.
func cardWorks(t *testing.T, b *browser, p *program) {
	t.Helper()
	p.call("GET", "accounts/"+ada, "")
	b.visit(p.page + "accounts/" + ada)
	b.shows("#chart-head", "each of 1 movement")
	b.enter("#spend", "18.90")
	b.click(`button[value="purchase"]`)
	b.shows(`#live-main [role="status"]`, "purchase is authorised")
	b.shows("#live-main tbody", "−18.90")
	b.shows(".balance", "1,231.50")
	var steps int
	b.eval(`return document.querySelectorAll(".plot g title").length`, &steps)
	require.Equal(t, 2, steps)
	var label string
	b.eval(`return document.querySelector(".plot").getAttribute("aria-label")`, &label)
	require.Contains(t, label, "Now 1,231.50")

	b.click(`button[value="reverse"]`)
	b.shows(`#live-main [role="status"]`, "purchase is reversed")
	b.shows(".balance", "1,250.40")
	b.enter("#spend", "7.25")
	b.click(`button[value="refund"]`)
	b.shows("#live-main tbody", "Point of sale credit")

	require.Empty(t, b.console())
	b.enter("#spend", "99999")
	b.click(`button[value="purchase"]`)
	b.shows(`[role="alert"]`, "the balance is only 1,257.65 AUD")
	var kept string
	b.eval(`return document.getElementById("spend").value`, &kept)
	require.Equal(t, "99999", kept)
	for _, message := range b.console() {
		require.Contains(t, message, "422", "the browser notes the refusal and nothing else")
	}

	b.enter("#amount", "-57.65")
	b.click(`form[action$="/adjust"] button`)
	b.shows(".balance", "1,200.00")
	b.eval(`document.querySelector('#set-status option[value="replaced"]').selected = true; return null`, nil)
	b.click(`form[action$="/status"] button`)
	b.shows("#no-card", "the account is replaced")
	b.eval(`return document.querySelector('button[value="purchase"]').matches(":disabled") ? 1 : 0`, &steps)
	require.Equal(t, 1, steps)

	b.click(`#asked ~ .scroll tbody a`)
	b.shows("h1", "Request")
	require.Empty(t, b.console())
}

func companiesAreShown(t *testing.T, b *browser, p *program) {
	t.Helper()
	b.visit(p.page + "companies")
	b.shows("#live-main tbody", "open loop")
	b.click("#live-main tbody th a")
	b.shows("#live-main", "A purchase is allowed unless")
	require.Equal(t, http.StatusOK, p.call("POST", "policy/42/categories", `{"reason":"r","add":[7995]}`).status)
	require.Equal(t, http.StatusOK, p.call("POST", "policy/42/terminals", `{"reason":"r","add":[{"acquirer_id":2,"card_acceptor_id":"N","terminal_id":"T9"}]}`).status)
	b.shows("#live-main", "7995 Betting and casino gambling")
	b.shows("#live-main", "T9")
	b.click("details summary")
	b.shows("details", "must_block")
	b.shows("#live-main tbody", ada)
	require.Empty(t, b.console())
}

func reportsAreShown(t *testing.T, b *browser, p *program) {
	t.Helper()
	b.visit(p.page + "reports")
	b.shows("#live-main", "No report was run yet")
	require.Equal(t, http.StatusOK, p.call("GET", "reporting/templates/daily_settlement?include_column_headers=true", "").status)
	b.shows("#live-main tbody", "processing")
	p.press("/clock", "by=1m")
	b.shows("#live-main tbody", "ready")
	b.shows("#live-main tbody", "CSV")
	var address string
	b.eval(`return document.querySelector("a[download]").getAttribute("href")`, &address)
	require.True(t, strings.HasPrefix(p.get(address).body, "id,parent_id"))
	require.Empty(t, b.console())
}

func transfersAreShown(t *testing.T, b *browser, p *program) {
	t.Helper()
	send := func(id string) int {
		return p.call("POST", "accounts/"+ada+"/transfer", `{"amount":1,"source_reference":"s","destination_reference":"d","destination_account_id":"`+grace+`","transaction_type":1,"request_id":"`+id+`"}`).status
	}
	b.visit(p.page + "transfers")
	b.shows("#live-main", "No transfer is running")
	b.click(`button[value="POST /accounts/{id}/transfer"]`)
	b.shows(`#live-main [role="status"]`, "next one is held")
	require.Equal(t, http.StatusBadGateway, send("held"))
	b.shows(".payments", "held")
	b.shows(".payments .badge", "running")
	require.Equal(t, http.StatusOK, send("held"), "a repeat that does not wait")
	b.shows(".payments .badge", "will pay twice")
	b.shows("#live-main", "No request ID has moved money twice")

	p.press("/faults", "operation=POST /accounts/{id}/transfer&fault=proxy-page 502 commit-after 100ms")
	send("twice")
	send("twice")
	b.shows("#live-main tbody", "twice")
	b.click("#live-main tbody a")
	b.shows("h1", "Requests")
	b.shows("#live-main", "paid more than once")
	b.visit(p.page + "requests?outcome=twice")
	b.shows("#live-main tbody", "paid more than once")
	require.Empty(t, b.console())
}

func accessIsShown(t *testing.T, b *browser, p *program) {
	t.Helper()
	p.token = ""
	require.Eventually(t, func() bool { // a call leaves the window after 10 s
		p.call("GET", "accounts/"+ada, "")
		b.visit(p.page + "access")
		b.shows("#rates ~ ul", "of 1,000 requests")
		var used float64
		b.eval(`return document.querySelector("meter").value`, &used)
		return used >= 1
	}, time.Minute, time.Millisecond)
	require.NotContains(t, b.text("#live-main"), p.token, "never the token itself")
	b.click(`form[action="/access/revoke"] button`)
	b.shows("#live-main", "No token is valid")
	require.Equal(t, http.StatusUnauthorized, p.call("GET", "accounts/"+ada, "").status)
	p.token = ""
	p.call("GET", "accounts/"+ada, "")
	b.shows("#live-main tbody", " min")
	require.Empty(t, b.console())
}
