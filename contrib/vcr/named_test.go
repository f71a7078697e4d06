package prepaidvcr_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
)

// later is a service with members and paths that the SDK does not know.
func later(bodies map[string]string) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		body := `{"access_token":"t","token_type":"bearer","expires_in":3600,"scope":"Leaked"}`
		if !strings.HasSuffix(req.URL.Path, "/token") {
			body = bodies[req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]]
		}
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}, "Set-Cookie": {"Leaked"}}, Request: req,
			Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	})
}

// config reaches later.
var config = prepaid.Config{
	BaseURL: "https://cards.invalid/3.0/", Vendor: "vendor", TestEnvironment: true, ClientID: "x", ClientSecret: prepaid.NewSecret("y"),
}

// limits are members of a later version.
type limits struct {
	Daily    prepaid.Amount `json:"daily_limit"`
	Nickname string         `json:"nickname"`
	Words    []string       `json:"words"`
	Tiers    []struct {
		On bool `json:"on"`
	} `json:"tiers"`
}

func raw(t *testing.T, c *prepaid.Client, path, query string, body, out any) error {
	t.Helper()
	r := prepaid.RawRequest{Method: http.MethodGet, Path: path, PathValues: map[string]string{"id": "EA1"}, Body: body}
	if query != "" {
		r.Query = map[string][]string{query: {"Leaked"}}
	}
	if body != nil {
		r.Method = http.MethodPost
	}
	return c.Do(t.Context(), r, out)
}

const knownAccount = `{"account_id":"EA1","external_account_id":"X1","company_id":7,"balance":1.50,"plastic_expiry":"2030-01-01T00:00:00Z",` +
	`"status":"active","daily_limit":250.00}`

// A recording keeps the names that the program lists, and a replay distinguishes the calls.
func TestNamesOfTheProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "named")
	options := prepaidvcr.Options{
		Mode: prepaidvcr.ModeRecord, Keep: []string{"daily_limit", "tiers", "on", "since", "words"}, Scrub: []string{"nickname", "unused"},
		Calls:     []string{"GET /accounts/{id}/limits", "GET /accounts/{id}/fees", "POST /accounts/{id}/limits"},
		Transport: later(map[string]string{"EA1": knownAccount, "limits": `{"daily_limit":99.50,"nickname":"Mira","words":["low"],"tiers":[{"on":true}]}`, "fees": `{"daily_limit":7}`}),
	}
	recorder, c := open(t, path, options, config)
	get := func(path string) (got limits) {
		require.NoError(t, raw(t, c, path, "", nil, &got))
		return got
	}
	get("/accounts/{id}/limits")
	get("/accounts/{id}/fees")
	get("/accounts/{id}")
	require.NoError(t, raw(t, c, "/accounts/{id}/limits", "", map[string]string{"since": "2026-01-01T00:00:00Z", "nickname": "Mira"}, nil))
	require.NoError(t, c.Close())
	require.NoError(t, recorder.Stop())
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	require.NotRegexp(t, "Mira|Leaked", string(content))
	require.NotContains(t, string(content), "EA1\n")
	require.NotContains(t, string(content), "unused")

	recorder, c = replay(t, path, prepaidvcr.Options{})
	require.Equal(t, "250.00", get("/accounts/{id}").Daily.String())
	require.Equal(t, "7.00", get("/accounts/{id}/fees").Daily.String())
	require.NoError(t, raw(t, c, "/accounts/{id}/limits", "", map[string]string{"since": "2026-05-05T00:00:00Z", "nickname": "Joe"}, nil))
	got := get("/accounts/{id}/limits")
	require.Equal(t, "99.50", got.Daily.String())
	require.Equal(t, "Joe", got.Nickname)
	require.Equal(t, []string{"low"}, got.Words)
	require.True(t, got.Tiers[0].On)
	require.NoError(t, recorder.Stop())

	for from, to := range map[string]string{
		"                - daily_limit\n": "                - daily_limit\n                - Mira\n",
		"GET /accounts/{id}/fees\n":       "GET /accounts/{id}/limits\n",
		"- nickname\n":                    "- tiers\n",
	} {
		edited := strings.Replace(string(content), from, to, 1)
		require.NotEqual(t, string(content), edited)
		require.Error(t, prepaidvcr.Check(strings.NewReader(edited)), from)
	}
	for _, scrubbed := range []string{"hmac_key_secret", "first_name", "access_token", "mobile", "otp", "pin", "client_secret"} {
		options.Keep = []string{"on", scrubbed}
		_, err = prepaidvcr.New(path, options)
		require.ErrorContains(t, err, "Options.Keep has "+scrubbed+", which the SDK scrubs")
	}
	options.Keep, options.Calls = nil, []string{"GET limits"}
	_, err = prepaidvcr.New(path, options)
	require.ErrorContains(t, err, "without the required form")
}

// A recording that would leave out a value is not written: a replay would show zero for it.
func TestUnnamedValuesAreRefused(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		path, query, response string
		body                  any
	}{
		"an unknown operation request path":                    {path: "/accounts/{id}/novel", response: "{}"},
		"Accounts.Get response body.daily_limit":               {path: "/accounts/{id}", response: knownAccount},
		"Accounts.Get response body.balance":                   {path: "/accounts/{id}", response: strings.NewReplacer("1.50", "1.23456", `,"daily_limit":250.00`, "").Replace(knownAccount)},
		"GET /accounts/{id}/limits response body.(unknown)":    {path: "/accounts/{id}/limits", response: `{"Leaked":1}`},
		"GET /accounts/{id}/limits response body.listed":       {path: "/accounts/{id}/limits", response: `[{"listed":[false]}]`},
		"GET /accounts/{id}/limits response body":              {path: "/accounts/{id}/limits", response: `[true]`},
		"GET /accounts/{id}/limits request query new_name":     {path: "/accounts/{id}/limits", query: "new_name", response: "{}"},
		"POST /accounts/{id}/limits request body.(unknown)":    {path: "/accounts/{id}/limits", body: map[string]int{"leaked": 1}, response: "{}"},
		"POST /accounts/{id}/limits request body.listed.new_a": {path: "/accounts/{id}/limits", body: map[string]any{"listed": map[string]int{"new_a": 1}}, response: "{}"},
	} {
		path := filepath.Join(t.TempDir(), "refused")
		recorder, c := open(t, path, prepaidvcr.Options{
			Mode: prepaidvcr.ModeRecord, Scrub: []string{"listed"}, Calls: []string{"GET /accounts/{id}/limits", "POST /accounts/{id}/limits"},
			Transport: later(map[string]string{"EA1": test.response, "limits": test.response, "novel": test.response}),
		}, config)
		require.NoError(t, raw(t, c, test.path, test.query, test.body, nil))
		require.NoError(t, c.Close())
		err := recorder.Stop()
		require.EqualError(t, err, "prepaidvcr: "+path+".yaml: is not written: list in Options.Keep, Scrub or Calls: "+want)
		require.NoFileExists(t, path+".yaml")
	}
}

// A cassette of an earlier version may lack members. A replay of this response fails instead of showing zeros.
func TestLeftOutByAnEarlierVersion(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/payout.yaml")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "earlier")
	require.NoError(t, os.WriteFile(path+".yaml", []byte(strings.ReplaceAll(string(content), `"client_id": "anon6"`, `"anon7": 990000274`)), 0o600))
	_, c := replay(t, path, prepaidvcr.Options{AllowUnused: true})
	_, err = c.Accounts.Get(t.Context(), "any")
	missing, ok := errors.AsType[*prepaidvcr.UnrecordedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []string{"body.(unknown)"}, missing.LeftOut)
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
	require.ErrorContains(t, err, "the recording left out values of response body.(unknown)")
}
