package contract

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/sample"
	"github.com/cardprograms/prepaid/ratelimit"
)

const fixtureHost = "https://api.example.com"

// Fixture is one file of testdata; see testdata/README.md.
type Fixture struct {
	Operation string           `json:"-"`
	Outcome   string           `json:"-"`
	Known     *prepaid.Outcome `json:"outcome"`
	About     string           `json:"about"`
	Reference string           `json:"reference"`
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

// ReadFixtures returns all files of testdata by name. If a word in the body decides about the safety class, each word has a fixture.
func ReadFixtures(t testing.TB) map[string]*Fixture {
	t.Helper()
	fixtures := map[string]*Fixture{}
	for _, f := range readFixtures(t) {
		fixtures[f.Name()] = f
	}
	return fixtures
}

// readFixtures is ReadFixtures in the order of the names, and of the words in the document.
func readFixtures(t testing.TB) (fixtures []*Fixture) {
	t.Helper()
	files, err := fs.Glob(testdata, "testdata/*/*.json")
	require.NoError(t, err)
	slices.SortFunc(files, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, ".json"), strings.TrimSuffix(b, ".json"))
	})
	for _, file := range files {
		content, err := testdata.ReadFile(file)
		require.NoError(t, err)
		strict := json.NewDecoder(bytes.NewReader(content))
		strict.DisallowUnknownFields()
		f := &Fixture{Operation: path.Base(path.Dir(file)), Outcome: strings.TrimSuffix(path.Base(file), ".json")}
		require.NoError(t, strict.Decode(f), file)
		words := f.words()
		if words == nil {
			fixtures = append(fixtures, f)
		}
		for _, word := range words {
			other := *f
			other.Outcome += "-" + word.(string)
			for name := range f.operation().Never {
				other.Request.Body, err = json.Marshal(map[string]any{name: word})
				require.NoError(t, err)
			}
			fixtures = append(fixtures, &other)
		}
	}
	return fixtures
}

// words returns the values of the member of the body that decides about the safety class.
func (f *Fixture) words() []any {
	for name := range f.operation().Never {
		if s, ok := f.operation().Request.JSON().Properties.Get(name); ok && len(s.Enum) > 0 {
			return s.Enum
		}
	}
	return nil
}

func (f *Fixture) operation() *reference.Operation { return reference.Read().Operation(f.Operation) }

// request returns the request as the document describes it.
func (f *Fixture) request() *sample.Request {
	r := &sample.Request{Operation: f.operation(), Path: map[string]string{}, Query: url.Values{}}
	sent := strings.Split(strings.TrimPrefix(f.Request.Path, "/3.0"), "/")
	for i, segment := range strings.Split(r.Operation.Path, "/") {
		if name := strings.Trim(segment, "{}"); name != segment {
			r.Path[name], _ = url.PathUnescape(sent[i])
		}
	}
	for name, value := range f.Request.Query {
		r.Query.Set(name, value)
	}
	r.Body = decoded(f.Request.Body)
	return r
}

// decoded returns a JSON value with its numbers as they are written.
func decoded(data []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	_ = decoder.Decode(&value)
	return value
}

// Case calls the client for one fixture.
type Case struct {
	Fixture string
	Refusal bool // the client must return an error, even if the status is a success
	Call    func(ctx context.Context, client *prepaid.Client) error
	known   prepaid.Outcome
	result  func(ctx context.Context, client *prepaid.Client) (any, error)
}

// Cases returns the cases of all fixtures.
func Cases(t testing.TB) []Case {
	t.Helper()
	var cases []Case
	for _, f := range readFixtures(t) {
		c := Case{Fixture: f.Name(), Refusal: f.Known != nil, result: f.request().CallPage}
		switch {
		case c.Refusal:
			c.known = *f.Known
		case f.Response.Status >= 400:
			var body struct{ Error prepaid.ErrorCode }
			_ = json.Unmarshal(f.Response.Body, &body)
			c.Refusal, c.known = true, knownOutcome(f.operation(), f.Response.Status, body.Error)
		}
		c.Call = func(ctx context.Context, client *prepaid.Client) error {
			_, err := c.result(ctx, client)
			return err
		}
		cases = append(cases, c)
	}
	return cases
}

// knownOutcome is the outcome of an error response to the only attempt.
func knownOutcome(o *reference.Operation, status int, code prepaid.ErrorCode) prepaid.Outcome {
	switch {
	case o.Safety == "token", status == http.StatusTooManyRequests, status == http.StatusUnauthorized && code != prepaid.CodeUnauthorized,
		o.Also[strconv.Itoa(status)] == "final":
		return prepaid.OutcomeNotProcessed
	case status < 500:
		return prepaid.OutcomeRejected
	case o.Safety == "read":
		return prepaid.OutcomeNotProcessed
	}
	return prepaid.OutcomeUnknown
}

// Config returns the settings of a client that makes one attempt of each call and never waits.
func Config(transport http.RoundTripper) prepaid.Config {
	return prepaid.Config{
		BaseURL: fixtureHost + "/3.0/", Vendor: "vendor", TestEnvironment: true,
		ClientID: "example-client", ClientSecret: prepaid.NewSecret("canary+secret%/=~"),
		Token: fixtureToken{}.Token, Transport: transport, Limiter: ratelimit.None{},
		Retry: prepaid.RetryPolicy{MaxAttempts: 1, MaxThrottleWait: 1},
	}
}

type fixtureToken struct{}

func (fixtureToken) Token(context.Context, *oauth2.Token) (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: "canary-access-token-0001"}, nil
}
