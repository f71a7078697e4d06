package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/gotest"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// For any program's request there is a test, or a plain reason why not.
func TestNoRequestIsTooOdd(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off", "-no-rate-limit", "-report-delay", "0s", "-allow-http-hooks")
	p.server.AddAccount(prepaidtest.SeedAccount{ID: "EA-ADA", Balance: "-5.00"})
	for _, operation := range prepaidtest.Operations() {
		method, path, _ := strings.Cut(operation, " ")
		for _, id := range []string{"EA-ADA", "42", `a%2Fb%22%60%0A`} {
			path := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path[1:], id)
			for _, body := range []string{
				"", "{}", "[]", "null", "{", `{"amount":"x"}`, `{"amount":0,"account_id":"EA-ADA","message_ids":"x","status":5,"uri":7,"add":[{}]}`,
				`{"amount":1,"account_id":"` + "`" + `\n\"); panic(1) //","message_ids":["\"+x"],"status":"lost","uri":"http://x@y/?z","hmac_key_secret":"s","enabled":true}`,
			} {
				_, _ = p.TryCall(method, path, body)
			}
			_, _ = p.TryCall(method, path+"?page_size=x&start_date=soon&include_column_headers=perhaps&with_personal=1&status=%22&x=1", "")
		}
	}
	written := 0
	for _, request := range p.server.Requests() {
		text, err := gotest.Write(request)
		if err != nil {
			require.NotRegexp(t, `json:|reflect|[a-z]\.[A-Z]`, err.Error(), "%s %s %s", request.Method, request.Path, request.Body)
			continue
		}
		written++
		require.NotContains(t, text, "); panic(1) //\n", "what was sent is never code")
	}
	require.Greater(t, written, 300)
}

// A new tag keeps its member out of the test, wherever a request has it: no list names members.
func TestNoPersonalMemberIsInATest(t *testing.T) {
	t.Parallel()
	for name := range personal.Marks() {
		if personal.Hidden(name) {
			for _, body := range []string{`{%q:"canary"}`, `{"other":[{%q:"canary"}]}`, `{%q:{"other":"canary"}}`, `{%q:["canary"]}`} {
				require.NotContains(t, string(gotest.FillIn(fmt.Sprintf(body, name))), "canary")
			}
		}
	}
	require.JSONEq(t, `{"display_name":"Fictional","client_account_key":"k","amount":1.50,"ip_address":"192.0.2.1"}`,
		string(gotest.FillIn(`{"display_name":"Ada","client_account_key":"k","amount":1.50,"ip_address":"203.0.113.7"}`)))
	require.JSONEq(t, `{"display_name":""}`, string(gotest.FillIn(`{"display_name":""}`)), "which clears it")
}
