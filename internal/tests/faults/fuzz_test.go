package faults

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/contract"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// fuzzedWire responds alike to every request and keeps the addresses; after a hundred it says that there is nothing more.
type fuzzedWire struct {
	status    int
	header    http.Header
	body      string
	addresses []*url.URL
}

// RoundTrip implements http.RoundTripper.
func (w *fuzzedWire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.addresses = append(w.addresses, r.URL)
	status, body := w.status, w.body
	if len(w.addresses) > 100 {
		status, body = http.StatusNoContent, ""
	}
	return &http.Response{StatusCode: status, Header: w.header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func newFuzzedClient(t *testing.T, wire *fuzzedWire) *prepaid.Client {
	t.Helper()
	config := contract.Config(wire)
	config.Retry.MaxThrottleWait = time.Nanosecond
	client := harness.NewClient(t, config)
	return client
}

// requireCalmError requires an error text of one short printable line without a long piece of the response.
func requireCalmError(t *testing.T, err error, response string) {
	t.Helper()
	text := err.Error()
	require.True(t, utf8.ValidString(text), "%q", text)
	require.Less(t, len(text), 600)
	require.False(t, strings.ContainsFunc(text, unicode.IsControl), "%q", text)
	for at := 0; at+24 <= len(response); at += 24 {
		require.NotContains(t, text, response[at:at+24])
	}
}

// FuzzResponses gives every operation any bytes for its success: a value, or an error with the known outcome.
func FuzzResponses(f *testing.F) {
	f.Add(uint8(0), "null")
	f.Add(uint8(3), `[{"code":1.0,"description":null,"code":"2"}]`)
	f.Add(uint8(20), `{"balance":1e400,"company_id":9007199254740993}`)
	cases := tableCases(f)
	for i, c := range cases {
		f.Add(uint8(i), string(c.fixture.Body()))
	}
	f.Fuzz(func(t *testing.T, number uint8, body string) {
		c := cases[int(number)%len(cases)]
		if strings.HasPrefix(c.operation.Name, "PIN.") || c.safety == "token" {
			t.Skip("the caller's, and FuzzTokenResponse's")
		}
		mediaType := c.fixture.Response.Header["Content-Type"]
		wire := &fuzzedWire{status: c.fixture.Response.Status, header: http.Header{"Content-Type": {mediaType}}, body: body}
		err := c.call(t.Context(), newFuzzedClient(t, wire))
		require.NotEmpty(t, wire.addresses)
		if err == nil {
			return
		}
		failure, ok := errors.AsType[*prepaid.CallError](err)
		if !ok { // a report that breaks while its rows are read
			require.Equal(t, "Reporting.Result", c.operation.Name, "%v", err)
			return
		}
		require.Contains(t, []prepaid.Outcome{prepaid.OutcomeApplied, prepaid.OutcomeUnknown, prepaid.OutcomeRejected, prepaid.OutcomeNotProcessed}, failure.Outcome)
		requireCalmError(t, err, body)
	})
}

// FuzzErrorBody gives any error status any body: an *APIError with that status, and nothing of the body in its text
// but a code of the form that codes have.
func FuzzErrorBody(f *testing.F) {
	f.Add(uint16(400), "application/vnd.vendor+json", `{"error":"invalid_request","error_description":"words of the service"}`)
	f.Add(uint16(404), "", "")
	f.Add(uint16(500), "text/html", "<html><body>Bad gateway</body></html>")
	f.Add(uint16(429), "application/json", `{"error":5,"error_description":null}`)
	f.Add(uint16(409), "application/json", `{"error":"a\nb \u0000","error_description":"`+strings.Repeat("x", 3000)+`"}`)
	f.Fuzz(func(t *testing.T, status uint16, mediaType, body string) {
		code := 400 + int(status)%200
		wire := &fuzzedWire{status: code, header: http.Header{"Content-Type": {mediaType}}, body: body}
		err := newFuzzedClient(t, wire).Accounts.SetPlasticEnabled(t.Context(), "EA-1", prepaid.SetPlasticEnabledParams{Enabled: true})
		require.Error(t, err)
		failure := harness.As[*prepaid.APIError](t, err)
		require.Equal(t, code, failure.StatusCode)
		if len(failure.Code) >= 20 { // a code is shown, if it has the form of one
			body = strings.ReplaceAll(body, string(failure.Code), "")
		}
		requireCalmError(t, err, body)
	})
}

// FuzzTokenResponse gives the token endpoint's success any body: a call gets a token that can go into a header, or
// sends nothing.
func FuzzTokenResponse(f *testing.F) {
	f.Add(`{"access_token":"abc","token_type":"bearer","expires_in":3600}`)
	f.Add(`{"access_token":"a\r\nb","token_type":"bearer","expires_in":3600}`)
	f.Add(`{"access_token":"abc","token_type":"mac","expires_in":-1}`)
	f.Add(`{"access_token":"abc","token_type":"Bearer","expires_in":"1e9"}`)
	f.Fuzz(func(t *testing.T, body string) {
		wire := &fuzzedWire{status: 200, header: http.Header{"Content-Type": {"application/vnd.vendor+json"}}, body: body}
		config := contract.Config(wire)
		config.Token = nil
		client := harness.NewClient(t, config)
		token, err := client.Token(t.Context())
		if err != nil {
			requireCalmError(t, err, body)
			return
		}
		unfit := func(r rune) bool { return r <= ' ' || r > '~' }
		require.False(t, strings.ContainsFunc(token.AccessToken, unfit))
		require.True(t, strings.EqualFold(token.TokenType, "bearer"))
	})
}

// FuzzPath gives the path any account and hook id: refused before anything is sent, or exactly one segment.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"EA-1", "..", "../token", "a/b?c", "", "a\r\nb", "%2e%2e", "a b", "ä", "a;b", "\xff", "#", "a%2fb", "."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		wire := &fuzzedWire{status: 404, header: http.Header{}}
		client := newFuzzedClient(t, wire)
		_, err := client.Accounts.Get(t.Context(), prepaid.AccountID(id))
		_, hookErr := client.Hooks.Get(t.Context(), prepaid.HookID(id))
		_, refused := errors.AsType[*prepaid.ValidationError](err)
		_, hookRefused := errors.AsType[*prepaid.ValidationError](hookErr)
		require.Equal(t, refused, hookRefused)
		if refused {
			require.Empty(t, wire.addresses)
			return
		}
		require.Len(t, wire.addresses, 2)
		for i, parent := range []string{"/3.0/accounts/", "/3.0/hooks/"} {
			segment, ok := strings.CutPrefix(wire.addresses[i].EscapedPath(), parent)
			require.True(t, ok)
			require.NotContains(t, segment, "/")
			plain, err := url.PathUnescape(segment)
			require.NoError(t, err)
			require.Equal(t, id, plain)
			require.NotContains(t, []string{"", ".", ".."}, plain)
			require.Empty(t, wire.addresses[i].RawQuery)
			require.Empty(t, wire.addresses[i].Fragment)
		}
	})
}
