package prepaidvcr_test

import (
	"bytes"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// limits are members of a later version.
type limits struct {
	Daily    prepaid.Amount `json:"daily_limit"`
	Nickname string         `json:"nickname"`
	Words    []string       `json:"words"`
	Tiers    []struct {
		On bool `json:"on"`
	} `json:"tiers"`
}

// raw makes a call that the SDK does not know; a body makes it a POST.
func raw(t *testing.T, c *prepaid.Client, path string, body, out any) error {
	t.Helper()
	path, query, _ := strings.Cut(path, "?")
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
	options := prepaidvcr.Options{
		Keep: []string{"daily_limit", "tiers", "on", "since", "words"}, Scrub: []string{"nickname"},
		Calls: []string{"GET /accounts/{id}/limits", "GET /accounts/{id}/fees", "POST /accounts/{id}/limits"},
	}
	config := responding(map[string]string{
		"EA1": knownAccount, "fees": `{"daily_limit":7}`, "limits": `{"daily_limit":99.50,"nickname":"Mira","words":["low"],"tiers":[{"on":true}]}`,
	})
	get := func(c *prepaid.Client, path string) (got limits) {
		require.NoError(t, raw(t, c, path, nil, &got))
		return got
	}
	path, content := record(t, config, options, func(c *prepaid.Client) {
		get(c, "/accounts/{id}/limits")
		get(c, "/accounts/{id}/fees")
		get(c, "/accounts/{id}")
		require.NoError(t, raw(t, c, "/accounts/{id}/limits", map[string]string{"since": "2026-01-01T00:00:00Z", "nickname": "Mira"}, nil))
	})
	require.NotRegexp(t, "Mira|Leaked|EA1\n", content)

	recorder, c := replay(t, path, prepaidvcr.Options{})
	require.Equal(t, "250.00", get(c, "/accounts/{id}").Daily.String())
	require.Equal(t, "7.00", get(c, "/accounts/{id}/fees").Daily.String())
	require.NoError(t, raw(t, c, "/accounts/{id}/limits", map[string]string{"since": "2026-05-05T00:00:00Z", "nickname": "Joe"}, nil))
	got := get(c, "/accounts/{id}/limits")
	require.Equal(t, "99.50", got.Daily.String())
	require.Equal(t, "Joe", got.Nickname)
	require.Equal(t, []string{"low"}, got.Words)
	require.True(t, got.Tiers[0].On)
	require.NoError(t, recorder.Stop())

	options.Mode = prepaidvcr.ModeRecord
	for _, scrubbed := range []string{"hmac_key_secret", "first_name", "access_token", "mobile", "otp", "pin", "client_secret"} {
		options.Keep = []string{"on", scrubbed}
		_, err := prepaidvcr.New(path, options)
		require.ErrorContains(t, err, "Options.Keep has "+scrubbed+", which the SDK scrubs")
	}
	options.Keep, options.Calls = nil, []string{"GET limits"}
	_, err := prepaidvcr.New(path, options)
	require.ErrorContains(t, err, "has a path without the form")
}

// A recording that would leave out a value is not written: a replay would show zero for it.
func TestUnnamedValuesAreRefused(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		path, response string
		body           any
	}{
		"an unknown operation request path":                    {path: "/accounts/{id}/novel", response: "{}"},
		"Accounts.Get response body.daily_limit":               {path: "/accounts/{id}", response: knownAccount},
		"Accounts.Get response body.balance":                   {path: "/accounts/{id}", response: strings.NewReplacer("1.50", "1.23456", `,"daily_limit":250.00`, "").Replace(knownAccount)},
		"GET /accounts/{id}/limits response body.(unknown)":    {path: "/accounts/{id}/limits", response: `{"Leaked":1}`},
		"GET /accounts/{id}/limits response body.listed":       {path: "/accounts/{id}/limits", response: `[{"listed":[false]}]`},
		"GET /accounts/{id}/limits response body":              {path: "/accounts/{id}/limits", response: `[true]`},
		"GET /accounts/{id}/limits request query new_name":     {path: "/accounts/{id}/limits?new_name", response: "{}"},
		"POST /accounts/{id}/limits request body.(unknown)":    {path: "/accounts/{id}/limits", body: map[string]int{"leaked": 1}, response: "{}"},
		"POST /accounts/{id}/limits request body.listed.new_a": {path: "/accounts/{id}/limits", body: map[string]any{"listed": map[string]int{"new_a": 1}}, response: "{}"},
	} {
		path := filepath.Join(t.TempDir(), "refused")
		recorder, c := open(t, path, prepaidvcr.Options{
			Mode: prepaidvcr.ModeRecord, Scrub: []string{"listed"}, Calls: []string{"GET /accounts/{id}/limits", "POST /accounts/{id}/limits"},
		}, responding(map[string]string{"EA1": test.response, "limits": test.response, "novel": test.response}))
		require.NoError(t, raw(t, c, test.path, test.body, nil))
		require.NoError(t, c.Close())
		require.EqualError(t, recorder.Stop(), "prepaidvcr: "+path+".yaml: is not written: list in Options.Keep, Scrub or Calls: "+want)
		require.NoFileExists(t, path+".yaml")
	}
}

// settled is a program's sum of a report's column.
func settled(t *testing.T, c *prepaid.Client) (header []string, sum prepaid.Amount) {
	t.Helper()
	reader, err := c.Reporting.Run(t.Context(), "settlement", prepaid.RunReportParams{IncludeColumnHeaders: true})
	require.NoError(t, err)
	for row, err := range reader.Rows() {
		require.NoError(t, err)
		if header == nil {
			header = slices.Clone(row)
			continue
		}
		amount, err := prepaid.ParseAmount(row[2])
		require.NoError(t, err)
		sum, err = sum.Add(amount)
		require.NoError(t, err)
	}
	return header, sum
}

// Amounts below a kept name are kept, so that sums are right in a replay. Without names, nothing of a report is kept.
func TestReports(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{ReportDelay: -1})
	srv.AddReportCSV("settlement", "account,note,amount,balance\r\nEA7000,\"a, b\",12.34,1.00\r\nEA7000,,-2.30,4111111111111111\r\n")
	options := prepaidvcr.Options{Scrub: []string{"account", "note"}, Keep: []string{"amount", "balance"}}
	path, content := record(t, srv.Config(), options, func(c *prepaid.Client) {
		_, sum := settled(t, c)
		require.Equal(t, "10.04", sum.String())
	})
	require.NotRegexp(t, "EA7000|a, b|4111111111111111", content)
	recorder, c := replay(t, path, prepaidvcr.Options{})
	header, sum := settled(t, c)
	require.Equal(t, []string{"account", "note", "amount", "balance"}, header)
	require.Equal(t, "10.04", sum.String())
	require.NoError(t, recorder.Stop())

	_, content = record(t, srv.Config(), prepaidvcr.Options{}, func(c *prepaid.Client) { settled(t, c) })
	require.NotRegexp(t, "12.34|note|amount", content)
	require.True(t, bytes.Contains([]byte(content), []byte("ANON")))
}
