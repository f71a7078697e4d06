package contract

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// described returns a client of a service that refuses every call with words as the description.
func described(t *testing.T, words string, show bool, log *strings.Builder) *prepaid.Client {
	t.Helper()
	body, err := json.Marshal(map[string]string{"error": "invalid_request", "error_description": words})
	require.NoError(t, err)
	config := harness.ServiceConfig()
	config.Transport = harness.Split{
		Tokens: harness.NewScript(harness.Grant(1, "3600")), Calls: harness.NewScript(harness.Respond(400, harness.VendorJSON, string(body))),
	}
	config.ShowDescriptions, config.Logger = show, slog.New(slog.NewTextHandler(log, nil))
	return harness.NewClient(t, config)
}

// With the opt-in an error prints the service's description, on one line and without characters that could mislead a terminal or
// fill a log; without the opt-in an error prints no part of it.
func TestShowDescriptions(t *testing.T) {
	t.Parallel()
	for words, shown := range map[string]string{
		"invalid fields: amount must be positive": ": invalid fields: amount must be positive",
		"":                           "",
		" \n\t ":                     "",
		"two\r\nlines\tand  spaces ": ": two lines and spaces",
		"bell\a esc\x1b[31m override\u202e zero\u200b": ": bell? esc?[31m override? zero?",
		"Zoë ✓":                  ": Zoë ✓",
		"bad \xff byte":          ": bad � byte",
		strings.Repeat("é", 201): ": " + strings.Repeat("é", 200) + "…",
		strings.Repeat("é", 200) + strings.Repeat(" ", 9): ": " + strings.Repeat("é", 200),
	} {
		log := new(strings.Builder)
		_, err := described(t, words, true, log).Accounts.Get(t.Context(), "eaid")
		want := "prepaid: Accounts.Get: rejected: status 400 (invalid_request)" + shown
		require.EqualError(t, err, want)
		api := harness.As[*prepaid.APIError](t, err)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			require.Equal(t, "prepaid: status 400 (invalid_request)"+shown, fmt.Sprintf(verb, *api))
		}
		require.False(t, strings.ContainsFunc(err.Error(), unicode.IsControl))

		log = new(strings.Builder)
		_, err = described(t, words, false, log).Accounts.Get(t.Context(), "eaid")
		require.EqualError(t, err, "prepaid: Accounts.Get: rejected: status 400 (invalid_request)")
		printed := fmt.Sprintf("%+v %#v", err, err) + log.String()
		for word := range strings.FieldsSeq(words) {
			require.NotContains(t, strings.Fields(printed), word)
		}
	}
}

// The error of a refused token request prints the description too.
func TestShowDescriptionsOfTheTokenEndpoint(t *testing.T) {
	t.Parallel()
	for show, want := range map[bool]string{true: "no access token: status 401 (invalid_client): the client is locked", false: "no access token: status 401 (invalid_client)"} {
		config := harness.ServiceConfig()
		config.Transport = harness.NewScript(harness.Respond(401, harness.VendorJSON, `{"error":"invalid_client","error_description":"the client is locked"}`))
		config.ShowDescriptions = show
		_, err := harness.NewClient(t, config).Accounts.Get(t.Context(), "eaid")
		require.True(t, strings.HasSuffix(err.Error(), want), err)
	}
}

// The emulator's descriptions are printed without a setting, a production service's never.
func TestE2EDescriptionsShowOnTheEmulator(t *testing.T) {
	t.Parallel()
	for production, description := range map[bool]string{false: ": the account does not exist", true: ""} {
		synctest.Test(t, func(t *testing.T) {
			srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true, Production: production})
			_, err := srv.Client().Accounts.Get(t.Context(), "nobody")
			require.EqualError(t, err, "prepaid: Accounts.Get: rejected: status 404 (account_not_found)"+description)
		})
	}
}
