package prepaidvcr

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// fuzzCanary has a form that is never kept.
const fuzzCanary = "Cnry9"

// For any input: the walk ends, its output has no canary, and the original request finds its scrubbed form.
func FuzzScrub(f *testing.F) {
	f.Add("GET", "https://h/3.0/accounts/Cnry9?with_personal=1&Cnry9=Cnry9", "", `{"first_name":"Cnry9","balance":1.50,"Cnry9":[true]}`, 200)
	f.Add("POST", "https://h/3.0/token", "grant_type=client_credentials&x=Cnry9", `{"access_token":"Cnry9","expires_in":3600}`, 200)
	f.Add("GET", "/3.0/reporting/templates/Cnry9/reports/Cnry9", "", `{"reportdata":"Cnry9,\"a \"\"Cnry9\"\r\n","totalrecords":1}`, 200)
	f.Add("PUT", "/Cnry9/%2F?a=%zz", "\x00Cnry9", "<html>Cnry9</html>", 502)
	f.Add("PUT", "/3.0/accounts/x", `{"registration":{"sex":1,"date_of_birth":20300101,"primary_address":{"state":2}},"strange":true}`, `{"error":"x"}`, 400)
	f.Add("GET", "/3.0/x/3.0/hooks", "", `[{"date_of_birth":"1980-01-01 00:00:00","plastic_expiry":"2030-01-01T00:00:00.1234567+10:00","company_id":1234567890123456789}]`, 200)
	known := newSchema(names{})
	f.Fuzz(func(t *testing.T, method, address, sent, response string, status int) {
		parsed, err := url.Parse(address)
		if err != nil {
			t.Skip()
		}
		numbered := newPseudonyms()
		request := known.request(numbered.stand, method, parsed, []byte(sent))
		body, _ := known.response(numbered.stand, request.operation, status, []byte(response))
		for _, text := range []string{request.url, request.body, body} {
			require.NotContains(t, text, fuzzCanary)
		}
		if request.operation == nil || len(request.dropped) > 0 {
			return // no cassette has it
		}
		again, err := url.Parse(request.url)
		require.NoError(t, err)
		recorded := known.request(asIs, method, again, []byte(request.body))
		require.Equal(t, request.operation, recorded.operation)
		original := known.request(asIs, method, parsed, []byte(sent))
		require.Empty(t, (&player{}).differing(original, recorded), "it would not be found")
		// With any value of the caller, a response is still valid.
		for _, own := range []string{sent, `",`, "7", "-", "a\r\nb"} {
			back, _ := known.response(func(leaf) string { return own }, request.operation, status, []byte(body))
			if jsontext.Value(body).IsValid(tolerant) && strings.HasPrefix(body, "{") {
				require.True(t, jsontext.Value(back).IsValid(tolerant), back)
			}
		}
	})
}

// Opening a cassette ends, and its error quotes nothing of the file.
func FuzzOpen(f *testing.F) {
	content, err := os.ReadFile("testdata/payout.yaml")
	require.NoError(f, err)
	f.Add(string(content))
	f.Add(strings.ReplaceAll(string(content), "balance", fuzzCanary))
	f.Add("version: Cnry9\ninteractions: [{id: Cnry9}]")
	f.Fuzz(func(t *testing.T, content string) {
		path := filepath.Join(t.TempDir(), "cassette")
		require.NoError(t, os.WriteFile(path+extension, []byte(content), 0o600))
		if _, err := New(path, Options{}); err != nil {
			require.NotContains(t, err.Error(), fuzzCanary)
		}
	})
}
