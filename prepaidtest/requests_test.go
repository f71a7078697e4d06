package prepaidtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

// The log has the subject of a request with any result, and marks repeats of a request id.
func TestRequest_SubjectAndRepeats(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "10"}), c.AddAccount(SeedAccount{})
	body := func(amount, id string) string {
		return fmt.Sprintf(`{"amount":%s,"request_id":%q,"source_reference":"s","destination_reference":"d","destination_account_id":%q,"transaction_type":1}`, amount, id, to)
	}
	c.Inject("POST /accounts/{id}/transfer", Respond(503, "").Times(1).WithProbability(1))
	c.post("accounts/"+string(from)+"/transfer", body("2.50", "r-1")).refused(503, "server_error")
	c.post("accounts/"+string(from)+"/transfer", body("2.50", "r-1")).ok()
	c.post("accounts/"+string(from)+"/transfer", body("2.50", "r-1")).ok()
	c.post("accounts/"+string(from)+"/transfer", body("1", "r-2")).ok()
	c.send("POST", "accounts/"+string(from)+"/transfer", body("1", "r-2"), http.Header{"Authorization": {"Bearer none"}})

	requests := c.Requests()[1:] // the first is for the token
	refused, moved, again, other, stranger := requests[0], requests[1], requests[2], requests[3], requests[4]
	require.Equal(t, []any{prepaid.AccountID(from), "2.50", prepaid.RequestID("r-1"), "active", "10.00"}, []any{refused.AccountID, refused.Amount, refused.RequestID, refused.AccountStatus, refused.AccountBalance})
	require.Equal(t, "respond 503", refused.FaultForm)
	require.Equal(t, []int64{0, refused.Number, refused.Number, 0, other.Number}, []int64{refused.RepeatOf, moved.RepeatOf, again.RepeatOf, other.RepeatOf, stranger.RepeatOf})
	require.Equal(t, []bool{false, false, true, false}, []bool{refused.Replayed, moved.Replayed, again.Replayed, other.Replayed})
	require.Equal(t, "7.50", again.AccountBalance)
	require.Empty(t, moved.FaultForm)
	require.Equal(t, []string{"1", "r-2"}, []string{stranger.Amount, string(stranger.RequestID)}, "it was refused before anybody read it")

	c.post("pin/initiate", `{"eaid":"`+string(from)+`"}`)
	require.EqualValues(t, from, c.lastRequest().AccountID)
	c.get("accounts/EA404")
	require.EqualValues(t, "EA404", c.lastRequest().AccountID)
	require.Empty(t, c.lastRequest().AccountStatus)
	c.post("accounts", `{"initial_load_amount":0x1f,"request_id":["r-1"]}`)
	require.Equal(t, []string{"31.00", ""}, []string{c.lastRequest().Amount, string(c.lastRequest().RequestID)})
}

func TestRequest_SubjectsHideSecrets(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, text := range []string{`{"request_id":"pin=hunter2"}`, `{"account_id":"https://hunter2@a.example/"}`, `{"amount":"{\"otp\":\"hunter2\"}"}`, `{"eaid":{"pin":"hunter2"}}`} {
		c.post("simulation/transact", text)
	}
	c.Inject("POST /simulation/transact", RespondBody(200, "text/html", "access_token=hunter2"))
	c.post("simulation/transact", `{}`)
	require.Equal(t, `respond-body 200 "text/html" "[REDACTED]"`, c.lastRequest().FaultForm)
	c.post("simulation/transact", `{"request_id":"`+strings.Repeat("é", 300)+`"}`)
	require.EqualValues(t, strings.Repeat("é", 100), c.lastRequest().RequestID)
	require.NotContains(t, c.logText(), canary)
}

// canary is a secret that must not be seen in the log.
const canary = "hunter2"

func (c *caller) logText() string {
	c.t.Helper()
	text, err := json.Marshal(c.Requests())
	require.NoError(c.t, err)
	return string(text)
}

func TestRequests_HideSecretsInEveryForm(t *testing.T) {
	t.Parallel()
	c := start(t, Options{RateLimit: -1})
	for path, names := range map[string][]string{
		"hooks": {"hmac_key_secret", "nonce", "pin"}, "accounts/x/dip": {"ephemeral_key", "Ephemeral_Key"},
		"pin/execute": {"encrypted_data", "encrypted_key", "iv", "otp"}, "accounts/x/wallet/applepay": {"nonce", "nonce_signature", "certificates"},
		"accounts": {"PIN", "clientSecret", "pan", `p\u0069n`, "\uff50in", "unlisted", "api key"},
	} {
		for _, name := range names {
			for _, form := range []string{
				`{"%":"hunter2"}`, `{"%":["hunter2"]}`, `{"%":{"value":"hunter2"}}`, `{ "%" : "hunter2" }`, `{"registration":{"title":[1,{"%":"hunter2"}]}}`,
				`{"%":"hunter2","%":"hunter2"}`, `{"uri":{"%":"hunter2"},"a":{}}`, `[{"%":"hunter2"}]`, `{"%":"hunter2"`, `{"%":"hunter2"}}`,
				`{"uri":1}{"%":"hunter2"}`, `%=hunter2`, `{'%':'hunter2'}`, "\ufeff" + `{"%":"hunter2"}`, `{"%":"hunter2","bad":"` + "\xff" + `"}`,
			} {
				c.post(path, strings.ReplaceAll(form, "%", name))
				require.NotContains(t, c.lastRequest().Body, canary, form)
			}
		}
	}
	for _, text := range []string{
		"hunter2", `"hunter2"`, `["hunter2"]`, "grant_type=client_credentials&client_secret=hunter2",
		`{"display_name":"pin=hunter2"}`, `{"display_name":"{\"otp\":\"hunter2\"}"}`, `{"display_name":"https://a.example/?Access_Token=hunter2"}`,
		`{"registration":{"first_name":"Jos\u00e9","last_name":"my Password is: hunter2"}}`, `{"pin":"` + strings.Repeat("hunter2", requestlog.MaxMaskedBody/7+1) + `"}`,
	} {
		c.post("accounts", text)
		c.do("PUT", "nowhere", text)
		c.tokenRequest(basic("emulator-client", canary), text)
	}
	require.NotContains(t, c.logText(), canary)
}

func TestRequests_ShowFewHeadersAndOwnParameters(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	header := c.header("")
	for _, name := range []string{"X-Api-Key", "Cookie", "Proxy-Authorization", "X-Hmac-Secret", "Referer"} {
		header[name] = []string{canary, canary}
	}
	header.Set("Accept", vendorJSON)
	header.Set("Traceparent", "00-1-2-03")
	c.send("GET", "accounts/company/42?first_name=Ada&page_size=7&access_token=hunter2&token=hunter2&client_secret=hunter2&First_Name=hunter2", "", header)
	got := c.lastRequest()
	require.Equal(t, "Ada", got.Query.Get("first_name"))
	require.Equal(t, "7", got.Query.Get("page_size"))
	require.Equal(t, requestlog.Masked, got.Query.Get("access_token"))
	require.Equal(t, []string{requestlog.Masked, requestlog.Masked}, got.Header["X-Api-Key"])
	require.Equal(t, []string{"Bearer " + requestlog.Masked, vendorJSON, "00-1-2-03"},
		[]string{got.Header.Get("Authorization"), got.Header.Get("Accept"), got.Header.Get("Traceparent")})
	for _, path := range []string{"nowhere?page_size=hunter2", "hooks/x?page_size=hunter2", "token?client_secret=hunter2", "policy/mccodes?first_name=hunter2"} {
		c.get(path)
	}
	c.send("GET", "hooks", "", http.Header{"Authorization": {canary, "Bearer " + canary}})
	require.NotContains(t, c.logText(), canary)
	require.Equal(t, []string{canary, canary}, header["X-Api-Key"], "the caller's own")
}

// No request and no response in the log has the user information of a hook's address; they have the rest of the address.
func TestSpec_4_8_UserInformationInAnAddress(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	uri := "https://ann:hunter2@partner.example:8443/a@b?c=d#e"
	made := c.post("hooks", hookText(t, uri, map[string]any{"enabled": false}))
	require.Equal(t, 201, made.status)
	id := made.object()["id"].(string)
	require.Contains(t, string(c.get("hooks").ok().body), uri)
	require.Contains(t, string(c.get("hooks/"+id).ok().body), uri)
	require.Equal(t, uri, c.Hooks()[0].URI)
	printed := fmt.Sprintf("%v %+v %#v %s %v", c.Hooks(), c.Hooks()[0], c.Hooks(), c.Hooks(), c.Hooks()[0].LogValue())
	require.NotContains(t, printed, canary)
	require.Contains(t, printed, "@partner.example:8443/a@b")
	for _, text := range []string{
		`{"uri":"https://hunter2@partner.example"}`, `{"uri":"https:\/\/ann:hunter2@partner.example"}`, `{"uri":"https://hunter2 x@partner.example/"}`,
		`{"uri":"https://hunter2\"x@partner.example/"}`, `{"uri":["https://hunter2@a.example","https://b.example https://hunter2@a.example"]}`,
	} {
		c.do("PATCH", "hooks/"+id, text)
		require.NotContains(t, c.logText(), canary, text)
	}
	var bodies, responses []string
	for _, request := range c.Requests() {
		bodies, responses = append(bodies, request.Body), append(responses, request.ResponseBody)
	}
	shown := "https://" + requestlog.Masked + "@partner.example:8443/a@b?c=d#e"
	require.Contains(t, strings.Join(bodies, "\n"), shown)
	require.Contains(t, strings.Join(responses, "\n"), shown)
}

// endless is a body that never ends.
type endless struct{}

// Read fills p.
func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestBody_EndlessIsReadOnlySoFar(t *testing.T) {
	t.Parallel()
	s := NewServer(t, Options{})
	request, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"accounts", endless{})
	require.NoError(t, err)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request)
	require.Equal(t, 413, w.Code)
}
