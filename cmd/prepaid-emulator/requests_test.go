package main

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// found is how many requests a search finds.
func (p *program) found(text string) string {
	p.T.Helper()
	got := p.Get("/requests?text=" + url.QueryEscape(text))
	require.Equal(p.T, http.StatusOK, got.Status)
	counted := regexp.MustCompile(`<p class="soft">(\d+) request`).FindStringSubmatch(got.Body)
	require.Len(p.T, counted, 2, "%q", text)
	return counted[1]
}

func TestContentIsSearched(t *testing.T) {
	t.Parallel()
	p, secrets := busy(t)
	header := http.Header{"Authorization": {"Bearer " + p.Token}, "Content-Type": {"application/vnd.vendor+json"}, "User-Agent": {"Payroll/7.1"}}
	p.Send("POST", p.Page+"3.0/accounts/"+ada+"/transfer", `{"amount":1234.5,"source_reference":"Invoice 17","destination_reference":"Rent May",
		"destination_account_id":"`+grace+`","transaction_type":1,"request_id":"r17"}`, header)
	p.Call("POST", "funding/redemptions", `{"amount":1.5,"account_id":"EA10000000000006","correlation_id":"till-4-0099"}`)
	for text, want := range map[string]string{
		"invoice 17": "1", "RENT may": "1", `"source_reference": "Invoice`: "1", "1234.5": "1", "1,234.50": "1", "payroll/7": "1", "till-4-0099": "1",
		grace: "3", "settled by nobody": "0",
	} {
		require.Equal(t, want, p.found(text), text)
	}
	for _, hidden := range append(secrets, "Turing", "Lovelace", "canary", "735194", "Augusta") {
		require.Equal(t, "0", p.found(hidden), "a search for %q would confirm it", hidden)
	}
	require.Contains(t, p.Get("/accounts/"+grace).Body, "r17", "it is the destination")
}

func TestRepeatShowsWhetherItMovedMoney(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	for _, fault := range []string{"respond 500", "respond 500", "proxy-page 502 commit-after 10m", "truncate"} {
		p.Press("/faults", url.Values{"operation": {"POST /accounts/{id}/transfer"}, "fault": {fault}}.Encode())
	}
	for range 5 {
		p.Pay("1", "r-1")
	}
	rows := strings.Split(p.Get("/requests").Body, `<tr role="row" data-key=`)
	for i, want := range []string{"kept response", "moved money", "carried out later", "moved no money"} { // newest first
		require.Contains(t, rows[i+1], `<span class="badge calm">repeat of #2</span> <span class="badge`)
		require.Contains(t, rows[i+1], ">"+want+"</span>")
	}
	require.NotContains(t, rows[5], "money</span>")
}

func TestStoryIsOneTest(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=respond+500")
	p.Pay("1", "r-1")
	p.Pay("1", "r-1")
	require.Contains(t, p.Get("/requests/3").Body, `href="/requests/test?n=3&amp;n=2"`)
	require.Contains(t, p.Get("/requests?text=r-1").Body, `href="/requests/test?text=r-1"`)
	for _, query := range []string{"n=3&n=2", "text=r-1"} {
		text := p.Get("/requests/test?" + query).Body
		require.Regexp(t, "(?s)func TestRequests2To3.*// Request 2\n.*`respond 500`.*, 500}.*// Request 3\n.*, 200}", html.UnescapeString(text))
	}
	got := p.Get("/requests/test?n=99")
	require.Equal(t, 422, got.Status)
	require.Equal(t, "No Go test: select 1 to 50 requests.\n", got.Body)
}

// A program gets JSON if it names that type, otherwise a line of text, not a page.
func TestRefusalsOfPrograms(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	for _, wrong := range []struct {
		path, form string
		status     int
	}{
		{"/clock", "by=soon", 422}, {"/clock", "by=%zz", 400}, {"/accounts/" + ada + "/status", "status=happy", 422},
		{"/accounts/" + ada + "/adjust", "amount=much", 422},
		{"/faults", "operation=*&fault=explode", 422}, {"/accounts/EA404/activate", "", 404}, {"/webhooks/faults", "fault=explode", 422},
		{"/webhooks/faults", "fault=lose-response&hook=none", 422},
	} {
		got := p.Send("POST", p.Page+wrong.path[1:], wrong.form, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"*/*"}})
		require.Equal(t, []any{wrong.status, "text/plain; charset=utf-8"}, []any{got.Status, got.Header.Get("Content-Type")}, wrong.path)
		require.Regexp(t, `^[A-Z][^<]*\.\n$`, got.Body)
		inJSON := p.Control(wrong.path, wrong.form)
		require.Equal(t, wrong.status, inJSON.Status, wrong.path)
		require.JSONEq(t, fmt.Sprintf(`{"error":%q}`, strings.TrimSuffix(got.Body, "\n")), inJSON.Body)
	}
	got := p.Send("POST", p.Page+"clock", "by=1h", http.Header{"Content-Type": {"text/plain"}, "Accept": {"application/json"}})
	require.Equal(t, []any{415, `{"error":"The Content-Type must be application/x-www-form-urlencoded."}` + "\n"}, []any{got.Status, got.Body})
}

func TestRequestsAreFound(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	p.Call("GET", "accounts/EA404", "")
	p.Pay("25.50", "r-1")
	p.Pay("25.50", "r-1")
	p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=commit-then-drop&times=1")
	p.Pay("40", "r-2") // request 5
	p.Pay("99999", "r-3")
	for query, row := range map[string]string{
		"text=account_not_found": "r2", "text=EA404": "r2", "outcome=fault": "r5", "outcome=repeat": "r4", "outcome=failed&text=account_not": "r2", "outcome=failed&text=r-3": "r6",
	} {
		require.Regexp(t, `>1 request\.(?s:.*)<tr[^>]* data-key="`+row+`"`, p.Get("requests?"+query).Body, query)
	}
	require.Contains(t, p.Get("requests?outcome=twice").Body, "No request matches")
	require.Contains(t, p.Get("requests/6").Body, ">not made<")
	cut := p.Get("requests/5").Body
	require.Contains(t, cut, `<span class="badge bad">cut</span> <span class="badge warn">commit-then-drop`)
	require.Contains(t, cut, "As the caller would have got it.")
	require.Contains(t, html.UnescapeString(cut), `curl -i -X POST -H "Authorization: Bearer $TOKEN"`)
	require.Contains(t, p.Get("requests/4").Body, ">kept response<")
	p.Pay("26", "r-1")
	require.Contains(t, p.Get("requests/7").Body, "The first request with this ID was another one.")
	p.Call("POST", "simulation/transact", `{"transaction_type":"Purchase","account_id":"`+ada+`","amount":"99999","bank_name":"Bank","location":"Sydney","location_code":"NSW",
		"currency_code":"AUD","acquirer_id":"400001","merchant_id":"BOOKSHOP000001","terminal_id":"T0000001","mcc":"5942"}`)
	require.Contains(t, p.Get("requests/8").Body, ">Insufficient funds<")
	p.Call("POST", "funding/redemptions", `{"amount":99999,"account_id":"`+ada+`","funding_exception":"no_exception","merchant_name_location":"Shop","originating_transaction":5,
		"clearing_adjustment":false,"currency":"036","card_acceptor_id":"M","correlation_id":"c1","merchant_category":"5812","terminal_id":"T","acquirer_id":"A"}`)
	require.Contains(t, p.Get("requests/9").Body, ">declined<")
}

func TestMessageIsShown(t *testing.T) {
	t.Parallel()
	p, secrets := busy(t)
	link := regexp.MustCompile(`/webhooks/message\?id=[0-9a-f-]{36}`).FindString(p.Get("/webhooks").Body)
	message := p.Get(link).Body
	require.Contains(t, message, "&#34;type&#34;: &#34;transaction&#34;")
	require.Contains(t, message, ">502<")
	for _, secret := range secrets {
		require.NotContains(t, message, secret)
	}
	require.Equal(t, http.StatusNotFound, p.Get(link[:len(link)-1]+"x").Status)
}
