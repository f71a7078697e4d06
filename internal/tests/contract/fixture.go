package contract

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

const (
	fixtureHost = "https://api.example.com"
	fixtureID   = prepaid.AccountID("EA-700100200")
)

// Fixture is one file of testdata; see testdata/README.md.
type Fixture struct {
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

func (f *Fixture) Name() string { return f.Operation + "/" + f.Outcome }

// Body is the response body on the wire.
func (f *Fixture) Body() []byte {
	if f.Response.Body != nil {
		return f.Response.Body
	}
	return []byte(f.Response.Text)
}

//go:embed testdata
var testdata embed.FS

// ReadFixtures returns all files of testdata by name.
func ReadFixtures(t testing.TB) map[string]*Fixture {
	t.Helper()
	files, err := fs.Glob(testdata, "testdata/*/*.json")
	require.NoError(t, err)
	fixtures := make(map[string]*Fixture, len(files))
	for _, file := range files {
		content, err := testdata.ReadFile(file)
		require.NoError(t, err)
		strict := json.NewDecoder(bytes.NewReader(content))
		strict.DisallowUnknownFields()
		f := &Fixture{Operation: path.Base(path.Dir(file)), Outcome: strings.TrimSuffix(path.Base(file), ".json")}
		require.NoError(t, strict.Decode(f), file)
		fixtures[f.Name()] = f
	}
	return fixtures
}

// Case calls the client for one fixture and checks the result.
type Case struct {
	Fixture string
	Refusal bool // the client must return an error, even if the status is a success
	want    reflect.Value
	Call    func(ctx context.Context, client *prepaid.Client) error
	check   func(t *testing.T, f *Fixture, ctx context.Context, client *prepaid.Client)
}

// fixtureCall is a call of one operation. T is its response; struct{} if it has none.
type fixtureCall[T any] struct {
	operation string
	call      func(ctx context.Context, client *prepaid.Client) (T, error)
}

func fixtureOf[T any](operation string, call func(context.Context, *prepaid.Client) (T, error)) fixtureCall[T] {
	return fixtureCall[T]{operation, call}
}

// fixtureWith is fixtureOf for the operation's Go method.
func fixtureWith[T any](operation string, values ...any) fixtureCall[T] {
	return fixtureOf(operation, func(ctx context.Context, client *prepaid.Client) (T, error) {
		got, err := harness.Call(ctx, client, operation, values...)
		result, _ := got.(T)
		return result, err
	})
}

func (c fixtureCall[T]) newCase(outcome string) Case {
	return Case{Fixture: c.operation + "/" + outcome, Call: func(ctx context.Context, client *prepaid.Client) error {
		_, err := c.call(ctx, client)
		return err
	}}
}

// gives expects a response with every field of want.
func (c fixtureCall[T]) gives(outcome string, want T) Case {
	result := c.newCase(outcome)
	result.want = reflect.ValueOf(want)
	result.check = func(t *testing.T, _ *Fixture, ctx context.Context, client *prepaid.Client) {
		got, err := c.call(ctx, client)
		require.NoError(t, err)
		require.Equal(t, want, got)
		requireFixtureQuiet(t, got)
		require.NotContains(t, fmt.Sprintf("%+v", got), "9917", "the end of the card number")
	}
	return result
}

// refused expects an error response with the given code, sentinel and outcome.
func (c fixtureCall[T]) refused(outcome string, code prepaid.ErrorCode, sentinel error, known prepaid.Outcome) Case {
	return c.fails(outcome, known, func(t *testing.T, f *Fixture, err error) {
		api := harness.As[*prepaid.APIError](t, err)
		var body struct {
			Error       prepaid.ErrorCode `json:"error"`
			Description string            `json:"error_description"`
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
func (c fixtureCall[T]) fails(outcome string, known prepaid.Outcome, check func(t *testing.T, f *Fixture, err error)) Case {
	result := c.newCase(outcome)
	result.Refusal = true
	result.check = func(t *testing.T, f *Fixture, ctx context.Context, client *prepaid.Client) {
		got, err := c.call(ctx, client)
		require.Error(t, err)
		require.Zero(t, got)
		call := harness.As[*prepaid.CallError](t, err)
		require.Equal(t, f.Operation, call.Operation)
		require.Equal(t, known, call.Outcome)
		require.Equal(t, known, prepaid.OutcomeOf(err))
		if f.Operation != "Token" {
			require.Equal(t, 1, call.Attempts)
		}
		check(t, f, err)
		requireFixtureQuiet(t, err)
	}
	return result
}

// usual returns the cases 401 and 500, which every operation has.
func (c fixtureCall[T]) usual(unauthorized prepaid.ErrorCode, after500 prepaid.Outcome) []Case {
	after401 := prepaid.OutcomeNotProcessed
	if unauthorized == prepaid.CodeUnauthorized { // the permission may be missing: another token does not help
		after401 = prepaid.OutcomeRejected
	}
	return []Case{
		c.refused("401", unauthorized, prepaid.ErrUnauthorized, after401),
		c.refused("500", prepaid.CodeServerError, prepaid.ErrServer, after500),
	}
}

// Error codes of fixtures for which the reference specifies no code.
const (
	exampleInvalidToken    prepaid.ErrorCode = "invalid_token"
	exampleInvalidFields   prepaid.ErrorCode = "invalid_fields"
	exampleRateLimit       prepaid.ErrorCode = "rate_limit_exceeded"
	exampleAccountNotFound prepaid.ErrorCode = "account_not_found"
)

func (c fixtureCall[T]) throttled() Case {
	return c.refused("429", exampleRateLimit, prepaid.ErrRateLimited, prepaid.OutcomeNotProcessed)
}

func (c fixtureCall[T]) unknownAccount() Case {
	return c.refused("404", exampleAccountNotFound, prepaid.ErrNotFound, prepaid.OutcomeRejected)
}

// Cases returns the cases of all services.
func Cases() []Case {
	var cases []Case
	for _, of := range []func() []Case{
		tokenFixtures, reportingFixtures, policyFixtures, policyChangeFixtures, accountFixtures, accountChangeFixtures,
		companyFixtures, transactionFixtures, transferFixtures, walletFixtures, keyFixtures, fundingFixtures,
		simulationFixtures, pinFixtures, hookFixtures, hookChangeFixtures, messageFixtures,
	} {
		cases = append(cases, of()...)
	}
	return cases
}

// Config returns the settings of a client that makes one attempt of each call and never waits.
func Config(transport http.RoundTripper) prepaid.Config {
	return prepaid.Config{
		BaseURL: fixtureHost + "/3.0/", Vendor: "vendor", TestEnvironment: true,
		ClientID: "example-client", ClientSecret: prepaid.NewSecret("canary+secret%/=~"),
		TokenSource: fixtureToken{}.Token, Transport: transport, Limiter: ratelimit.None{},
		Retry: prepaid.RetryPolicy{MaxAttempts: 1, MaxThrottleWait: 1},
	}
}

type fixtureToken struct{}

func (fixtureToken) Token(context.Context, *oauth2.Token) (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: "canary-access-token-0001"}, nil
}

// fixtureJSON decodes a JSON value and keeps numbers as written.
func fixtureJSON(t *testing.T, data []byte) any {
	t.Helper()
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value), "%s", data)
	return value
}

// requireFixtureQuiet prints a value in every way and looks for secret or personal text.
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
