// Package caller sends requests to a running emulator and presses the buttons of its page, as a program or a browser does.
package caller

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Accounts of the emulator's demo, which are active in company 42.
const (
	Ada   = "EA10000000000001"
	Grace = "EA10000000000002"
)

// Caller calls one emulator. Token is that of its requests; if it is empty, Call and Pay get one.
type Caller struct {
	T     testing.TB
	Page  string // "http://127.0.0.1:40123/"
	Token string
	http  *http.Client
}

// New returns a caller of the emulator that has its page at an address.
func New(t testing.TB, page string) *Caller {
	return &Caller{T: t, Page: page, http: &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Reply is the response of the service or of the page.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Try sends a request. The error is that of a connection without a response.
func (c *Caller) Try(method, url, body string, header http.Header) (Reply, error) {
	c.T.Helper()
	request, err := http.NewRequestWithContext(c.T.Context(), method, url, strings.NewReader(body))
	require.NoError(c.T, err)
	request.Header = header.Clone()
	if host := header.Get("Host"); host != "" {
		request.Host = host
	}
	response, err := c.http.Do(request)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Reply{response.StatusCode, response.Header, string(text)}, err
}

// Send sends a request and requires a response.
func (c *Caller) Send(method, url, body string, header http.Header) Reply {
	c.T.Helper()
	reply, err := c.Try(method, url, body, header)
	require.NoError(c.T, err)
	return reply
}

// Get gets a path of the page.
func (c *Caller) Get(path string) Reply {
	c.T.Helper()
	return c.Send(http.MethodGet, c.Page+strings.TrimPrefix(path, "/"), "", http.Header{})
}

// JSON gets a path of the page as a program does.
func (c *Caller) JSON(path string) string {
	c.T.Helper()
	return c.Send(http.MethodGet, c.Page+strings.TrimPrefix(path, "/"), "", http.Header{"Accept": {"application/json"}}).Body
}

// Press sends a form as a browser does, and follows the redirect. A refusal must be a sentence without names of Go.
func (c *Caller) Press(path, form string) Reply {
	c.T.Helper()
	got := c.Send(http.MethodPost, c.Page+strings.TrimPrefix(path, "/"), form, http.Header{
		"Accept": {"text/html"}, "Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {strings.TrimSuffix(c.Page, "/")},
	})
	if got.Status == http.StatusSeeOther {
		return c.Get(got.Header.Get("Location"))
	}
	_, message, refused := strings.Cut(got.Body, `role="alert">`)
	if message, _, _ = strings.Cut(message, "<"); refused {
		require.NotRegexp(c.T, `prepaidtest|[a-z][A-Z]|\b[A-Z][a-z]+[A-Z]`, message)
		require.Regexp(c.T, `^[A-Z].*\.$`, message)
	}
	return got
}

// Control is Press for a program: it asks for JSON, and sends no browser headers.
func (c *Caller) Control(path, form string) Reply {
	c.T.Helper()
	return c.Send(http.MethodPost, c.Page+strings.TrimPrefix(path, "/"), form, http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"text/html;q=0.1, application/json"},
	})
}

// Call sends a request with a token to the service.
func (c *Caller) Call(method, path, body string) Reply {
	c.T.Helper()
	reply, err := c.TryCall(method, path, body)
	require.NoError(c.T, err)
	return reply
}

// TryCall is Call for a request whose connection a fault may cut.
func (c *Caller) TryCall(method, path, body string) (Reply, error) {
	c.T.Helper()
	if c.Token == "" {
		c.Token = c.NewToken("emulator-client", "emulator-secret")
	}
	header := http.Header{"Authorization": {"Bearer " + c.Token}}
	if body != "" {
		header.Set("Content-Type", "application/vnd.vendor+json")
	}
	return c.Try(method, c.Page+"3.0/"+path, body, header)
}

// NewToken gets a token for credentials.
func (c *Caller) NewToken(id, secret string) string {
	c.T.Helper()
	got := c.Send(http.MethodPost, c.Page+"3.0/token", "grant_type=client_credentials", http.Header{
		"Content-Type":  {"application/x-www-form-urlencoded"},
		"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))},
	})
	require.Equal(c.T, http.StatusOK, got.Status, got.Body)
	var token struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(c.T, json.Unmarshal([]byte(got.Body), &token))
	return token.AccessToken
}

// Pay sends a transfer from Ada to Grace. The status is 0 if a fault cut the connection.
func (c *Caller) Pay(amount, requestID string) (status int) {
	c.T.Helper()
	reply, _ := c.TryCall(http.MethodPost, "accounts/"+Ada+"/transfer", fmt.Sprintf(
		`{"amount":%s,"request_id":%q,"source_reference":"s","destination_reference":"d","destination_account_id":%q,"transaction_type":1}`, amount, requestID, Grace))
	return reply.Status
}
