package harness

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cardprograms/prepaid"
)

// ServiceConfig is a client with credentials that makes each attempt once.
func ServiceConfig() prepaid.Config {
	return prepaid.Config{
		BaseURL: "https://service.example/3.0/", Vendor: "vendor", Environment: prepaid.EnvironmentTest,
		Credentials: prepaid.Credentials{ClientID: "id", ClientSecret: prepaid.NewSecret("secret")},
		Retry:       prepaid.RetryPolicy{MaxAttempts: 1}, Limiter: prepaid.NoLimiter{},
	}
}

// ServiceClient is a client of ServiceConfig over transport, which is closed at the end of the test.
func ServiceClient(t *testing.T, transport http.RoundTripper) *prepaid.Client {
	t.Helper()
	config := ServiceConfig()
	config.Transport = transport
	return NewClient(t, config)
}

// JSONResponse is a response with the vendor's media type.
func JSONResponse(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/vnd.vendor+json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// WideText returns n code points of two to four bytes each, none of which stands in any message.
func WideText(n int) string {
	pattern := []rune("Ж界é😀ß語")
	text := make([]rune, n)
	for i := range text {
		text[i] = pattern[i%len(pattern)]
	}
	return string(text)
}
