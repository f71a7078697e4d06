package prepaidtest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/check"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/pin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const vendorJSON = "application/vnd.vendor+json"

const transferOperation = "POST /accounts/{id}/transfer"

// lovelace is a complete registration.
func lovelace() Cardholder {
	return Cardholder{
		Title: "Ms", FirstName: "Ada", LastName: "Lovelace", Sex: "F", DateOfBirth: "1990-05-01T00:00:00Z",
		MobileNumber: "+61400000000", EmailAddress: "ada@example.com",
		PrimaryAddress: Address{Line1: "1 Example Street", City: "Sydney", State: "NSW", Country: "AU", Postcode: "2000"},
	}
}

// caller is a plain HTTP caller of a server: it uses the reference, not this package's types.
type caller struct {
	*Server
	t     *testing.T
	http  *http.Client
	token string

	unchecked bool // by the published document
}

// IDs are plain strings to a caller, as on the wire.

func (c *caller) AddAccount(seed SeedAccount) string { return string(c.Server.AddAccount(seed)) }
func (c *caller) Account(id string) AccountState     { return c.Server.Account(prepaid.AccountID(id)) }
func (c *caller) Balance(id string) string           { return c.Server.Balance(prepaid.AccountID(id)) }
func (c *caller) Status(id string) string            { return c.Server.Status(prepaid.AccountID(id)) }
func (c *caller) SetStatus(id, status string)        { c.Server.SetStatus(prepaid.AccountID(id), status) }
func (c *caller) Adjust(id, amount string)           { c.Server.Adjust(prepaid.AccountID(id), amount) }
func (c *caller) Transactions(id string) []Transaction {
	return c.Server.Transactions(prepaid.AccountID(id))
}
func (c *caller) PINOf(id string) string           { return c.Server.PINOf(prepaid.AccountID(id)) }
func (c *caller) PINChanges(id string) []PINChange { return c.Server.PINChanges(prepaid.AccountID(id)) }
func (c *caller) AddWalletToken(id string, token WalletToken) {
	c.Server.AddWalletToken(prepaid.AccountID(id), token)
}
func (c *caller) ActivateThroughPortal(id string) {
	c.Server.ActivateThroughPortal(prepaid.AccountID(id))
}
func (c *caller) Movements(requestID string) int {
	return c.Server.Movements(prepaid.RequestID(requestID))
}

// reply is an HTTP response.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

func start(t *testing.T, options Options) *caller {
	t.Helper()
	c := startWithoutToken(t, options)
	c.token = c.newToken()
	return c
}

func startWithoutToken(t *testing.T, options Options) *caller {
	t.Helper()
	return startFor(t, t, options)
}

// startFor starts a server that reports wrong use to tb.
func startFor(t *testing.T, tb testing.TB, options Options) *caller {
	t.Helper()
	options.DeliveryTimeout = cmp.Or(options.DeliveryTimeout, time.Minute) // on a busy machine, too
	s := NewServer(tb, options)
	// A kept connection could get another request before the body of a 204, or what a fault leaves behind.
	transport := &http.Transport{DisableKeepAlives: true}
	if s.network != nil {
		transport = s.network.transport()
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &caller{Server: s, t: t, http: &http.Client{Transport: transport}}
}

// withKeyPair gives the server the key pair of testdata for PIN changes. To make one takes a tenth of a second.
func (c *caller) withKeyPair() *caller {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "pin_identity.json"))
	require.NoError(c.t, err)
	var identity pin.SavedIdentity
	require.NoError(c.t, json.Unmarshal(text, &identity))
	l := c.service.Ledger.Lock()
	defer l.Unlock()
	require.NoError(c.t, c.service.PINs.Restore(l, nil, &identity))
	return c
}

func (c *caller) newToken() string {
	c.t.Helper()
	got := c.tokenRequest(basic("emulator-client", "emulator-secret"), "grant_type=client_credentials")
	require.Equal(c.t, 200, got.status, string(got.body))
	return got.object()["access_token"].(string)
}

func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

func (c *caller) tokenRequest(authorization, body string) reply {
	c.t.Helper()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	if authorization != "" {
		header.Set("Authorization", authorization)
	}
	return c.send("POST", "token", body, header)
}

// dial opens a raw connection to the server.
func (c *caller) dial() net.Conn {
	c.t.Helper()
	connection, err := net.Dial("tcp", strings.Split(c.URL, "/")[2])
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = connection.Close() })
	require.NoError(c.t, connection.SetDeadline(time.Now().Add(time.Minute)))
	return connection
}

// send makes a request and fails the test when no response arrives.
func (c *caller) send(method, path, body string, header http.Header) reply {
	c.t.Helper()
	got, err := c.try(method, path, body, header)
	require.NoError(c.t, err)
	return got
}

func (c *caller) try(method, path, body string, header http.Header) (reply, error) {
	c.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.URL+path, reader)
	require.NoError(c.t, err)
	request.Header = header
	response, err := c.http.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	got := reply{c.t, response.StatusCode, response.Header, text}
	if err == nil && !c.unchecked && json.Valid(text) {
		got.conforms(request)
	}
	return got, err
}

// conforms checks a response by the published document.
func (a reply) conforms(request *http.Request) {
	a.t.Helper()
	route, _, _ := exchange.NewTable(nil).Find(request)
	if route == nil || a.status >= 500 || a.header.Get("Content-Type") != vendorJSON {
		return
	}
	_, listed := route.Results.Get(strconv.Itoa(a.status))
	require.True(a.t, listed, "%s: %d %s", route.Name, a.status, a.body)
	checked := check.Response{
		Operation: route.Operation, Query: request.URL.Query(), MediaType: vendorJSON, Status: a.status, Header: a.header, Body: a.body,
	}
	require.Empty(a.t, checked.Check(), "%s %s", route.Name, a.body)
}

func (c *caller) header(body string) http.Header {
	header := http.Header{"Authorization": {"Bearer " + c.token}}
	if body != "" {
		header.Set("Content-Type", vendorJSON)
	}
	return header
}

// do makes a request with token and media type.
func (c *caller) do(method, path, body string) reply {
	c.t.Helper()
	return c.send(method, path, body, c.header(body))
}

func (c *caller) get(path string) reply {
	c.t.Helper()
	return c.do("GET", path, "")
}

func (c *caller) post(path, body string) reply {
	c.t.Helper()
	return c.do("POST", path, body)
}

// object reads the body as a JSON object with exact numbers, and checks the media type.
func (a reply) object() map[string]any {
	a.t.Helper()
	var object map[string]any
	a.decode(&object)
	return object
}

func (a reply) list() []map[string]any {
	a.t.Helper()
	var list []map[string]any
	a.decode(&list)
	return list
}

func (a reply) decode(into any) {
	a.t.Helper()
	require.Equal(a.t, vendorJSON, a.header.Get("Content-Type"))
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	require.NoError(a.t, decoder.Decode(into), string(a.body))
}

// refused checks an error's status, code and shape, and returns its description.
func (a reply) refused(status int, code string) string {
	a.t.Helper()
	require.Equal(a.t, status, a.status, string(a.body))
	got := a.object()
	require.Equal(a.t, code, got["error"])
	for name := range got {
		require.Contains(a.t, []string{"error", "error_description"}, name)
	}
	description, _ := got["error_description"].(string)
	return description
}

// empty checks a success without a body.
func (a reply) empty(status int) {
	a.t.Helper()
	require.Equal(a.t, status, a.status, string(a.body))
	require.Empty(a.t, a.body)
	require.Empty(a.t, a.header.Get("Content-Type"))
}

func (a reply) ok() reply {
	a.t.Helper()
	require.Equal(a.t, 200, a.status, string(a.body))
	return a
}

// body builds a JSON object from another one with members changed; nil removes a member.
func body(t *testing.T, from string, changes map[string]any) string {
	t.Helper()
	members := make(map[string]any)
	decoder := json.NewDecoder(strings.NewReader(from))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&members))
	for name, value := range changes {
		target := members
		path := strings.Split(name, ".")
		for _, step := range path[:len(path)-1] {
			target = target[step].(map[string]any)
		}
		if last := path[len(path)-1]; value == nil {
			delete(target, last)
		} else {
			target[last] = value
		}
	}
	text, err := json.Marshal(members)
	require.NoError(t, err)
	return string(text)
}
