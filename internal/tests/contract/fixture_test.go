package contract

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/stretchr/testify/require"
	"gopkg.in/h2non/gock.v1"
)

// TestFixtures sends each fixture's request and reads its response. It is serial: gock is global.
func TestFixtures(t *testing.T) {
	fixtures := ReadFixtures(t)
	for _, c := range Cases() {
		t.Run(c.Fixture, func(t *testing.T) {
			f := fixtures[c.Fixture]
			require.NotNil(t, f, "there is no such file")
			c.run(t, f)
		})
	}
}

func (c Case) run(t *testing.T, f *Fixture) {
	defer gock.OffAll()
	mock := gock.New(fixtureHost).AddMatcher(func(req *http.Request, _ *gock.Request) (bool, error) {
		return req.Method == f.Request.Method && req.URL.EscapedPath() == f.Request.Path, nil
	}).Reply(f.Response.Status).Body(bytes.NewReader(f.Body()))
	for name, value := range f.Response.Header {
		mock.SetHeader(name, value)
	}
	wire := &fixtureWire{next: gock.DefaultTransport}
	var log bytes.Buffer
	config := Config(wire)
	config.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if f.Operation == "Token" {
		config.TokenSource = nil
	}
	client := harness.NewClient(t, config)

	c.check(t, f, t.Context(), client)
	require.NoError(t, client.Close()) // waits for goroutines that still write to the log

	require.Len(t, wire.seen, 1)
	wire.seen[0].require(t, f)
	require.False(t, gock.HasUnmatchedRequest())
	require.True(t, gock.IsDone())
	require.Contains(t, log.String(), f.Operation)
	requireNoFixtureCanaries(t, log.String())
	require.NotContains(t, log.String(), "?")
}

// fixtureWire keeps the sent request.
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

// require compares a request with the fixture: the request line, all parameters, the relevant headers and no
// others of their kind, and the body, including the written form of its numbers.
func (r fixtureSent) require(t *testing.T, f *Fixture) {
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
