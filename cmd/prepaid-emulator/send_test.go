package main

import (
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
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
	counted := regexp.MustCompile(`<p class="soft">(\d+) of`).FindStringSubmatch(got.Body)
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
	correlation := regexp.MustCompile(`&#34;correlation_id&#34;</span>: <span class="j-text">&#34;([^&]+)&#34;`).FindStringSubmatch(p.Get("/requests/" + p.number(`"Invoice 17"`)).Body)
	require.Len(t, correlation, 2)
	for text, want := range map[string]string{
		"invoice 17": "1", "RENT may": "1", `"source_reference": "Invoice`: "1", "1234.5": "1", "1,234.50": "1", "payroll/7": "1", "till-4-0099": "1",
		correlation[1]: "1", grace: "3", "settled by nobody": "0",
	} {
		require.Equal(t, want, p.found(text), text)
	}
	for _, hidden := range append(secrets, "Turing", "Lovelace", "canary", "735194", "Augusta") {
		require.Equal(t, "0", p.found(hidden), "a search for %q would confirm it", hidden)
	}
	both := p.Get("/requests?text=" + grace).Body
	require.Contains(t, both, `<code>`+ada+`</code><br><span class="soft">to</span> <code>`+grace+`</code>`)
	require.Contains(t, p.Get("/accounts/"+grace).Body, "r17")
}

// number is that of the newest request that a search finds.
func (p *program) number(text string) string {
	p.T.Helper()
	row := regexp.MustCompile(`data-key="r(\d+)"`).FindStringSubmatch(p.Get("/requests?text=" + url.QueryEscape(text)).Body)
	require.Len(p.T, row, 2, text)
	return row[1]
}

func TestARepeatSaysWhetherItMovedMoney(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	for _, fault := range []string{"respond 500", "respond 500", "proxy-page 502 commit-after 10m", "truncate"} {
		p.Press("/faults", url.Values{"operation": {"POST /accounts/{id}/transfer"}, "fault": {fault}}.Encode())
	}
	for range 5 {
		p.Pay("1", "r-1")
	}
	rows := strings.Split(p.Get("/requests").Body, "<tr data-key=")
	for i, want := range []string{"kept response", "moved money", "carried out later", "moved no money"} { // newest first
		require.Contains(t, rows[i+1], "repeat of #2</span><span class=\"badge")
		require.Contains(t, rows[i+1], ">"+want+"</span>")
	}
	require.NotContains(t, rows[5], "money</span>")
}

// sends posts a form as a browser does; the location is empty after a refusal.
func (p *program) sends(path string, form url.Values, header ...[2]string) (status int, location, body string) {
	p.T.Helper()
	all := http.Header{"Accept": {"text/html"}, "Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {strings.TrimSuffix(p.Page, "/")}}
	for _, set := range header {
		all.Set(set[0], set[1])
	}
	got := p.Send("POST", p.Page+path, form.Encode(), all)
	return got.Status, got.Header.Get("Location"), got.Body
}

func TestARequestIsSentAgain(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	p.Pay("25.50", "r-1") // request 2
	p.Press("/access/revoke", "")
	status, location, _ := p.sends("requests/2/send", nil)
	require.Equal(t, []any{http.StatusSeeOther, "/requests/4?done=sent"}, []any{status, location}, "after one for a token")
	again := p.Get(location).Body
	require.Contains(t, again, "It is sent.")
	require.Contains(t, again, "the response is the one kept for this request ID")
	require.Contains(t, again, "prepaid-emulator (request 2 again)")
	require.NotContains(t, again, "emulator-secret")

	edited := url.Values{"method": {"POST"}, "path": {"/3.0/accounts/" + ada + "/transfer"}, "type": {"application/vnd.vendor+json"}, "body": {
		"{\r\n\"amount\":40,\"request_id\":\"r-2\",\"source_reference\":\"s\",\"destination_reference\":\"d\",\"destination_account_id\":\"" + grace + "\",\"transaction_type\":1}",
	}}
	_, location, _ = p.sends("requests/2/send", edited)
	require.Contains(t, p.Get(location).Body, "moved money once")
	require.Contains(t, p.Get("/accounts/"+grace).Body, "145.50")
	require.Equal(t, "{\"request\":8,\"status\":200}\n", p.Control("/requests/2/send", "").Body)
	require.Equal(t, http.StatusNotFound, p.Control("/requests/99/send", "").Status)
	_, location, _ = p.sends("requests/1/send", nil)
	require.Contains(t, p.Get(location).Body, `class="badge good">200`, "a token needs the credentials")

	p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=commit-then-drop")
	_, location, _ = p.sends("requests/2/send", nil)
	require.Contains(t, p.Get(location).Body, "carry out, then cut the connection")
	p.Press("/faults", "operation=POST /token&fault=respond 503")
	status, _, body := p.sends("requests/2/send", nil)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, body, "issued no token")

	p.Send("GET", p.Page+"3.0/accounts/"+ada+"?with_personal=1", "", http.Header{})
	_, location, _ = p.sends("requests/"+p.number("with_personal=1")+"/send", nil)
	require.Contains(t, p.Get(location).Body, `class="badge warn">401`, "without a token, as before")
}

// Personal data is sent as it was without being shown. Secrets are not kept.
func TestMasksAreNotSent(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	p.Call("PUT", "accounts/"+ada, `{"registration":{"first_name":"Alan","last_name":"Turing","date_of_birth":"1990-05-01T00:00:00Z","sex":"M",
		"mobile_number":"+61491570156","email_address":"alan@example.com","primary_address":{"state":"NSW","country":"AU"}}}`)
	p.Call("PUT", "accounts/"+ada, `{"registration":{"first_name":"Ada","last_name":"Lovelace","date_of_birth":"1990-05-01T00:00:00Z","sex":"F",
		"mobile_number":"+61491570156","email_address":"ada@example.com","primary_address":{"state":"NSW","country":"AU"}}}`)
	require.NotContains(t, p.Get("/accounts/"+ada).Body, "Turing")
	_, location, _ := p.sends("requests/2/send", nil)
	again := p.Get(location).Body
	require.NotContains(t, again, "Turing")
	require.Contains(t, again, `class="badge good">`)
	require.Contains(t, p.Get("/accounts/"+ada).Body, "Turing")
	form := url.Values{"method": {"PUT"}, "path": {"/3.0/accounts/" + ada}, "type": {"application/vnd.vendor+json"}, "body": {`{"display_name":"[personal]"}`}}
	status, _, body := p.sends("requests/2/send", form)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, body, "Fill in what is masked.")
	form.Set("body", "")
	form.Set("path", "/3.0/accounts/company/42?last_name=%5Bpersonal%5D")
	status, _, _ = p.sends("requests/2/send", form)
	require.Equal(t, http.StatusUnprocessableEntity, status)

	p.Call("POST", "pin/execute", `{"device_id":"d","otp":"1234"}`)
	number := p.number("pin/execute")
	require.Contains(t, p.Get("/requests/"+number).Body, "It holds secrets, which are not kept.")
	require.NotContains(t, p.Get("/requests/"+number).Body, "Send again")
	status, _, _ = p.sends("requests/"+number+"/send", nil)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	p.Call("PUT", "accounts/"+ada+"/status", `{"status":"`+strings.Repeat("x", 20<<10)+`"}`)
	status, _, body = p.sends("requests/"+p.number("xxxxx")+"/send", nil)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, body, "too long to be kept whole")
}

func TestOthersCannotSend(t *testing.T) {
	t.Parallel()
	elsewhere := make(chan string, 100)
	foreign := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r.URL.Path }))
	t.Cleanup(foreign.Close)
	p := launch(t, "-allow-http-hooks", "-log", "off")
	p.Pay("1", "r-1") // request 2
	hook, message := p.hooked(foreign.URL + "/in")
	for len(elsewhere) > 0 {
		<-elsewhere
	}
	before := p.found("3.0")
	paths := []string{"requests/2/send", "webhooks/" + hook + "/send"}
	for _, header := range [][2]string{{"Origin", "https://foreign.example"}, {"Host", "127.0.0.1.foreign.example"}} {
		for _, path := range paths {
			status, _, _ := p.sends(path, url.Values{"id": {message}}, header)
			require.Equal(t, http.StatusForbidden, status, "%s: %s", header, path)
		}
	}
	good := url.Values{"method": {"GET"}, "path": {"/3.0/accounts/" + ada}, "type": {""}, "body": {""}}
	host := strings.TrimPrefix(foreign.URL, "http://")
	for value, field := range map[string]string{
		"text/plain\r\nX-Injected: 1": "type", "text/plain\x00": "type", "/3.0/accounts HTTP/1.1\r\nHost: " + host: "path",
		"GET / HTTP/1.1\r\n\r\n": "method", "CONNECT": "method", foreign.URL + "/3.0/": "path", "//" + host + "/3.0/": "path",
		"@" + host + "/3.0/": "path", "/faults/clear": "path",
	} {
		form := maps.Clone(good)
		form.Set(field, value)
		status, _, _ := p.sends(paths[0], form)
		require.Equal(t, 422, status, "%s %q", field, value)
	}
	status, _, _ := p.sends(paths[1], url.Values{"id": {message}, "body": {strings.Repeat("x", 64<<10)}})
	require.Equal(t, 413, status)
	require.Equal(t, before, p.found("3.0"), "nothing was sent")
	require.Empty(t, elsewhere)

	good.Set("path", "/3.0/../faults/clear")
	_, location, _ := p.sends(paths[0], good)
	require.Contains(t, p.Get(location).Body, `class="badge warn">404`, "the service has no such path")
	good.Set("path", "/3.0/accounts/"+ada)
	_, location, _ = p.sends(paths[0], good, [2]string{"Host", "localhost:1"}, [2]string{"Origin", "http://localhost:1"})
	require.Contains(t, p.Get(location).Body, `class="badge good">200`, "the Host header does not choose the address")
	require.Empty(t, elsewhere)
}

// hooked registers a webhook and returns its id and that of a message that it has got.
func (p *program) hooked(address string) (hook, message string) {
	p.T.Helper()
	created := p.Call("POST", "hooks", `{"uri":"`+address+`","scope":[42],"filter_spec":"*","enabled":true,"reliability_mode":"store_undeliverable",
		"hmac_key_id":"k","hmac_key_secret":"`+strings.Repeat("ab", 32)+`"}`)
	require.Equal(p.T, http.StatusCreated, created.Status, created.Body)
	hook = regexp.MustCompile(`[0-9a-f-]{36}`).FindString(created.Body)
	p.Press("/accounts/"+ada+"/adjust", "amount=1")
	link := regexp.MustCompile(`/message\?id=([0-9a-f-]{36})`)
	p.idle()
	sent := link.FindAllStringSubmatch(p.Get("/webhooks/"+hook).Body, -1)
	require.Len(p.T, sent, 2, "the newest, and the ping")
	return hook, sent[0][1]
}

func TestAMessageIsSentAgain(t *testing.T) {
	t.Parallel()
	type arrival struct{ body, signature string }
	arrived := make(chan arrival, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- arrival{string(body), r.Header.Get("X-Signature")}
	}))
	t.Cleanup(receiver.Close)
	p := launch(t, "-allow-http-hooks", "-log", "off", "-signature-header", "X-Signature")
	hook, message := p.hooked(receiver.URL + "/in?key=canary")
	<-arrived // the ping
	first := <-arrived
	require.NotEmpty(t, first.signature)
	shown := p.Get("/webhooks/" + hook + "/message?id=" + message)
	require.Contains(t, shown.Body, "Send again")
	require.NotContains(t, shown.Body, "canary")

	_, location, _ := p.sends("webhooks/"+hook+"/send", url.Values{"id": {message}})
	require.Equal(t, "/webhooks/"+hook+"?done=queued", location)
	require.Equal(t, first, <-arrived, "the same bytes and signature")
	p.sends("webhooks/"+hook+"/send", url.Values{"id": {message}, "body": {`{"id":"m-2","type":"transaction","extra":1}`}})
	edited := <-arrived
	require.Equal(t, `{"id":"m-2","type":"transaction","extra":1}`, edited.body)
	require.NotEqual(t, first.signature, edited.signature)
	p.idle()
	require.Contains(t, p.Get("/webhooks/"+hook).Body, "message?id=m-2")
	require.Equal(t, fmt.Sprintf("{\"message_id\":%q}\n", message), p.Control("/webhooks/"+hook+"/send", "id="+message).Body)
	require.Equal(t, first, <-arrived)

	for _, body := range []string{"", "x", "[]", `{"id":"m"}`, `{"id":1,"type":"x"}`, `{"id":"m","type":"x","name_on_card":"[personal]"}`} {
		require.Equal(t, 422, p.Control("/webhooks/"+hook+"/send", url.Values{"id": {message}, "body": {body}}.Encode()).Status, body)
	}
	require.Equal(t, 404, p.Control("/webhooks/"+hook+"/send", "id=none").Status)
	require.Equal(t, 404, p.Control("/webhooks/none/send", "id="+message).Status)
	p.Call("PATCH", "hooks/"+hook, `{"enabled":false}`)
	require.Contains(t, p.Press("/webhooks/"+hook+"/send", "id="+message).Body, "The webhook is disabled")
	require.Empty(t, arrived)
}

func TestAStoryIsOneTest(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	p.Press("/faults", "operation=POST /accounts/{id}/transfer&fault=respond+500")
	p.Pay("1", "r-1")
	p.Pay("1", "r-1")
	list := p.Get("/requests").Body
	require.Contains(t, list, `<input type="checkbox" name="n" value="3" form="story">`)
	require.NotContains(t, p.Get("/").Body, "checkbox")
	require.Contains(t, p.Get("/requests/3").Body, `href="/requests/test?n=2&amp;n=3&amp;"`)
	text := p.Get("/requests/test?n=3&n=2").Body
	require.Regexp(t, "(?s)func TestRequests2To3.*// Request 2\n.*`respond 500`.*, 500}.*// Request 3\n.*, 200}", html.UnescapeString(text))
	for _, none := range []string{"", "?n=99"} {
		got := p.Get("/requests/test" + none)
		require.Equal(t, 422, got.Status)
		require.Equal(t, "No Go test: select 1 to 50 requests.\n", got.Body)
	}
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
		{"/webhooks/faults", "fault=lose-response&hook=none", 422}, {"/requests/1/send", "", 404},
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
	p.Call("GET", "accounts/"+grace+"/status", "")
	for query, row := range map[string]string{
		"text=account_not_found": "r2", "text=EA404": "r2", "text=%235": "r5", "outcome=cut": "r5", "outcome=fault": "r5", "outcome=repeat": "r4",
		"operation=POST+%2Ftoken": "r1", "outcome=refused&text=404": "r2",
	} {
		require.Regexp(t, `>1 of (?s:.*)<tr[^>]* data-key="`+row+`"`, p.Get("requests?"+query).Body, query)
	}
	require.Contains(t, p.Get("requests?outcome=twice").Body, "Nothing was paid twice")
}
