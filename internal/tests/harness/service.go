package harness

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func ServiceConfig() prepaid.Config {
	return prepaid.Config{
		BaseURL: "https://service.example/3.0/", Vendor: "vendor", Environment: prepaid.EnvironmentTest,
		Credentials: prepaid.Credentials{ClientID: "id", ClientSecret: prepaid.NewSecret("secret")},
		Retry:       prepaid.RetryPolicy{MaxAttempts: 1}, Limiter: prepaid.NoLimiter{},
	}
}

func ServiceClient(t *testing.T, transport http.RoundTripper) *prepaid.Client {
	t.Helper()
	return ClientOf(t, ServiceConfig(), transport)
}

func ClientOf(t *testing.T, config prepaid.Config, transport http.RoundTripper) *prepaid.Client {
	t.Helper()
	config.Transport = transport
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

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
