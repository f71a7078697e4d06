package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestControlRespondsInJSON(t *testing.T) {
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
		got := p.Control(step.path, step.form)
		require.Equal(t, []any{http.StatusOK, "application/json"}, []any{got.Status, got.Header.Get("Content-Type")}, step.path)
		require.Equal(t, step.want+"\n", got.Body)
	}
	require.Equal(t, http.StatusSeeOther, p.Send("POST", p.Page+"clock", "by=1h", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}).Status)
	require.Contains(t, p.Send("GET", p.Page+"clock", "", http.Header{"Accept": {"application/json"}}).Body, `{"now":"2030-01-31T10:00:00Z"}`)
}

// A webhook may have the address of a page's button: its messages are not forms.
func TestMessagePressesNoButton(t *testing.T) {
	t.Parallel()
	p := launch(t, "-allow-http-hooks", "-log", "off")
	p.Press("/faults", "operation=GET+/accounts&fault=respond+503&times=")
	for _, path := range []string{"faults/clear", "accounts/" + grace + "/activate"} {
		response := p.Call("POST", "hooks", `{"uri":"`+p.Page+path+`","scope":[42],"filter_spec":"*","enabled":true,
			"reliability_mode":"none","hmac_key_id":"k","hmac_key_secret":"`+strings.Repeat("ab", 32)+`"}`)
		require.Equal(t, http.StatusBadRequest, response.Status)
		require.Contains(t, response.Body, "no_response")
	}
	require.Contains(t, p.Get("/webhooks").Body, "415")
	require.Contains(t, p.Get("/faults").Body, "respond 503 always")
	for _, kind := range []string{"", "application/json", "text/plain", "multipart/form-data; boundary=x", "application/vnd.vendor+json"} {
		got := p.Send("POST", p.Page+"faults/clear", "", http.Header{"Content-Type": {kind}})
		require.Equal(t, http.StatusUnsupportedMediaType, got.Status, kind)
	}
	require.Equal(t, http.StatusSeeOther, p.Send("POST", p.Page+"faults/clear", "", http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=UTF-8"}}).Status)
}

func TestHookFaultsAreReached(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived <- struct{}{} }))
	t.Cleanup(receiver.Close)
	p := launch(t, "-allow-http-hooks", "-log", "off", "-hook-fault", "lose-message")
	require.Contains(t, p.out.String(), "Hook fault   lose-message")
	created := p.Call("POST", "hooks", `{"uri":"`+receiver.URL+`","scope":[42],"filter_spec":"*","enabled":true,
		"reliability_mode":"store_undeliverable","hmac_key_id":"k","hmac_key_secret":"`+strings.Repeat("ab", 32)+`"}`)
	require.Equal(t, http.StatusCreated, created.Status)
	<-arrived
	var hook struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(created.Body), &hook))
	shown := p.Press("/webhooks/faults", "fault=duplicate-message+1&hook="+hook.ID)
	require.Contains(t, shown.Body, "duplicate-message 1")
	require.Contains(t, shown.Body, "The fault is armed.")
	p.Press("/accounts/"+ada+"/adjust", "amount=1")
	p.idle()
	require.Len(t, arrived, 2, "the message is sent twice")
	<-arrived
	<-arrived
	p.Press("/accounts/"+ada+"/adjust", "amount=1")
	p.idle()
	require.Contains(t, p.Get("/webhooks").Body, "the message was lost")
	require.Empty(t, arrived)
	require.Contains(t, p.Press("/webhooks/faults", "fault=lose-response+always").Body, "lose-response always")
	require.Contains(t, p.Press("/webhooks/faults/clear", "").Body, "No delivery faults armed.")
}

func TestBalanceStaysInItsRange(t *testing.T) {
	t.Parallel()
	seed := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, os.WriteFile(seed, []byte(`{"accounts":[{"account_id":"full","balance":99999999999999999}]}`), 0o600))
	p := launch(t, "-log", "off", "-seed", seed)
	require.Equal(t, http.StatusOK, p.Control("/accounts/full/adjust", "amount=0.25").Status)
	got := p.Control("/accounts/full/adjust", "amount=999999999")
	require.Equal(t, http.StatusUnprocessableEntity, got.Status)
	require.Contains(t, got.Body, "out of its range")
	require.Contains(t, p.Control("/accounts/full/adjust", "amount=-0.25").Body, `"balance":99999999999999999.00`)
}
