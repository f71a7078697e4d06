package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/caller"
)

// busy is a program with much history, and with a webhook whose receiver refuses. secrets has every secret sent or
// received.
func busy(t *testing.T) (p *program, secrets []string) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var message struct{ Type string }
		_ = json.NewDecoder(r.Body).Decode(&message)
		if message.Type == "transaction" {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(receiver.Close)
	clientSecret, hookSecret, pin, otp := "canary-client-secret", hex.EncodeToString([]byte("canary-hook-secret-of-32-bytes!!")), "735194826157", "canary-otp"
	p = launch(t, "-client-secret", clientSecret, "-allow-http-hooks", "-log", "off")
	p.Token = p.NewToken("emulator-client", clientSecret)
	secrets = []string{clientSecret, hookSecret, pin, otp, p.Token, "canary-address-key", "canary-user", "canary-password"}

	require.Equal(t, http.StatusCreated, p.Call("POST", "hooks", fmt.Sprintf(`{"uri":"%s/in?key=canary-address-key","scope":[42],"filter_spec":"*",
		"enabled":true,"reliability_mode":"store_undeliverable","hmac_key_id":"k1","hmac_key_secret":%q}`, strings.Replace(receiver.URL, "//", "//canary-user:canary-password@", 1), hookSecret)).Status)
	require.Equal(t, http.StatusOK, p.Call("POST", "accounts/"+ada+"/transfer", `{"amount":3,"source_reference":"<b>a</b>","destination_reference":"b",
		"destination_account_id":"`+grace+`","transaction_type":1,"request_id":"r1"}`).Status)
	p.Call("GET", "accounts/"+ada+"?with_personal=1", "")
	p.Call("GET", "accounts/company/42?with_personal=1", "")
	p.Call("GET", "accounts/company/42?last_name=Lovelace", "")
	p.Call("GET", "accounts/EA404", "")
	p.Call("GET", "nowhere/at?all=1", "")
	p.Call("PUT", "accounts/"+ada+"/personal", `{"middle_name":"Turing","mobile_number":"+61400Turing","email_address":"turing@Turing.example","address_line1":"1 Turing Way"}`)
	p.Call("PUT", "accounts/"+ada, `{"display_name":"Turing","date_of_birth":"Turing"`)
	p.Call("POST", "pin/initiate", `{"eaid":"`+ada+`","device_id":"d","ip_address":"192.0.2.1","communication_method":"sms"}`)
	p.Call("POST", "pin/execute", `{"device_id":"d","ip_address":"192.0.2.1","operation_id":"00000000-0000-4000-8000-000000000000","pin":"`+pin+`","otp":"`+otp+`",
		"encrypted_data":"`+hookSecret+`","public_key_fingerprint":"00","encrypted_key":"`+hookSecret+`","oaep_hashing_algorithm":"SHA256","iv":"`+hookSecret[:32]+`"}`)
	p.Send("POST", p.Page+"3.0/token", "grant_type=client_credentials&client_secret="+clientSecret, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	p.Press("/faults", url.Values{"operation": {"GET /accounts"}, "fault": {"respond 503"}, "times": {"3"}, "probability": {"0.5"}}.Encode())
	p.idle()
	require.NotContains(t, p.Get("/webhooks").Body, "Nothing was sent")
	return p, secrets
}

func TestEveryPageCanBeReachedAndShowsNoSecret(t *testing.T) {
	t.Parallel()
	p, secrets := busy(t)
	link := regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`)
	seen, queue := map[string]bool{}, []string{"/"}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		got := p.Get(strings.ReplaceAll(path, " ", "%20"))
		require.Equal(t, http.StatusOK, got.Status, path)
		for _, secret := range secrets {
			require.NotContains(t, got.Body, secret, path)
		}
		header := got.Header
		require.Equal(t, []string{"nosniff", "no-store", "same-origin"}, []string{header.Get("X-Content-Type-Options"), header.Get("Cache-Control"), header.Get("Referrer-Policy")})
		require.Contains(t, header.Get("Content-Security-Policy"), "default-src 'none'")
		require.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
		if !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
			continue
		}
		require.Empty(t, nesting(got.Body), path)
		require.NotRegexp(t, `\sstyle=|\son[a-z]+=|<style|<script>|javascript:`, got.Body, path)
		if !strings.HasPrefix(path, "/accounts/") {
			require.NotContains(t, got.Body, "Lovelace", "personal data on %s", path)
			require.NotContains(t, got.Body, "Turing", "personal data on %s", path)
		}
		for _, found := range link.FindAllStringSubmatch(got.Body, -1) {
			if !strings.Contains(found[0], "action=") || found[1] == "/accounts" {
				queue = append(queue, strings.ReplaceAll(found[1], "&amp;", "&"))
			}
		}
	}
	for _, want := range []string{"/", "/accounts", "/accounts/" + ada, "/requests", "/requests?outcome=failed", "/requests/1", "/webhooks", "/faults", "/clock", "/static/style.css", "/static/live.js", "/static/icon.svg"} {
		require.True(t, seen[want], "no link leads to %s", want)
	}
	require.True(t, slices.ContainsFunc(keys(seen), func(path string) bool { return strings.HasPrefix(path, "/webhooks/message") }))
	require.Contains(t, p.Get("/accounts/"+ada).Body, "&lt;b&gt;a&lt;/b&gt;", "a caller's text is text")
	require.Contains(t, p.Get("/?live=1").Body, `id="live-main"`)
	require.NotContains(t, p.Get("/?live=1").Body, "<html")
	require.Equal(t, http.StatusNotFound, p.Get("/accounts/EA404").Status)
	require.Equal(t, http.StatusNotFound, p.Get("/requests/999").Status)
	require.Equal(t, http.StatusNotFound, p.Get("/webhooks/message?id=none").Status)
	require.Equal(t, http.StatusNotFound, p.Get("/nowhere").Status)
}

func keys(m map[string]bool) []string {
	var list []string
	for key := range m {
		list = append(list, key)
	}
	return list
}

func TestFormsWorkWithoutScript(t *testing.T) {
	t.Parallel()
	p := launch(t, "-frozen-clock", "-start-at", "2030-01-31T08:00:00Z", "-log", "off")
	account := "/accounts/" + grace
	require.Contains(t, p.Press(account+"/status", "status=suspected_fraud").Body, "suspected fraud</span>")
	require.Equal(t, http.StatusUnprocessableEntity, p.Press(account+"/status", "status=happy").Status)
	require.Contains(t, p.Press(account+"/adjust", "amount=-12.5").Body, "−12.50")
	require.Contains(t, p.Press(account+"/adjust", "amount=%2B00.25").Body, "67.75")
	require.Contains(t, p.Press(account+"/adjust", "amount=123456789012.3456789").Body, "123,456,789,080.0956789")
	p.Press(account+"/adjust", "amount=-123456789012.3456789")
	for _, amount := range []string{"", "1e9", "12345678901.123456789", "12345678901234567890", "0.00000000000000000001", "--1"} {
		got := p.Press(account+"/adjust", url.Values{"amount": {amount}}.Encode())
		require.Equal(t, http.StatusUnprocessableEntity, got.Status, amount)
		require.Contains(t, got.Body, "must be a number")
		require.NotContains(t, got.Body, "data-live", "the script leaves such a page alone")
	}
	require.Equal(t, http.StatusUnprocessableEntity, p.Press(account+"/activate", "").Status)
	p.Press(account+"/status", "status=pre_active")
	require.Contains(t, p.Press(account+"/activate", "").Body, `good">active`)
	require.Equal(t, http.StatusNotFound, p.Press("/accounts/EA404/activate", "").Status)

	require.Contains(t, p.Press("/clock", "by=744h").Body, "2030-03-03 08:00:00")
	require.Contains(t, p.Press("/clock", "by=1m").Body, "2030-03-03 08:01:00")
	for _, step := range []string{"", "soon", "-1h", "999999h"} {
		require.Equal(t, http.StatusUnprocessableEntity, p.Press("/clock", "by="+step).Status, step)
	}

	for range 17 {
		require.Equal(t, http.StatusOK, p.Press("/clock", "by=87600h").Status)
	}
	far := p.Press("/clock", "by=87600h")
	require.Equal(t, http.StatusUnprocessableEntity, far.Status)
	require.Contains(t, far.Body, "year 2200")
	require.Contains(t, far.Body, "2200-01-21", "it has not moved")
	p.Token = p.NewToken("emulator-client", "emulator-secret")

	arm := func(operation, fault, times, probability string) caller.Reply {
		return p.Press("/faults", url.Values{"operation": {operation}, "fault": {fault}, "times": {times}, "probability": {probability}}.Encode())
	}
	require.Contains(t, arm("GET /accounts/{id}", "respond 503", "2", "").Body, "respond 503 x2")
	require.Contains(t, arm("*", "delay 1ms", "", "").Body, "delay 1ms always")
	require.Contains(t, arm("POST /token", "delay 1ms", "1", "0.25").Body, "p0.25")
	require.Equal(t, http.StatusServiceUnavailable, p.Call("GET", "accounts/"+ada, "").Status)
	for _, wrong := range [][4]string{
		{"GET /nowhere", "respond 503", "1", ""}, {"*", "explode", "1", ""}, {"*", "respond 503", "0", ""}, {"*", "respond 503", "x", ""},
		{"*", "respond 503", "1", "1.01"}, {"*", "respond 503", "1", "0"}, {"*", "respond 503", "1", "NaN"}, {"*", "respond 503", "1", "25"}, {"POST /token", "expire-token", "1", ""}, {"*", "", "1", ""},
	} {
		require.Equal(t, http.StatusUnprocessableEntity, arm(wrong[0], wrong[1], wrong[2], wrong[3]).Status, wrong)
	}
	for _, wrong := range []string{"explode", "", "respond 99", "truncate x0", "truncate p2", "truncate commit-after 1s", "proxy-page 502 commit-after 0s"} {
		require.NotRegexp(t, `role="alert">[^<]*(prepaidtest|Forms|[a-z][A-Z])`, arm("*", wrong, "1", "").Body, "no name of Go's in %q", wrong)
	}
	require.Contains(t, p.Press("/faults/clear", "").Body, "No faults armed")
	require.Equal(t, http.StatusOK, p.Call("GET", "accounts/"+ada, "").Status)

	require.Contains(t, p.Get("/accounts?text=closed").Body, "EA10000000000006")
	require.NotContains(t, p.Get("/accounts?text=closed").Body, ada)
	require.Contains(t, p.Get("/accounts?text=GRACE").Body, grace)
	require.Contains(t, p.Get("/accounts?text=nobody").Body, "No account matches")
	require.Contains(t, p.Get("/accounts?text=hopper+GRACE").Body, grace, "by name")
	require.NotContains(t, p.Get("/accounts?text=hopper").Body, ada)
}

func TestForeignersAreRefused(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	with := func(name, value string) http.Header {
		header := form.Clone()
		header.Set(name, value)
		return header
	}
	before := p.Get("/accounts/" + grace).Body
	for _, header := range []http.Header{with("Origin", "https://foreign.example"), with("Sec-Fetch-Site", "cross-site"), with("Sec-Fetch-Site", "same-site"), with("Origin", "null")} {
		require.Equal(t, http.StatusForbidden, p.Send("POST", p.Page+"accounts/"+grace+"/adjust", "amount=1", header).Status, header)
	}
	for _, host := range []string{"foreign.example", "foreign.example:8480", "127.0.0.1.foreign.example", "localhost.foreign.example", "192.0.2.1"} {
		require.Equal(t, http.StatusForbidden, p.Send("GET", p.Page, "", http.Header{"Host": {host}}).Status, host)
	}
	for _, host := range []string{"localhost", "localhost:1", "127.0.0.1", "[::1]:80", "[::1]"} {
		require.Equal(t, http.StatusOK, p.Send("GET", p.Page, "", http.Header{"Host": {host}}).Status, host)
	}
	clock := regexp.MustCompile(`\d\d:\d\d:\d\d`)
	require.Equal(t, clock.ReplaceAllString(before, ""), clock.ReplaceAllString(p.Get("/accounts/"+grace).Body, ""), "nothing has changed")
	require.Equal(t, http.StatusMethodNotAllowed, p.Send("POST", p.Page+"webhooks", "", form).Status)
	require.Equal(t, http.StatusRequestEntityTooLarge, p.Press("/clock", "by="+strings.Repeat("1", 64<<10)).Status, "not read to the end")

	open := launch(t, "-allow-remote", "-log", "off")
	require.Equal(t, http.StatusOK, open.Send("GET", open.Page, "", http.Header{"Host": {"emulator.internal"}}).Status)
}

// nesting checks that every element is closed in the right place and that ids are unique.
func nesting(document string) string {
	void := []string{"meta", "link", "input", "br", "wbr", "rect"}
	var open []string
	for _, tag := range regexp.MustCompile(`<(/?)([a-z][a-z0-9]*)[^>]*>`).FindAllStringSubmatch(document, -1) {
		switch name := tag[2]; {
		case tag[1] == "" && !slices.Contains(void, name):
			open = append(open, name)
		case tag[1] == "/":
			if len(open) == 0 || open[len(open)-1] != name {
				return fmt.Sprintf("</%s> closes %v", name, open)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("%v stays open", open)
	}
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(document, -1) {
		if ids[id[1]] {
			return "the id " + id[1] + " is used twice"
		}
		ids[id[1]] = true
	}
	return ""
}
