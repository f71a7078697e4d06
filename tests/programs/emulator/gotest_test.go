package emulator

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// sender sends requests like any program, and counts them.
type sender struct {
	*Process
	number int // of the last request
}

// send returns the body of the response; empty when the connection was cut.
func (s *sender) send(method, path, body string) string {
	s.T.Helper()
	if s.Token == "" {
		s.number++ // a request for a token
	}
	s.number++
	reply, _ := s.TryCall(method, path, body)
	return reply.Body
}

// member is a JSON object's member.
func member(t *testing.T, text, name string) string {
	t.Helper()
	var members map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &members), text)
	return fmt.Sprint(members[name])
}

// everything sends a request of each operation, and some that fail. It returns the numbers of those that tell a story.
func everything(t *testing.T) (c *sender, story []int) {
	t.Helper()
	const ada, bob = "EA-ADA", "EA-BOB"
	seed := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, os.WriteFile(seed, []byte(`{"companies":[{"id":42,"client_id":"acme"},{"id":77,"client_id":"northwind","program_id":"nw","loop":"closed"}],
		"accounts":[{"account_id":"EA-ADA","balance":500.00,"client_account_key":"ada","wallet_tokens":[{}]},{"account_id":"EA-BOB"}],
		"reports":[{"template":"settlement","csv":"id,amount\n1,2.50\n"}]}`), 0o600))
	c = &sender{Process: Start(t, "-log", "off", "-no-rate-limit", "-report-delay", "0s", "-seed", seed)}
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
	var pending struct {
		Changes []struct {
			OperationID string `json:"operation_id"`
			OTP         string
		} `json:"pin_changes"`
	}
	require.NoError(t, json.Unmarshal([]byte(c.JSON("accounts/"+ada)), &pending))
	change := pending.Changes[0]
	key, err := prepaid.NewPINKey([]byte(c.Get("pin-certificate.pem").Body), prepaid.PINKeyOptions{})
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
	arm := func(operation, fault string) {
		require.Equal(t, http.StatusOK, c.Control("faults", url.Values{"operation": {operation}, "fault": {fault}}.Encode()).Status)
	}
	for _, fault := range []string{"commit-then-drop", "proxy-page 502", "delay 10ms", "too-many-requests", "truncate", "drop-before-commit"} {
		arm("POST /accounts/{id}/transfer", fault)
		transfer("1", "f-"+strings.Fields(fault)[0])
	}
	// A story: a failure, the repeat that pays, and one that gets the kept response, with changes from elsewhere in between.
	arm("POST /accounts/{id}/transfer", "respond 500")
	tell := func(id string) {
		transfer("400", id)
		story = append(story, c.number)
	}
	tell("s-1")
	c.Control("accounts/"+ada+"/status", "status=inactive")
	tell("s-2")
	c.Control("accounts/"+ada+"/status", "status=active")
	tell("s-1")
	c.Control("accounts/"+ada+"/adjust", "amount=1000.00")
	tell("s-3")
	tell("s-1")
	arm("GET /hooks", "expire-token")
	c.send("GET", "hooks", "")
	c.send("GET", "accounts/"+ada+"/tokens", "")
	return c, story
}

// goTest is the page's Go test of requests.
func (s *sender) goTest(numbers ...int) string {
	s.T.Helper()
	query := url.Values{}
	for _, number := range numbers {
		query.Add("n", strconv.Itoa(number))
	}
	got := s.Get("requests/test?" + query.Encode())
	require.Equal(s.T, http.StatusOK, got.Status, "%v: %s", numbers, got.Body)
	text := regexp.MustCompile(`(?s)<pre id="go-text"[^>]*>(.*?)</pre>`).FindStringSubmatch(got.Body)
	require.Len(s.T, text, 2)
	return html.UnescapeString(text[1])
}

// The tests for a request of each operation are complete: they compile and reproduce the log. The package exists only for the
// compiler, and imports nothing that another module could not.
func TestEveryOperationBecomesATestThatPasses(t *testing.T) {
	t.Parallel()
	c, payments := everything(t)
	for _, operation := range prepaidtest.Operations() {
		require.Contains(t, c.Get("requests?operation="+url.QueryEscape(operation)).Body, ` data-key="r`, "no request of %s", operation)
	}
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	imported := regexp.MustCompile(`(?m)^\t"[^"]*\.[^"]*/[^"]*"$`)
	written, overlay := t.TempDir(), map[string]string{}
	write := func(name string, numbers ...int) string {
		text := c.goTest(numbers...)
		require.NotRegexp(t, `Clarke|Hopper|\[REDACTED\]`, text)
		require.Subset(t, []string{"\t\"github.com/cardprograms/prepaid\"", "\t\"github.com/cardprograms/prepaid/prepaidtest\""}, imported.FindAllString(text, -1))
		overlay[filepath.Join(root, "docs", name)] = filepath.Join(written, name)
		require.NoError(t, os.WriteFile(filepath.Join(written, name), []byte(text), 0o600))
		return text
	}
	var all []int
	for n := 1; n <= c.number; n++ {
		all = append(all, n)
		write(fmt.Sprintf("request_%03d_test.go", n), n)
	}
	for story := range slices.Chunk(all, mostRequests) {
		write(fmt.Sprintf("story_%d_test.go", story[0]), story...)
	}
	require.Equal(t, http.StatusUnprocessableEntity, c.Get("requests/test?n="+strconv.Itoa(c.number+1)).Status, "there is no other request")
	text := write("payments_test.go", payments...)
	require.Regexp(t, `(?s)Balance: "1000000.00".*"respond 500".*RequestID: +"s-1".*SetStatus\("EA-ADA", "inactive"\).*"s-2".*SetStatus\("EA-ADA", "active"\).*"s-1".*"s-3".*"s-1".*Replayed`, text)
	require.Equal(t, 1, strings.Count(text, "ParseFault("))
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(written, "overlay.json"), replace, 0o600))
	command := exec.CommandContext(t.Context(), "go", "test", "-vet=all", "-count=1", "-overlay="+filepath.Join(written, "overlay.json"), "./docs")
	command.Dir = root
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%d files: %s", len(overlay), out)
}

// mostRequests is the limit of a test.
const mostRequests = 50
