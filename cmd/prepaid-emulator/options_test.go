package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestWrongFlagsEndWithTwo(t *testing.T) {
	t.Parallel()
	refused := func(says string, environment map[string]string, arguments ...string) {
		code, out, problems := once(t, environment, arguments...)
		require.Equal(t, []any{2, ""}, []any{code, out}, arguments)
		require.Contains(t, problems, says, arguments)
		require.True(t, strings.HasPrefix(problems, "prepaid-emulator: see -h: "), problems)
		require.Equal(t, 1, strings.Count(problems, "\n"), "one line: %s", problems)
	}
	for flag, values := range map[string][]string{
		"-permitted-companies": {"", "42,", "acme"}, "-allowed-addresses": {"", "here", "fe80::1%lo"}, "-page-sizes": {"1,2", "1,2,3,4", "a,b,c", "-1,2,3"},
		"-failed-transfer": {"", "nil"}, "-pin-mgf1": {"MD5"},
		"-hook-retries": {"", "1s,", "-1s", "soon"}, "-alert-every": {"-1s"}, "-signature-encoding": {"octal"}, "-signature-key": {"both"},
		"-hook-fault": {"explode", "lose-message x0"}, "-start-at": {"tomorrow"}, "-fault": {"GET /accounts=explode"}, "-deterministic": {"-1"},
	} {
		for _, value := range values {
			refused(flag, nil, flag, value)
		}
	}
	refused("flag provided but not defined: -no-such-flag", nil, "-no-such-flag")
	refused("there is an argument that is not a flag", nil, "serve")
	refused("host:port", nil, "-listen", "8480")
	for _, address := range []string{"0.0.0.0:0", ":0", "emulator.example:0"} {
		refused("-allow-remote", nil, "-listen", address)
	}
	refused("for flag -log: must be one of", nil, "-log", "xml")
	refused("OPERATION=FAULT", nil, "-fault", "commit-then-drop")
	refused("no such operation", nil, "-fault", "GET /nowhere=commit-then-drop")
	refused("PREPAID_EMULATOR_LOG: must be one of", map[string]string{"PREPAID_EMULATOR_LOG": "xml"})
	refused("PREPAID_EMULATOR_START_AT", map[string]string{"PREPAID_EMULATOR_START_AT": "tomorrow"})
}

func TestEnvironmentStandsInForFlags(t *testing.T) {
	t.Parallel()
	environment := map[string]string{
		"PREPAID_EMULATOR_VENDOR": "acme", "PREPAID_EMULATOR_CLIENT_ID": "from-environment", "PREPAID_EMULATOR_LENIENT": "true",
		"PREPAID_EMULATOR_FAULT": "GET /accounts=respond 503; *=delay 1ms", "PREPAID_EMULATOR_LOG": "",
		"PREPAID_EMULATOR_HOOK_FAULT": "lose-response x2; lose-message", "PREPAID_EMULATOR_DIP_KEY": application + "=" + otherUUID + " ; " + otherUUID + "=" + application,
		"PREPAID_EMULATOR_HOOK_RETRIES": "1s, 10s,1m", "PREPAID_EMULATOR_PAGE_SIZES": "1,2,3", "PREPAID_EMULATOR_RETRY_AFTER": "true",
		"PREPAID_EMULATOR_HOOK_TIMEOUT": "50ms",
	}
	s, err := parse([]string{"-client-id", "from-flag"}, func(name string) (string, bool) { v, ok := environment[name]; return v, ok }, new(output), new(output))
	require.NoError(t, err)
	require.Equal(t, []any{"acme", "from-flag", true, "text"}, []any{s.Vendor, s.ClientID, s.Lenient, s.Log})
	require.Len(t, s.Faults, 2)
	require.Equal(t, []string{"GET /accounts", "*"}, []string{s.Faults[0].operation, s.Faults[1].operation})
	require.Equal(t, []string{application + "=" + otherUUID, otherUUID + "=" + application}, s.Keys)
	require.Equal(t, []prepaidtest.DeliveryFault{prepaidtest.LoseResponse().Times(2), prepaidtest.LoseMessage()}, s.HookFaults)
	require.Equal(t, []time.Duration{time.Second, 10 * time.Second, time.Minute}, s.DeliveryRetries)
	require.Equal(t, [3]int{1, 2, 3}, s.PageSizes)
	require.True(t, s.RetryAfter)
	require.Equal(t, 50*time.Millisecond, s.DeliveryTimeout)
}

const application, otherUUID = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"

func TestOptionsOfTheServiceHaveAnEffect(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off", "-permitted-companies", "77", "-initial-status", "inactive", "-page-sizes", "2,3,4", "-failed-transfer", "null",
		"-allowed-addresses", "127.0.0.1,::1", "-dip-key", application+"="+otherUUID)
	require.Equal(t, http.StatusForbidden, p.Call("POST", "policy/42/categories", `{}`).Status)
	require.Equal(t, http.StatusOK, p.Call("POST", "policy/77/categories", `{"reason":"r","require_approval":false,"add":[742],"remove":[]}`).Status)
	require.Equal(t, "3", p.Call("GET", "policy/mccodes", "").Header.Get("X-PageSize"))
	require.Equal(t, "2", p.Call("GET", "policy/mccodes?page_size=1", "").Header.Get("X-PageSize"))
	require.Equal(t, "4", p.Call("GET", "policy/mccodes?page_size=9", "").Header.Get("X-PageSize"))
	created := p.Call("POST", "accounts", `{"company_id":42,"initial_load_amount":0,"registration":{"first_name":"A","last_name":"B",
		"primary_address":{"state":"NSW","country":"AU"},"date_of_birth":"1990-05-01T00:00:00Z"}}`)
	require.Contains(t, created.Body, `"status":"inactive"`)
	failed := p.Call("POST", "accounts/"+ada+"/transfer", `{"amount":999999,"source_reference":"a","destination_reference":"b",
		"destination_account_id":"`+grace+`","transaction_type":1}`)
	require.Contains(t, failed.Body, `"transaction_id":null`)
	exchange := func(app, key string) string {
		return p.Call("POST", "accounts/"+ada+"/dip", `{"application_id":"`+app+`","key_id":"`+key+`","ephemeral_key":"`+base64.StdEncoding.EncodeToString([]byte(key[:32]))+`"}`).Body
	}
	require.Contains(t, exchange(otherUUID, otherUUID), "bad_application_id")
	require.Contains(t, exchange(application, application), "bad_key_id")
	require.NotContains(t, exchange(application, otherUUID), "error")

	limited := launch(t, "-log", "off", "-frozen-clock", "-rate-limit", "1", "-retry-after")
	limited.Call("GET", "policy/mccodes", "")
	refused := limited.Call("GET", "policy/mccodes", "")
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	elsewhere := launch(t, "-log", "off", "-allowed-addresses", "192.0.2.8/29")
	require.Equal(t, http.StatusForbidden, elsewhere.Send("POST", elsewhere.Page+"3.0/token", "", http.Header{}).Status)
}

func TestOptionsOfWebhooksHaveAnEffect(t *testing.T) {
	t.Parallel()
	type message struct {
		header http.Header
		body   []byte
	}
	arrived := make(chan message, 20)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- message{r.Header, body}
		if strings.Contains(string(body), `"transaction"`) {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	t.Cleanup(receiver.Close)
	p := launch(t, "-log", "off", "-allow-http-hooks", "-frozen-clock", "-hook-retries", "1s", "-alert-every", "10s",
		"-signature-header", "Seal", "-signature-key-id-header", "Seal-Key", "-signature-prefix", "v1=", "-signature-encoding", "base64", "-signature-key", "text")
	secret := strings.Repeat("ab", 32)
	require.Equal(t, http.StatusCreated, p.Call("POST", "hooks", `{"uri":"`+receiver.URL+`","scope":[42],"filter_spec":"*","enabled":true,
		"reliability_mode":"store_undeliverable","hmac_key_id":"k","hmac_key_secret":"`+secret+`"}`).Status)
	next := func(kind string) message {
		p.idle()
		require.Len(t, arrived, 1, kind)
		m := <-arrived
		require.Contains(t, string(m.body), `"`+kind+`"`)
		return m
	}
	ping := next("ping")
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write(ping.body)
	require.Equal(t, "v1="+base64.StdEncoding.EncodeToString(sum.Sum(nil)), ping.header.Get("Seal"))
	require.Equal(t, "k", ping.header.Get("Seal-Key"))
	p.Press("/accounts/"+ada+"/adjust", "amount=1")
	next("transaction")
	deliveries := func() int { return strings.Count(p.Get("/webhooks").Body, `data-name="Delivered">no<`) }
	require.Equal(t, 1, deliveries())
	p.Press("/clock", "by=1s") // the retry waits for the clock
	next("transaction")
	require.Equal(t, 2, deliveries())
	require.Regexp(t, `(?s)aria-label="Undeliverable".*>transaction<`, p.Get("/webhooks").Body)
	p.Press("/clock", "by=10s")
	next("undeliverable_alert")
}

func TestFlagsThatAStateOverrulesAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed, state := filepath.Join(dir, "seed.json"), filepath.Join(dir, "emulator.state")
	require.NoError(t, os.WriteFile(seed, []byte(`{"companies":[{"id":7}]}`), 0o600))
	arguments := []string{"-log", "off", "-state", state, "-seed", seed, "-start-at", "2030-01-31T08:00:00Z", "-deterministic", "1"}
	first := launch(t, arguments...)
	require.NotContains(t, first.out.String(), "no effect")
	first.stopped()
	require.Contains(t, launch(t, arguments...).stopped().out.String(), "continuing the state file: -seed and -start-at have no effect\n")
}

// stopped is a program whose files are closed.
func (p *program) stopped() *program {
	p.T.Helper()
	require.NoError(p.T, p.server.Close())
	return p
}

func TestListsOfWebhooksArePaged(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off", "-allow-http-hooks", "-hook-fault", "lose-response always")
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	require.Equal(t, http.StatusCreated, p.Call("POST", "hooks", `{"uri":"`+receiver.URL+`","scope":[42],"filter_spec":"*","enabled":true,
		"reliability_mode":"store_undeliverable","hmac_key_id":"k","hmac_key_secret":"`+strings.Repeat("ab", 32)+`"}`).Status)
	for range 51 {
		p.Control("/accounts/"+ada+"/adjust", "amount=1")
	}
	p.idle()
	first := p.Get("/webhooks").Body
	require.Contains(t, first, "Page 1 of 2, 51 in all")
	both := p.Get("/webhooks?messages=2&page=2").Body
	require.Contains(t, both, `href="?messages=1&amp;page=2"`, "one list is turned without the other")
	require.Equal(t, []int{100, 2}, []int{strings.Count(first, `>transaction<`), strings.Count(both, `>transaction<`)})
	require.Empty(t, nesting(both))
}
