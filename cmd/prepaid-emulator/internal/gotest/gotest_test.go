package gotest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/cmd/prepaid-emulator/internal/personal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// caller sends requests like any program.
type caller struct {
	*prepaidtest.Server
	t     *testing.T
	http  *http.Client
	token string
}

func newCaller(t *testing.T) *caller {
	t.Helper()
	c := &caller{Server: prepaidtest.NewServer(t, prepaidtest.Options{RateLimit: -1, ReportDelay: -1, AllowHTTPOnLoopback: true}), t: t, http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	var token struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(t, json.Unmarshal([]byte(c.send("POST", "token", "grant_type=client_credentials")), &token))
	c.token = token.AccessToken
	return c
}

// send returns the body of the response; empty when the connection was cut.
func (c *caller) send(method, path, body string) string {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.URL+path, strings.NewReader(body))
	require.NoError(c.t, err)
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/vnd.vendor+json")
	if path == "token" {
		request.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("emulator-client:emulator-secret")))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

// member is a JSON object's member.
func member(t *testing.T, text, name string) string {
	t.Helper()
	var members map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &members), text)
	return fmt.Sprint(members[name])
}

// everything sends a request of each operation, and some that fail.
func everything(t *testing.T) *caller {
	t.Helper()
	c := newCaller(t)
	ada := string(c.AddAccount(prepaidtest.SeedAccount{ID: "EA-ADA", Balance: "500.00", Key: "ada", Status: "active"}))
	bob := string(c.AddAccount(prepaidtest.SeedAccount{ID: "EA-BOB"}))
	c.AddWalletToken(prepaid.AccountID(ada), prepaidtest.WalletToken{})
	c.AddCompany(prepaidtest.Company{ID: 77, ClientID: "northwind", ProgramID: "nw", Loop: prepaidtest.ClosedLoop})
	transfer := func(amount, id string) {
		c.send("POST", "accounts/"+ada+"/transfer", `{"request_id":"`+id+`","amount":`+amount+`,"source_reference":"it's \"lunch\"","destination_reference":"d","destination_account_id":"`+bob+`","transaction_type":1}`)
	}

	run := c.send("GET", "reporting/templates/settlement?include_column_headers=true", "")
	c.send("GET", "reporting/templates/settlement/reports/"+run, "")
	for _, path := range []string{
		"policy/mccodes?page_size=5&page_number=2", "policy/42/restrictions", "policy/42/policy", "policy/77/categories", "policy/42/merchants", "policy/42/terminals",
		"accounts?client_id=acme&client_account_key=ada&with_personal=1", "accounts/company/42?status=active&last_name=Hopper", "accounts/" + ada + "?with_freetext=1&with_bpay=1",
		"accounts/" + ada + "/transactions?start_date=2020-01-01T00:00:00Z&page_size=10",
	} {
		c.send("GET", path, "")
	}
	for _, operation := range prepaidtest.Operations() {
		if of, ok := strings.CutPrefix(operation, "GET /accounts/{id}/"); ok {
			c.send("GET", "accounts/"+ada+"/"+of, "")
		}
	}
	c.send("POST", "policy/42/categories", `{"reason":"r","require_approval":false,"add":[5411,742],"remove":[]}`)
	c.send("POST", "policy/42/merchants", `{"add":[{"acquirer_id":1,"card_acceptor_id":"SHOP","description":"d"}]}`)
	c.send("POST", "policy/77/terminals", `{"add":[{"acquirer_id":1,"card_acceptor_id":"SHOP","terminal_id":"T1"}]}`)

	registration := `"registration":{"first_name":"Joan","last_name":"Clarke","date_of_birth":"1990-05-01T00:00:00Z","sex":"F","mobile_number":"+61491570156","email_address":"joan@example.com","primary_address":{"state":"NSW","country":"AU"}}`
	c.send("POST", "accounts", `{"company_id":42,"initial_load_amount":5.00,"is_plastic_enabled":false,"name_on_card":"J CLARKE",`+registration+`}`)
	c.send("PUT", "accounts/"+ada, `{"client_account_key":"ada-2",`+registration+`}`)
	c.send("PUT", "accounts/"+bob+"/plastic", `{"plastic_enabled":true}`)
	c.send("POST", "accounts/"+ada+"/wallet/applepay", `{"nonce":"n","nonce_signature":"s","certificates":["c"]}`)
	c.send("POST", "accounts/"+ada+"/dip", `{"application_id":"0a1b2c3d-0000-4000-8000-000000000001","key_id":"0a1b2c3d-0000-4000-8000-000000000002","ephemeral_key":"`+strings.Repeat("B", 43)+`="}`)
	c.send("POST", "accounts/"+ada+"/directentryout", `{"request_id":"de-1","amount":1.25,"source_reference":"s","destination_reference":"d","bsb":"062000",
		"destination_account_info":{"bsb":"062000","account_number":"123","account_name":"Jo Payee"}}`)
	transfer("2.50", "r-1")
	transfer("2.50", "r-1")
	transfer("99999", "r-2")

	merchant := `"merchant_name_location":"SHOP","originating_transaction":7,"currency":"036","card_acceptor_id":"SHOP","correlation_id":"c-1","merchant_category":"5411","terminal_id":"T1","acquirer_id":"400001"`
	redeemed := c.send("POST", "funding/redemptions", `{"amount":1.5,"account_id":"`+ada+`","funding_exception":"no_exception","clearing_adjustment":false,`+merchant+`}`)
	c.send("POST", "funding/reversals", `{"account_id":"`+ada+`","originating_transaction":7,"correlation_id":"c-1","parent_transaction_id":`+member(t, redeemed, "transaction_id")+`,"clearing_adjustment":false}`)
	c.send("POST", "funding/refunds", `{"amount":0,"account_id":"`+ada+`",`+merchant+`}`)

	sale := `"transaction_type":"Purchase","account_id":"` + ada + `","amount":"18.90","acquirer_id":"400001","merchant_id":"SHOP","terminal_id":"T1","mcc":"5942"`
	bank := `,"bank_name":"Bank","location":"Sydney","location_code":"NSW","currency_code":"AUD"`
	authorised := c.send("POST", "simulation/transact", `{`+sale+bank+`}`)
	same := `,"authorization_id":"` + member(t, authorised, "authorization_id") + `"}`
	c.send("POST", "simulation/advice", `{`+sale+bank+same)
	c.send("POST", "simulation/reverse", `{`+sale+bank+same)
	c.send("POST", "simulation/clear", `{`+sale+same)
	c.send("POST", "simulation/reverse_clear", `{`+sale+same)

	device := `"device_id":"phone","ip_address":"192.0.2.1"`
	c.send("POST", "pin/initiate", `{"eaid":"`+ada+`","communication_method":"sms",`+device+`}`)
	change := c.PINChanges(prepaid.AccountID(ada))[0]
	key, err := prepaid.NewPINKey(c.PINCertificate(), prepaid.PINKeyOptions{})
	require.NoError(t, err)
	envelope, err := key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(change.OTP), PIN: prepaid.NewSecret("7351")})
	require.NoError(t, err)
	sealed, err := json.Marshal(envelope)
	require.NoError(t, err)
	for _, step := range []string{"validate", "execute", "execute"} {
		c.send("POST", "pin/"+step, `{`+device+`,"operation_id":"`+change.OperationID+`",`+string(sealed[1:]))
	}

	hook := member(t, c.send("POST", "hooks", `{"uri":"https://receiver.example/in","scope":[42],"filter_spec":"*","enabled":false,"reliability_mode":"none",
		"hmac_key_id":"k","hmac_key_secret":"`+strings.Repeat("ab", 32)+`"}`), "id")
	c.send("GET", "hooks?page_size=10", "")
	c.send("GET", "hooks/"+hook, "")
	c.send("PATCH", "hooks/"+hook, `{"uri":"https://receiver.example/other","reliability_mode":"store_undeliverable"}`)
	c.send("GET", "hooks/"+hook+"/undeliverable", "")
	c.send("POST", "hooks/"+hook+"/undeliverable/dismiss", `{"message_ids":["0a1b2c3d-0000-4000-8000-000000000001"]}`)
	c.send("DELETE", "hooks/"+hook, "")

	// Failing requests.
	c.send("GET", "accounts/EA404", "")
	c.send("PUT", "accounts/"+ada+"/status", `{"status":"activated"}`)
	c.send("PUT", "accounts/"+bob+"/status", `{"status":"suspected_fraud"}`)
	c.send("POST", "accounts/"+bob+"/transfer", `{"request_id":"r-3","amount":-1}`)
	for _, fault := range []string{"commit-then-drop", "proxy-page 502", "delay 10ms", "too-many-requests", "truncate", "drop-before-commit"} {
		parsed, err := prepaidtest.ParseFault(fault)
		require.NoError(t, err)
		c.Inject("POST /accounts/{id}/transfer", parsed)
		transfer("1", "f-"+strings.Fields(fault)[0])
	}
	// A story: a failure, the repeat that pays, and one that gets the kept response, with changes from elsewhere in between.
	c.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(500, ""))
	transfer("400", "s-1")
	c.SetStatus("EA-ADA", "inactive")
	transfer("400", "s-2")
	c.SetStatus("EA-ADA", "active")
	transfer("400", "s-1")
	c.Adjust("EA-ADA", "1000.00")
	transfer("400", "s-3")
	transfer("400", "s-1")
	expire, err := prepaidtest.ParseFault("expire-token")
	require.NoError(t, err)
	c.Inject("GET /hooks", expire)
	c.send("GET", "hooks", "")
	c.send("GET", "accounts/"+ada+"/tokens", "")
	return c
}

// The tests for a request of each operation are complete: they compile and reproduce the log. The package exists only for the
// compiler, and imports nothing that another module could not.
func TestEveryOperationBecomesATestThatPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs a package")
	}
	t.Parallel()
	c := everything(t)
	root, err := filepath.Abs("../../../..")
	require.NoError(t, err)
	imported := regexp.MustCompile(`(?m)^\t"[^"]*\.[^"]*/[^"]*"$`)
	written, overlay := t.TempDir(), map[string]string{}
	write := func(name string, requests ...prepaidtest.Request) {
		text, err := Write(c.Server, requests...)
		require.NoError(t, err, name)
		require.NotRegexp(t, `Clarke|Hopper|\[REDACTED\]`, text)
		require.Subset(t, []string{"\t\"github.com/cardprograms/prepaid\"", "\t\"github.com/cardprograms/prepaid/prepaidtest\""}, imported.FindAllString(text, -1))
		overlay[filepath.Join(root, "docs", name)] = filepath.Join(written, name)
		require.NoError(t, os.WriteFile(filepath.Join(written, name), []byte(text), 0o600))
	}
	missing := prepaidtest.Operations()
	for _, request := range c.Requests() {
		missing = slices.DeleteFunc(missing, func(name string) bool { return name == request.Method+" "+request.Template })
		write(fmt.Sprintf("request_%03d_test.go", request.Number), request)
	}
	require.Empty(t, missing, "operations without a request")
	stories := slices.Collect(slices.Chunk(c.Requests(), maxRequests))
	stories = append(stories, slices.DeleteFunc(c.Requests(), func(r prepaidtest.Request) bool { return !strings.HasPrefix(string(r.RequestID), "s-") }))
	for i, story := range stories {
		write(fmt.Sprintf("story_%d_test.go", i), story...)
	}
	payments := stories[len(stories)-1]
	text, err := Write(c.Server, payments...)
	require.NoError(t, err)
	require.Regexp(t, `(?s)Balance: "1000000.00".*"respond 500".*RequestID: +"s-1".*SetStatus\("EA-ADA", "inactive"\).*"s-2".*SetStatus\("EA-ADA", "active"\).*"s-1".*"s-3".*"s-1".*Replayed`, text)
	require.Equal(t, 1, strings.Count(text, "ParseFault("))
	require.Equal(t, []bool{false, false, true, true, false}, []bool{Moved(payments[0]), Moved(payments[1]), Moved(payments[2]), Moved(payments[3]), Moved(payments[4])})
	_, err = Write(c.Server)
	require.ErrorContains(t, err, "select 1 to 50 requests")
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(written, "overlay.json"), replace, 0o600))
	command := exec.CommandContext(t.Context(), "go", "test", "-vet=all", "-count=1", "-overlay="+filepath.Join(written, "overlay.json"), "./docs")
	command.Dir = root
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%d files: %s", len(overlay), out)
}

// For any program's request there is a test, or a plain reason why not.
func TestNoRequestIsTooOdd(t *testing.T) {
	t.Parallel()
	c := newCaller(t)
	c.AddAccount(prepaidtest.SeedAccount{ID: "EA-ADA", Balance: "-5.00"})
	for _, operation := range prepaidtest.Operations() {
		method, path, _ := strings.Cut(operation, " ")
		for _, id := range []string{"EA-ADA", "42", `a%2Fb%22%60%0A`} {
			path := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path[1:], id)
			for _, body := range []string{
				"", "{}", "[]", "null", "{", `{"amount":"x"}`, `{"amount":0,"account_id":"EA-ADA","message_ids":"x","status":5,"uri":7,"add":[{}]}`,
				`{"amount":1,"account_id":"` + "`" + `\n\"); panic(1) //","message_ids":["\"+x"],"status":"lost","uri":"http://x@y/?z","hmac_key_secret":"s","enabled":true}`,
			} {
				c.send(method, path, body)
			}
			c.send(method, path+"?page_size=x&start_date=soon&include_column_headers=perhaps&with_personal=1&status=%22&x=1", "")
		}
	}
	written := 0
	for _, request := range c.Requests() {
		text, err := Write(c.Server, request)
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
				require.NotContains(t, string(fillIn(fmt.Sprintf(body, name))), "canary")
			}
		}
	}
	require.JSONEq(t, `{"display_name":"Fictional","client_account_key":"k","amount":1.50,"ip_address":"192.0.2.1"}`,
		string(fillIn(`{"display_name":"Ada","client_account_key":"k","amount":1.50,"ip_address":"203.0.113.7"}`)))
	require.JSONEq(t, `{"display_name":""}`, string(fillIn(`{"display_name":""}`)), "which clears it")
}
