package harness

import (
	"net/http"
	"testing"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/ratelimit"
)

// ServiceConfig returns the settings of a client that has credentials and makes one attempt of each call.
func ServiceConfig() prepaid.Config {
	return prepaid.Config{
		BaseURL: "https://service.example/3.0/", Vendor: "vendor", TestEnvironment: true,
		ClientID: "id", ClientSecret: prepaid.NewSecret("secret"),
		Retry: prepaid.RetryPolicy{MaxAttempts: 1}, Limiter: ratelimit.None{},
	}
}

// ServiceClient returns a client of ServiceConfig over transport. The client is closed at the end of the test.
func ServiceClient(t *testing.T, transport http.RoundTripper) *prepaid.Client {
	t.Helper()
	config := ServiceConfig()
	config.Transport = transport
	return NewClient(t, config)
}

// WideText returns n code points of two to four bytes each. No message of the client contains one of these code points.
func WideText(n int) string {
	pattern := []rune("Ж界é😀ß語")
	text := make([]rune, n)
	for i := range text {
		text[i] = pattern[i%len(pattern)]
	}
	return string(text)
}
