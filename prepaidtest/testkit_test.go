package prepaidtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

func (c *caller) lastRequest() Request {
	requests := c.Requests()
	return requests[len(requests)-1]
}

func TestRequest_ErrorAndClient(t *testing.T) {
	t.Parallel()
	c := start(t, Options{FrozenClock: true})
	id := c.AddAccount(SeedAccount{})
	c.get("accounts/" + id).ok()
	good := c.lastRequest()
	require.Empty(t, good.ErrorCode)
	require.Empty(t, good.ErrorDescription)
	require.Equal(t, "127.0.0.1", good.Client)
	require.Contains(t, good.ResponseBody, id)
	require.NotContains(t, fmt.Sprintf("%+v %#v", good, good), "balance")

	c.do("PUT", "accounts/"+id+"/status", `{"status":"hunter2"}`).refused(400, "invalid_request")
	bad := c.lastRequest()
	require.Equal(t, "invalid_request", bad.ErrorCode)
	require.Contains(t, bad.ErrorDescription, "status must be one of")
	require.Contains(t, bad.ResponseBody, bad.ErrorDescription)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		line := fmt.Sprintf(verb, bad)
		require.Contains(t, line, " 400 invalid_request: "+bad.ErrorDescription)
		require.NotContains(t, line, "hunter2")
	}
	c.Inject(codesOperation, Respond(503, "").Times(2), RespondBody(400, vendorJSON, `{"error":"x","error_description":"hunter2"}`), CommitThenDrop())
	c.get("policy/mccodes")
	require.Contains(t, fmt.Sprint(c.lastRequest()), "503 server_error: injected (fault)")
	c.get("policy/mccodes")
	c.get("policy/mccodes")
	require.Empty(t, c.lastRequest().ErrorCode)
	require.Contains(t, c.lastRequest().ResponseBody, "hunter2")
	require.NotContains(t, fmt.Sprint(c.lastRequest()), "hunter2")
	_, _ = c.try("GET", "policy/mccodes?page_size=1", "", c.header("")) // net/http may repeat it
	var dropped Request
	for _, request := range c.Requests() {
		if request.Fault && request.Status == 0 {
			dropped = request
		}
	}
	require.Contains(t, dropped.ResponseBody, `"code"`, "what the caller would have got")
}

func TestRequest_AnswerIsMaskedAndCut(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	token := c.newToken()
	require.Contains(t, c.lastRequest().ResponseBody, `"access_token":"[REDACTED]"`)
	require.Contains(t, c.lastRequest().ResponseBody, `"token_type":"bearer"`)

	c.Inject("POST /token", RespondBody(200, "text/html", `<p>access_token hunter2`), RespondBody(200, vendorJSON, `[{"access_token":"hunter2"}]`),
		RespondBody(200, vendorJSON, `{"deep":{"access_token":"hunter2"}}`))
	c.unchecked = true
	for range 3 {
		c.tokenRequest(basic("emulator-client", "emulator-secret"), "grant_type=client_credentials").ok()
		require.Equal(t, requestlog.Masked, c.lastRequest().ResponseBody)
	}

	id := c.AddAccount(SeedAccount{})
	wallet := c.post("accounts/"+id+"/wallet/applepay", `{"nonce":"n","nonce_signature":"s","certificates":["c"]}`).ok().object()
	require.NotEmpty(t, wallet["encrypted_pass_data"])
	other := c.post("accounts/"+id+"/wallet/googlepay", `{}`).ok().object()
	require.NotEmpty(t, other["issuer_initiated_digitization_data"])
	c.AddApplication("0a1b2c3d-0000-4000-8000-000000000001", "0a1b2c3d-0000-4000-8000-000000000002")
	dip := c.post("accounts/"+id+"/dip", `{"application_id":"0a1b2c3d-0000-4000-8000-000000000001","key_id":"0a1b2c3d-0000-4000-8000-000000000002",`+
		`"ephemeral_key":"`+strings.Repeat("A", 43)+`="}`).ok()
	require.Equal(t, requestlog.Masked, c.lastRequest().ResponseBody)
	log, err := json.Marshal(c.Requests())
	require.NoError(t, err)
	for _, secret := range []any{
		token, string(dip.body), wallet["encrypted_pass_data"], wallet["activation_data"], wallet["ephemeral_public_key"], other["issuer_initiated_digitization_data"],
	} {
		require.NotContains(t, string(log), secret)
	}
	c.post("accounts/"+id+"/dip", `{}`).refused(400, "bad_application_id")
	require.Contains(t, c.lastRequest().ResponseBody, "bad_application_id")

	for range 50 {
		c.AddAccount(SeedAccount{})
	}
	c.get("accounts/company/42?page_size=50")
	require.Len(t, c.lastRequest().ResponseBody, 16<<10)
}

// watched is a test whose result and log can be inspected.
type watched struct {
	failures
	failed  bool
	logs    []string
	cleanup []func()
}

// Failed returns the result that the test has set.
func (w *watched) Failed() bool { return w.failed }

// Logf keeps the line.
func (w *watched) Logf(format string, args ...any) {
	w.logs = append(w.logs, fmt.Sprintf(format, args...))
}

// Cleanup keeps the function.
func (w *watched) Cleanup(do func()) { w.cleanup = append(w.cleanup, do) }

func (w *watched) end() {
	for _, do := range w.cleanup {
		do()
	}
}

func TestLogOnFailure(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	for _, failed := range []bool{true, false} {
		w := &watched{failures: failures{TB: t}, failed: failed}
		c := startFor(t, w, Options{WebhookRoots: r.pool()})
		c.token = c.newToken()
		c.addHook(hookText(t, r.URL, nil))
		id := c.AddAccount(SeedAccount{Balance: "1"})
		for range 11 {
			c.Adjust(id, "1")
		}
		c.quiet()
		for range 25 {
			c.get("accounts/company/42?first_name=Ada")
		}
		c.do("PUT", "accounts/"+id+"/status", `{}`)
		w.end()
		if !failed {
			require.Empty(t, w.logs)
			continue
		}
		require.Len(t, w.logs, 2)
		require.Equal(t, failureRequests, strings.Count(w.logs[0], "\n"))
		require.Contains(t, w.logs[0], "invalid_request: invalid fields: status is required")
		require.NotContains(t, w.logs[0], "Ada")
		require.Equal(t, 10, strings.Count(w.logs[1], "\n"))
		require.Contains(t, w.logs[1], "attempt 1: 200")
		require.NotContains(t, w.logs[1], "ping")
	}
}

func TestAllowOnly(t *testing.T) {
	t.Parallel()
	recorder := &failures{TB: t}
	c := startFor(t, recorder, Options{})
	c.AllowOnly("GET /hooks", codesOperation)
	c.token = c.newToken()
	c.get("policy/mccodes").ok()
	require.Empty(t, recorder.messages)
	id := c.AddAccount(SeedAccount{})
	c.do("PUT", "accounts/"+id+"/status", `{"status":"closed"}`).refused(501, "unexpected_request")
	require.Equal(t, "active", c.Status(id))
	require.Equal(t, []string{"prepaidtest: unexpected request: PUT /accounts/{id}/status; allowed are GET /hooks, GET /policy/mccodes"}, recorder.messages)
	c.get("hunter2").refused(501, "unexpected_request")
	require.Len(t, recorder.messages, 2)
	require.NotContains(t, recorder.messages[1], "hunter2")
	c.AllowOnly("PUT /nothing")
	require.Len(t, recorder.messages, 3)
	c.get("hooks").empty(204)
	c.AllowOnly()
	c.do("PUT", "accounts/"+id+"/status", `{"status":"closed"}`).empty(200)
	require.Len(t, recorder.messages, 3)
}
