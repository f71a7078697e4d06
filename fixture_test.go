package prepaid

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"gopkg.in/h2non/gock.v1"
)

const (
	fixtureHost = "https://api.example.com"
	fixtureID   = AccountID("EA-700100200")
)

// fixture is one file of testdata; see testdata/README.md.
type fixture struct {
	Operation string `json:"-"`
	Outcome   string `json:"-"`
	About     string `json:"about"`
	Reference string `json:"reference"`
	Request   struct {
		Method string            `json:"method"`
		Path   string            `json:"path"`
		Query  map[string]string `json:"query"`
		Header map[string]string `json:"header"`
		Body   json.RawMessage   `json:"body"`
		Text   string            `json:"text"`
	} `json:"request"`
	Response struct {
		Status int               `json:"status"`
		Header map[string]string `json:"header"`
		Body   json.RawMessage   `json:"body"`
		Text   string            `json:"text"`
	} `json:"response"`
}

func (f *fixture) name() string { return f.Operation + "/" + f.Outcome }

// answer is the response body as it goes over the wire.
func (f *fixture) answer() []byte {
	if f.Response.Body != nil {
		return f.Response.Body
	}
	return []byte(f.Response.Text)
}

// readFixtures returns all files of testdata by name.
func readFixtures(t testing.TB) map[string]*fixture {
	t.Helper()
	files, err := fs.Glob(os.DirFS("testdata"), "*/*.json")
	require.NoError(t, err)
	fixtures := make(map[string]*fixture, len(files))
	for _, file := range files {
		content, err := os.ReadFile("testdata/" + file)
		require.NoError(t, err)
		strict := json.NewDecoder(bytes.NewReader(content))
		strict.DisallowUnknownFields()
		f := &fixture{Operation: path.Dir(file), Outcome: strings.TrimSuffix(path.Base(file), ".json")}
		require.NoError(t, strict.Decode(f), file)
		fixtures[f.name()] = f
	}
	return fixtures
}

// fixtureCase calls the client for one fixture and checks what comes back.
type fixtureCase struct {
	fixture string
	refusal bool // the answer is an error, also when its status is a success
	want    reflect.Value
	call    func(ctx context.Context, client *Client) error
	check   func(t *testing.T, f *fixture, ctx context.Context, client *Client)
}

// fixtureCall is a call of one operation. T is its answer; struct{} for none.
type fixtureCall[T any] struct {
	operation string
	call      func(ctx context.Context, client *Client) (T, error)
}

func fixtureOf[T any](operation string, call func(context.Context, *Client) (T, error)) fixtureCall[T] {
	return fixtureCall[T]{operation, call}
}

// fixtureDo is fixtureOf for an operation whose answer has no body.
func fixtureDo(operation string, call func(context.Context, *Client) error) fixtureCall[struct{}] {
	return fixtureOf(operation, func(ctx context.Context, client *Client) (struct{}, error) {
		return struct{}{}, call(ctx, client)
	})
}

func (c fixtureCall[T]) newCase(outcome string) fixtureCase {
	return fixtureCase{fixture: c.operation + "/" + outcome, call: func(ctx context.Context, client *Client) error {
		_, err := c.call(ctx, client)
		return err
	}}
}

// gives expects an answer, every field of it.
func (c fixtureCall[T]) gives(outcome string, want T) fixtureCase {
	result := c.newCase(outcome)
	result.want = reflect.ValueOf(want)
	result.check = func(t *testing.T, _ *fixture, ctx context.Context, client *Client) {
		got, err := c.call(ctx, client)
		require.NoError(t, err)
		require.Equal(t, want, got)
		requireFixtureQuiet(t, got)
		require.NotContains(t, fmt.Sprintf("%+v", got), "9917", "the end of the card number")
	}
	return result
}

// refused expects an error answer: its code, the sentinel it matches and the outcome.
func (c fixtureCall[T]) refused(outcome string, code ErrorCode, sentinel error, known Outcome) fixtureCase {
	return c.fails(outcome, known, func(t *testing.T, f *fixture, err error) {
		api, ok := errors.AsType[*APIError](err)
		require.True(t, ok, "%v holds no APIError", err)
		var body struct {
			Error       ErrorCode `json:"error"`
			Description string    `json:"error_description"`
		}
		require.NoError(t, json.Unmarshal(f.Response.Body, &body))
		require.Equal(t, code, body.Error, "the fixture holds another code")
		require.Equal(t, code, api.Code)
		require.ErrorIs(t, err, code)
		require.Equal(t, body.Description, api.Description)
		require.Equal(t, f.Response.Status, api.StatusCode)
		require.Equal(t, string(f.Response.Body), string(api.Body))
		require.Equal(t, f.Response.Header["Content-Type"], api.Header.Get("Content-Type"))
		if sentinel != nil {
			require.ErrorIs(t, err, sentinel)
		}
		if text := f.Response.Header["Retry-After"]; text != "" {
			require.Equal(t, text+"s", api.RetryAfter.String())
		}
	})
}

// fails expects an error of any kind.
func (c fixtureCall[T]) fails(outcome string, known Outcome, check func(t *testing.T, f *fixture, err error)) fixtureCase {
	result := c.newCase(outcome)
	result.refusal = true
	result.check = func(t *testing.T, f *fixture, ctx context.Context, client *Client) {
		got, err := c.call(ctx, client)
		require.Error(t, err)
		require.Zero(t, got)
		call, ok := errors.AsType[*CallError](err)
		require.True(t, ok, "%v is no CallError", err)
		require.Equal(t, f.Operation, call.Operation)
		require.Equal(t, known, call.Outcome)
		require.Equal(t, known, OutcomeOf(err))
		require.Equal(t, known == OutcomeUnknown, errors.Is(err, ErrOutcomeUnknown))
		if f.Operation != "Token" {
			require.Equal(t, 1, call.Attempts)
		}
		check(t, f, err)
		requireFixtureQuiet(t, err)
	}
	return result
}

// usual are the 401 and 500 of every operation.
func (c fixtureCall[T]) usual(unauthorized ErrorCode, after500 Outcome) []fixtureCase {
	after401 := OutcomeNotProcessed
	if unauthorized == CodeUnauthorized { // may be a lack of permission, which no other token mends
		after401 = OutcomeRejected
	}
	return []fixtureCase{
		c.refused("401", unauthorized, ErrUnauthorized, after401),
		c.refused("500", CodeServerError, ErrServer, after500),
	}
}

// Codes of the fixtures where the reference shows none.
const (
	exampleInvalidToken    ErrorCode = "invalid_token"
	exampleInvalidFields   ErrorCode = "invalid_fields"
	exampleRateLimit       ErrorCode = "rate_limit_exceeded"
	exampleAccountNotFound ErrorCode = "account_not_found"
)

func (c fixtureCall[T]) throttled() fixtureCase {
	return c.refused("429", exampleRateLimit, ErrRateLimited, OutcomeNotProcessed)
}

func (c fixtureCall[T]) unknownAccount() fixtureCase {
	return c.refused("404", exampleAccountNotFound, ErrNotFound, OutcomeRejected)
}

// fixtureCases are the cases of all services.
func fixtureCases() []fixtureCase {
	var cases []fixtureCase
	for _, of := range []func() []fixtureCase{
		tokenFixtures, reportingFixtures, policyFixtures, policyChangeFixtures, accountFixtures, accountChangeFixtures,
		companyFixtures, transactionFixtures, transferFixtures, walletFixtures, keyFixtures, fundingFixtures,
		simulationFixtures, pinFixtures, hookFixtures, hookChangeFixtures, messageFixtures,
	} {
		cases = append(cases, of()...)
	}
	return cases
}

// fixtureConfig makes one attempt of each call and waits for nothing.
func fixtureConfig(transport http.RoundTripper) Config {
	return Config{
		BaseURL: fixtureHost + "/3.0/", Vendor: "vendor", Environment: EnvironmentTest,
		Credentials: Credentials{ClientID: "example-client", ClientSecret: NewSecret("canary+secret%/=~")},
		TokenSource: fixtureToken{}, Transport: transport, Limiter: NoLimiter{},
		Retry: RetryPolicy{MaxAttempts: 1, MaxThrottleWait: 1},
	}
}

type fixtureToken struct{}

func (fixtureToken) Token(context.Context, *oauth2.Token) (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: "canary-access-token-0001"}, nil
}

// TestFixtures sends each fixture's request and reads its answer. It is serial: gock is global.
func TestFixtures(t *testing.T) {
	fixtures := readFixtures(t)
	for _, c := range fixtureCases() {
		t.Run(c.fixture, func(t *testing.T) {
			f := fixtures[c.fixture]
			require.NotNil(t, f, "there is no such file")
			c.run(t, f)
		})
	}
}

func (c fixtureCase) run(t *testing.T, f *fixture) {
	defer gock.OffAll()
	mock := gock.New(fixtureHost).AddMatcher(func(req *http.Request, _ *gock.Request) (bool, error) {
		return req.Method == f.Request.Method && req.URL.EscapedPath() == f.Request.Path, nil
	}).Reply(f.Response.Status).Body(bytes.NewReader(f.answer()))
	for name, value := range f.Response.Header {
		mock.SetHeader(name, value)
	}
	wire := &fixtureWire{next: gock.DefaultTransport}
	var log bytes.Buffer
	config := fixtureConfig(wire)
	config.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if f.Operation == "Token" {
		config.TokenSource = nil
	}
	client, err := NewClient(config)
	require.NoError(t, err)
	defer client.Close()

	c.check(t, f, t.Context(), client)
	require.NoError(t, client.Close()) // it waits for what still writes to the log

	require.Len(t, wire.seen, 1)
	wire.seen[0].require(t, f)
	require.False(t, gock.HasUnmatchedRequest())
	require.True(t, gock.IsDone())
	require.Contains(t, log.String(), f.Operation)
	requireNoFixtureCanaries(t, log.String())
	require.NotContains(t, log.String(), "?")
}

// fixtureWire keeps what was sent.
type fixtureWire struct {
	next http.RoundTripper
	seen []fixtureSent
}

type fixtureSent struct {
	method, path string
	query        map[string][]string
	header       http.Header
	body         []byte
}

func (r *fixtureWire) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := fixtureSent{req.Method, req.URL.EscapedPath(), req.URL.Query(), req.Header.Clone(), nil}
	if req.Body != nil {
		var err error
		if sent.body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(sent.body))
	}
	r.seen = append(r.seen, sent)
	return r.next.RoundTrip(req)
}

// require compares a request with the fixture: the request line, all parameters, the headers that matter and no
// other of their kind, and the body down to the way its numbers are written.
func (r fixtureSent) require(t *testing.T, f *fixture) {
	t.Helper()
	require.Equal(t, f.Request.Method, r.method)
	require.Equal(t, f.Request.Path, r.path)
	query := map[string][]string{}
	for name, value := range f.Request.Query {
		query[name] = []string{value}
	}
	require.Equal(t, query, r.query)
	header := map[string]string{}
	for name := range r.header {
		if name != "User-Agent" {
			header[name] = strings.Join(r.header.Values(name), " and ")
		}
	}
	require.Equal(t, f.Request.Header, header)
	require.True(t, strings.HasPrefix(r.header.Get("User-Agent"), "prepaid-go/"))
	if f.Request.Body == nil {
		require.Equal(t, f.Request.Text, string(r.body))
		return
	}
	require.NotContains(t, string(r.body), "null")
	require.Equal(t, fixtureJSON(t, f.Request.Body), fixtureJSON(t, r.body))
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, f.Request.Body))
	require.Len(t, r.body, compact.Len(), "the same members, written differently: %s", r.body)
}

// fixtureJSON decodes a JSON value and keeps its numbers as they are written.
func fixtureJSON(t *testing.T, data []byte) any {
	t.Helper()
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value), "%s", data)
	return value
}

// requireFixtureQuiet prints a value in every way and looks for what must not be seen.
func requireFixtureQuiet(t *testing.T, value any) {
	t.Helper()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		requireNoFixtureCanaries(t, fmt.Sprintf(verb, value))
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("value", "value", value)
	requireNoFixtureCanaries(t, log.String())
}

// requireNoFixtureCanaries looks for the personal and secret values of the fixtures.
func requireNoFixtureCanaries(t *testing.T, text string) {
	t.Helper()
	for _, canary := range []string{
		"canary", "516353", "491570156", "255501234", "70010020991", "00123456", "192.0.2.17", "1980-02-29", "c0ffee",
	} {
		require.NotContains(t, strings.ToLower(text), canary)
	}
}

func fixtureTime(year int, month time.Month, day, hour, minute, second int) time.Time {
	return time.Date(year, month, day, hour, minute, second, 0, time.UTC)
}
