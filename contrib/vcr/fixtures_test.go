package prepaidvcr_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
)

// madeUp returns the values that the project's own fixtures may have in addition to those that begin with "canary", and
// whether options has met each.
func madeUp(t *testing.T) (values map[string]bool, options prepaidvcr.CheckOptions) {
	t.Helper()
	content, err := os.ReadFile("testdata/madeup.txt")
	require.NoError(t, err)
	values = map[string]bool{}
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		value, err := strconv.Unquote(strings.TrimSpace(line))
		require.NoError(t, err, line)
		values[value] = false
	}
	return values, prepaidvcr.CheckOptions{MadeUp: func(value string) bool {
		_, ok := values[value]
		if ok {
			values[value] = true
		}
		return ok || strings.HasPrefix(strings.ToLower(value), "canary")
	}}
}

// The project's fixtures have only fictional values: the schema keeps each value or it is listed, and no
// listed value is unused.
func TestProjectFixturesAreMadeUp(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../internal/tests/contract/testdata/*/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 200)
	values, options := madeUp(t)
	for _, file := range files {
		require.NoError(t, prepaidvcr.CheckFile(file, options))
	}
	for value, met := range values {
		require.True(t, met, "no fixture holds %q any more", value)
	}
}

// In any place an unlisted value is found, with line and place; the error does not show it.
func TestFixtureWithARealValue(t *testing.T) {
	t.Parallel()
	_, options := madeUp(t)
	for _, test := range []struct{ file, from, to, place string }{
		{"Accounts.Get/200", `"Canary-Mira"`, `"Leaked"`, "response body.personal.first_name"},
		{"Accounts.Get/200", `"516353******9917"`, `"5163531111119917"`, "response body.card_number"},
		{"Accounts.Get/200", `"status": "active"`, `"status": "Leaked"`, "response body.status"},
		{"Accounts.Get/200", `150.25`, `4111111111111111`, "response body.balance"},
		{"Accounts.Get/200", `"is_compliant": true`, `"deceased": "Leaked"`, "response body.(unknown)"},
		{"Accounts.Get/200", `/3.0/accounts/EA-700100200`, `/3.0/accounts/Leaked`, "request path {id}"},
		{"Accounts.Get/200", `"with_bpay": "1"`, `"with_bpay": "Leaked"`, "request query with_bpay"},
		{"Accounts.Get/200", `Bearer canary-access-token-0001`, `Bearer Leaked`, "request header Authorization"},
		{"Accounts.Get/200", `"status": 200,`, `"status": 200, "note": "Leaked",`, "response (unknown)"},
		{"Accounts.Get/404", `"account_not_found"`, `"Leaked 1"`, "response body.error"},
		{"Accounts.ExchangeKey/200-bare", `canary+exchange/data==`, `Leaked`, "response body"},
		{"Reporting.Result/200", `Corner Store, Sydney`, `Leaked`, "response body.reportdata row 1"},
		{"Hooks.Undeliverable/200", `"cardholder": "Canary-Mira"`, `"cardholder": "Leaked"`, "response body[0].(unknown).(unknown)"},
		{"Token/200", `grant_type=client_credentials`, `grant_type=client_credentials&user=Leaked`, "request body (unknown)"},
	} {
		content, err := os.ReadFile("../../internal/tests/contract/testdata/" + test.file + ".json")
		require.NoError(t, err)
		require.NoError(t, prepaidvcr.Check(bytes.NewReader(content), options), test.file)
		before, after, ok := strings.Cut(string(content), test.from)
		require.True(t, ok, test.from)
		err = prepaidvcr.Check(strings.NewReader(before+test.to+after), options)
		found, ok := errors.AsType[*prepaidvcr.UnscrubbedError](err)
		require.True(t, ok, "%s: %v", test.place, err)
		wanted := prepaidvcr.Finding{Line: strings.Count(before, "\n") + 1, Where: test.place}
		require.Contains(t, found.Findings, wanted)
		require.NotContains(t, err.Error(), "Leaked")
		require.NotContains(t, err.Error(), "1111")
	}
	for _, content := range []string{"", "{", "{}", `{"request":{},"response":[]}`, "[]", "interactions", "a: b", "\x00", `{"request":1`} {
		require.Error(t, prepaidvcr.Check(strings.NewReader(content), prepaidvcr.CheckOptions{}), content)
	}
}
