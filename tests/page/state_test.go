package page

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/tests/programs/emulator"
)

// cardWorks makes a purchase, reverses it, and is refused.
func cardWorks(b *browser, p *emulator.Process) {
	p.Call("GET", "accounts/"+ada, "")
	b.visit(p.Page + "accounts/" + ada)
	b.shows("#chart-head", "each of 1 movement")
	b.enter("#spend", "18.90")
	b.click(`button[value="purchase"]`)
	b.shows(`#live-main [role="status"]`, "purchase is authorised")
	b.shows("#live-main tbody", "−18.90")
	b.shows(".balance", "1,231.50")
	require.Equal(b.t, 2, its[int](b, `document.querySelectorAll(".plot g title").length`))
	require.Contains(b.t, its[string](b, `document.querySelector(".plot").getAttribute("aria-label")`), "Now 1,231.50")

	b.click(`button[value="reverse"]`)
	b.shows(`#live-main [role="status"]`, "purchase is reversed")
	b.shows(".balance", "1,250.40")
	b.enter("#spend", "7.25")
	b.click(`button[value="refund"]`)
	b.shows("#live-main tbody", "Point of sale credit")

	require.Empty(b.t, b.console())
	b.enter("#spend", "99999")
	b.click(`button[value="purchase"]`)
	b.shows(`[role="alert"]`, "the balance is only 1,257.65 AUD")
	require.Equal(b.t, "99999", its[string](b, `document.getElementById("spend").value`))
	b.onlyRefused()

	b.enter("#amount", "-57.65")
	b.click(`form[action$="/adjust"] button`)
	b.shows(".balance", "1,200.00")
	b.eval(`document.querySelector('#set-status option[value="replaced"]').selected = true; return null`, nil)
	b.click(`form[action$="/status"] button`)
	b.shows("#no-card", "the account is replaced")
	require.True(b.t, its[bool](b, `document.querySelector('button[value="purchase"]').matches(":disabled")`))

	b.click(`#asked ~ .scroll tbody a`)
	b.shows("h1", "Request")
	require.Empty(b.t, b.console())
}

func companiesAreShown(b *browser, p *emulator.Process) {
	b.visit(p.Page + "companies")
	b.shows("#live-main tbody", "open loop")
	b.click("#live-main tbody th a")
	b.shows("#live-main", "A purchase is allowed unless")
	require.Equal(b.t, http.StatusOK, p.Call("POST", "policy/42/categories", `{"reason":"r","add":[7995]}`).Status)
	require.Equal(b.t, http.StatusOK, p.Call("POST", "policy/42/terminals", `{"reason":"r","add":[{"acquirer_id":2,"card_acceptor_id":"N","terminal_id":"T9"}]}`).Status)
	b.shows("#live-main", "7995 Betting and casino gambling", "T9")
	b.click("details summary")
	b.shows("details", "must_block")
	b.shows("#live-main tbody", ada)
	require.Empty(b.t, b.console())
}

func transfersAreShown(b *browser, p *emulator.Process) {
	b.visit(p.Page + "transfers")
	b.shows("#live-main", "No transfer is running")
	b.click(`button[value="POST /accounts/{id}/transfer"]`)
	b.shows(`#live-main [role="status"]`, "next one is held")
	require.Equal(b.t, http.StatusBadGateway, p.Pay("1", "held"))
	still := func(selector string, texts ...string) { // an element has all texts, unless the 30 s of the held transfer are over
		b.t.Helper()
		over := false
		b.becomes(func() bool {
			over = !strings.Contains(p.JSON("transfers"), `"request_id":"held"`)
			return over || b.has(selector, texts...)
		}, "%s does not show %q", selector, texts)
		if over {
			b.t.Skip("too slow to tell: the held transfer has been carried out")
		}
	}
	still(".payments", "held")
	still(".payments .badge", "running")
	require.Equal(b.t, http.StatusOK, p.Pay("1", "held"), "a repeat that does not wait")
	still(".payments .badge", "will pay twice")
	still("#live-main", "No request ID has moved money twice")

	twice := regexp.MustCompile(`"paid_twice":\[[^]]*"twice-`)
	for held := time.Second; !twice.MatchString(p.JSON("transfers")); held *= 4 { // until the repeat is sent while the first runs
		p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=proxy-page 502 commit-after "+held.String())
		id := "twice-" + held.String()
		p.Pay("1", id)
		p.Pay("1", id)
		b.becomes(func() bool { return !strings.Contains(p.JSON("transfers"), `"request_id":"`+id) })
	}
	b.shows("#live-main tbody", "twice-")
	b.click("#live-main tbody a")
	b.shows("h1", "Requests")
	b.shows("#live-main", "paid more than once")
	b.visit(p.Page + "requests?outcome=twice")
	b.shows("#live-main tbody", "paid more than once")
	require.Empty(b.t, b.console())
}
