package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// control is press for a program: it asks for JSON, and sends no browser headers.
func (p *program) control(path, form string) reply {
	p.t.Helper()
	return p.send(http.MethodPost, p.page+strings.TrimPrefix(path, "/"), form, http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"text/html;q=0.1, application/json"},
	})
}

func TestControlAnswersInJSON(t *testing.T) {
	t.Parallel()
	p := launch(t, "-frozen-clock", "-start-at", "2030-01-31T08:00:00Z", "-log", "off")
	account := "/accounts/" + grace
	for _, step := range []struct{ path, form, want string }{
		{"/clock", "by=1h", `{"now":"2030-01-31T09:00:00Z"}`},
		{account + "/status", "status=inactive", `{"account_id":"` + grace + `","status":"inactive","balance":80.00,"pin_set":false,"pin_changes":[],"authorizations":[]}`},
		{account + "/adjust", "amount=-12.50", `{"account_id":"` + grace + `","status":"inactive","balance":67.50,"pin_set":false,"pin_changes":[],"authorizations":[]}`},
		{account + "/activate", "", `{"account_id":"` + grace + `","status":"active","balance":67.50,"pin_set":false,"pin_changes":[],"authorizations":[]}`},
		{"/faults", "operation=*&fault=delay+1ms&times=2", `{"faults":[{"operation":"*","fault":"delay 1ms x2","used":0,"left":2}],"delivery_faults":[]}`},
		{"/faults/clear", "", `{"faults":[],"delivery_faults":[]}`},
		{"/faults", "operation=*&fault=delay+1ms+x3", `{"faults":[{"operation":"*","fault":"delay 1ms x3","used":0,"left":3}],"delivery_faults":[]}`},
		{"/faults/clear", "operation=*", `{"faults":[],"delivery_faults":[]}`},
		{"/webhooks/faults", "fault=lose-response+x2", `{"faults":[],"delivery_faults":[{"fault":"lose-response x2","used":0,"left":2}]}`},
		{"/webhooks/faults/clear", "", `{"faults":[],"delivery_faults":[]}`},
	} {
		got := p.control(step.path, step.form)
		require.Equal(t, []any{http.StatusOK, "application/json"}, []any{got.status, got.header.Get("Content-Type")}, step.path)
		require.Equal(t, step.want+"\n", got.body)
	}
	require.Equal(t, http.StatusSeeOther, p.send("POST", p.page+"clock", "by=1h", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}).status)
	require.Contains(t, p.send("GET", p.page+"clock", "", http.Header{"Accept": {"application/json"}}).body, `{"now":"2030-01-31T10:00:00Z"}`)
}

// A webhook may have the address of a page's button: its messages are not forms.
func TestAMessagePressesNoButton(t *testing.T) {
	t.Parallel()
	p := launch(t, "-allow-http-hooks", "-log", "off")
	p.press("/faults", "operation=GET+/accounts&fault=respond+503&times=")
	for _, path := range []string{"faults/clear", "accounts/" + grace + "/activate"} {
		answer := p.call("POST", "hooks", `{"uri":"`+p.page+path+`","scope":[42],"filter_spec":"*","enabled":true,
			"reliability_mode":"none","hmac_key_id":"k","hmac_key_secret":"`+strings.Repeat("ab", 32)+`"}`)
		require.Equal(t, http.StatusBadRequest, answer.status)
		require.Contains(t, answer.body, "no_response")
	}
	require.Contains(t, p.get("/webhooks").body, "415")
	require.Contains(t, p.get("/faults").body, "respond 503 always")
	for _, kind := range []string{"", "application/json", "text/plain", "multipart/form-data; boundary=x", "application/vnd.vendor+json"} {
		got := p.send("POST", p.page+"faults/clear", "", http.Header{"Content-Type": {kind}})
		require.Equal(t, http.StatusUnsupportedMediaType, got.status, kind)
	}
	require.Equal(t, http.StatusSeeOther, p.send("POST", p.page+"faults/clear", "", http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=UTF-8"}}).status)
}

func TestControlOfTheDocumentation(t *testing.T) {
	t.Parallel()
	needTool(t, "curl")
	text, err := os.ReadFile("../../docs/emulator-control.md")
	require.NoError(t, err)
	section := regexp.MustCompile("(?s)```sh\n(.*?)```").FindSubmatch(text)
	require.Len(t, section, 2)
	for _, form := range append(prepaidtest.FaultForms(), prepaidtest.DeliveryFaultForms()...) {
		require.Contains(t, string(text), "| `"+strings.Replace(form, ": ", "` | ", 1)+" |\n")
	}
	p := launch(t, "-log", "off")
	commands := strings.ReplaceAll(string(section[1]), "http://127.0.0.1:8480/", p.page)
	got, err := exec.CommandContext(t.Context(), "sh", "-eu", "-c", commands).CombinedOutput()
	require.NoError(t, err, string(got))
	require.NotContains(t, string(got), `"error"`)
	require.Equal(t, strings.Count(commands, "\nemulator ")+1, strings.Count(string(got), "\n"), string(got))
}

func TestHookFaultsAreReached(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} }))
	t.Cleanup(receiver.Close)
	p := launch(t, "-allow-http-hooks", "-log", "off", "-hook-fault", "lose-message")
	require.Contains(t, p.out.String(), "Hook fault   lose-message")
	created := p.call("POST", "hooks", `{"uri":"`+receiver.URL+`","scope":[42],"filter_spec":"*","enabled":true,
		"reliability_mode":"store_undeliverable","hmac_key_id":"k","hmac_key_secret":"`+strings.Repeat("ab", 32)+`"}`)
	require.Equal(t, http.StatusCreated, created.status)
	<-arrived
	var hook struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(created.body), &hook))
	shown := p.press("/webhooks/faults", "fault=duplicate-message+1&hook="+hook.ID)
	require.Contains(t, shown.body, "duplicate-message 1")
	require.Contains(t, shown.body, "The fault is armed.")
	p.press("/accounts/"+ada+"/adjust", "amount=1")
	for range 2 {
		select {
		case <-arrived:
		case <-time.After(10 * time.Second):
			require.Fail(t, "the message was not sent twice")
		}
	}
	p.press("/accounts/"+ada+"/adjust", "amount=1")
	require.Eventually(t, func() bool { return strings.Contains(p.get("/webhooks").body, "the message was lost") }, 10*time.Second, 20*time.Millisecond)
	require.Empty(t, arrived)
	require.Contains(t, p.get("/webhooks/"+hook.ID).body, `action="/webhooks/faults"`)
	require.Contains(t, p.press("/webhooks/faults", "fault=lose-response+always").body, "lose-response always")
	require.NotContains(t, p.press("/webhooks/faults/clear", "").body, "<code>lose-response always</code>")
}

func TestABalanceStaysInItsRange(t *testing.T) {
	t.Parallel()
	seed := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, os.WriteFile(seed, []byte(`{"accounts":[{"account_id":"full","balance":99999999999999999}]}`), 0o600))
	p := launch(t, "-log", "off", "-seed", seed)
	require.Equal(t, http.StatusOK, p.control("/accounts/full/adjust", "amount=0.25").status)
	got := p.control("/accounts/full/adjust", "amount=999999999")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "out of its range")
	require.Contains(t, p.control("/accounts/full/adjust", "amount=-0.25").body, `"balance":99999999999999999.00`)
}
