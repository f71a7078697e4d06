package prepaidvcr

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// fuzzCanary has a form that is never kept.
const fuzzCanary = "Cnry9"

// For any input: the scrubber ends, its output has no canary and passes the check, and the original request finds
// its scrubbed form.
func FuzzScrub(f *testing.F) {
	f.Add("GET", "https://h/3.0/accounts/Cnry9?with_personal=1&Cnry9=Cnry9", "", `{"first_name":"Cnry9","balance":1.50,"Cnry9":[true]}`, 200)
	f.Add("POST", "https://h/3.0/token", "grant_type=client_credentials&x=Cnry9", `{"access_token":"Cnry9","expires_in":3600}`, 200)
	f.Add("GET", "/3.0/reporting/templates/Cnry9/reports/Cnry9", "", `{"reportdata":"Cnry9,\"a \"\"Cnry9\"\r\n","totalrecords":1}`, 200)
	f.Add("POST", "/3.0/accounts/EA-700100200/dip", `{"key_id":"Cnry9"}`, `"Cnry9"`, 200)
	f.Add("PUT", "/Cnry9/%2F?a=%zz", "\x00Cnry9", "<html>Cnry9</html>", 502)
	f.Add("PUT", "/3.0/accounts/x", `{"registration":{"sex":1,"date_of_birth":20300101,"primary_address":{"state":2}},"strange":true}`, `{"error":"x"}`, 400)
	f.Add("GET", "/3.0/x/3.0/hooks", "", `[{"date_of_birth":"1980-01-01 00:00:00","plastic_expiry":"2030-01-01T00:00:00.1234567+10:00","company_id":1234567890123456789}]`, 200)
	f.Add("POST", "/3.0/accounts", `{"registration":{"sex":"Cnry9","passport":{"passport_expiry":"2049-05-31T00:00:00Z"}}}`, `{"error":"Cnry9"}`, 404)
	known := newSchema()
	f.Fuzz(func(t *testing.T, method, address, sent, response string, status int) {
		parsed, err := url.Parse(address)
		if err != nil {
			t.Skip()
		}
		names := newPseudonyms()
		request := known.request(names, method, parsed, []byte(sent))
		body, _ := known.response(&scrubber{names: names}, request.operation, status, []byte(response))
		for _, text := range []string{request.url, request.body, body} {
			require.NotContains(t, text, fuzzCanary)
			require.NotContains(t, text, url.QueryEscape(fuzzCanary))
		}
		again, err := url.Parse(request.url)
		require.NoError(t, err)
		recorded := known.request(newPseudonyms(), method, again, []byte(request.body))
		require.Equal(t, request.operation, recorded.operation)
		require.Equal(t, request.found, recorded.found, "it would not be found")
		require.Len(t, recorded.leaves, len(request.leaves))
		got, responded := known.response(&scrubber{names: newPseudonyms()}, request.operation, status, []byte(body))
		for _, l := range slices.Concat(recorded.leaves, responded) {
			require.True(t, l.clean(), "%s holds %q", l.where, l.value)
		}
		require.Equal(t, strings.Count(body, "\n"), strings.Count(got, "\n"))
		// With any restored values, a response is still valid.
		for _, own := range []string{sent, `",`, "7", "-", "a\r\nb"} {
			back, leaves := known.response(&scrubber{restore: func(leaf) string { return own }}, request.operation, status, []byte(body))
			if jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)) && strings.HasPrefix(body, "{") {
				require.True(t, jsontext.Value(back).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), back)
			}
			require.Len(t, leaves, len(responded))
		}
	})
}

// The check ends and quotes nothing of its input.
func FuzzCheck(f *testing.F) {
	tape := cassette.New("fuzz")
	tape.AddInteraction(&cassette.Interaction{Request: cassette.Request{
		Method: "GET", URL: "https://service.invalid/3.0/accounts/anon1", Host: serviceHost, Proto: "HTTP/1.1",
	}, Response: cassette.Response{Code: 200, Status: "200 OK", Body: `{"balance": 1.50}`, Headers: map[string][]string{"Content-Type": {"text/plain"}}}})
	clean, err := yaml.Marshal(tape)
	require.NoError(f, err)
	require.NoError(f, Check(bytes.NewReader(clean)))
	f.Add(clean)
	f.Add(bytes.ReplaceAll(clean, []byte("balance"), []byte(fuzzCanary)))
	f.Fuzz(func(t *testing.T, content []byte) {
		err := Check(bytes.NewReader(content))
		if err != nil {
			require.NotContains(t, err.Error(), fuzzCanary)
			return
		}
		require.NotContains(t, string(content), fuzzCanary)
	})
}
