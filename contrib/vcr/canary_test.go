package prepaidvcr_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/internal/tests/contract"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// keptMembers are members of responses that a program must find unchanged. The list is from the reference, not from the schema.
var keptMembers = regexp.MustCompile(
	`"(balance|amount|fee_amount|running_balance_amount|status|outcome|success|is_plastic_enabled)": ?("(active|inactive|approved|declined)"|[-0-9.a-z]+)`)

// allFixtures makes the call of each fixture of the contract and returns the outcomes and the kept members.
func allFixtures(t *testing.T, recorder *prepaidvcr.Recorder) (seen []string) {
	t.Helper()
	fixtures := contract.ReadFixtures(t)
	for _, call := range contract.Cases(t) {
		f := fixtures[call.Fixture]
		config := contract.Config(roundTripper(func(req *http.Request) (*http.Response, error) {
			header := http.Header{"Set-Cookie": {"canary"}}
			for name, value := range f.Response.Header {
				header.Set(name, value)
			}
			return &http.Response{
				StatusCode: f.Response.Status, Header: header, Request: req, Body: io.NopCloser(strings.NewReader(string(f.Body()))),
			}, nil
		}))
		if f.Operation == "Token" {
			config.Token = nil
		}
		client, err := prepaid.NewClient(recorder.Config(config))
		require.NoError(t, err)
		var capture harness.Capture
		err = call.Call(capture.In(t.Context()), client)
		seen = append(seen, fmt.Sprint(call.Fixture, err == nil, prepaid.OutcomeOf(err)))
		if response := capture.Last(); response != nil {
			for _, match := range keptMembers.FindAllStringSubmatch(string(response.Body), -1) {
				seen = append(seen, match[1]+" "+match[2])
			}
		}
		require.NoError(t, client.Close())
	}
	return seen
}

// A recording of all operations has no protected value, and the client reads the same in a replay.
func TestCanariesOfAllOperations(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "all")
	options := prepaidvcr.Options{Mode: prepaidvcr.ModeRecord, Keep: []string{"valid", "amount"}, Scrub: []string{"id", "cardholder"}}
	recorder, err := prepaidvcr.New(path, options)
	require.NoError(t, err)
	recorded := allFixtures(t, recorder)
	require.NoError(t, recorder.Stop())
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	for _, value := range []string{
		"canary", "516353", "491570156", "255501234", "70010020991", "00123456", "192.0.2.17", "1980-02-29", "2049-05-31", "c0ffee",
		"api.example.com", "basic ", "bearer ", "cookie", "example-client", "ea-7001",
	} {
		require.False(t, strings.Contains(strings.ToLower(string(content)), value), value)
	}
	recorder, err = prepaidvcr.New(path, prepaidvcr.Options{})
	require.NoError(t, err)
	require.Equal(t, recorded, allFixtures(t, recorder))
	require.NoError(t, recorder.Stop())
}
