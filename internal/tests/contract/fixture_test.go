package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/internal/tests/sample"
	"github.com/stretchr/testify/require"
	"gopkg.in/h2non/gock.v1"
)

// TestFixtures sends each fixture's request and reads its response. It is serial: gock is global.
func TestFixtures(t *testing.T) {
	fixtures := ReadFixtures(t)
	for _, c := range Cases(t) {
		t.Run(c.Fixture, func(t *testing.T) {
			c.run(t, fixtures[c.Fixture])
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
		config.Token = nil
	}
	client := harness.NewClient(t, config)

	result, err := c.result(t.Context(), client)
	if c.Refusal {
		c.requireFailure(t, f, err)
	} else {
		require.NoError(t, err)
		requireResult(t, f, result)
	}
	require.NoError(t, client.Close()) // waits for goroutines that still write to the log

	require.Len(t, wire.seen, 1)
	wire.seen[0].require(t, f)
	require.False(t, gock.HasUnmatchedRequest())
	require.True(t, gock.IsDone())
	require.Contains(t, log.String(), f.Operation)
	for _, content := range []string{
		"?", "canary", "516353", "491570156", "255501234", "70010020991", "00123456", "192.0.2.17", "1980-02-29", "c0ffee",
	} {
		require.NotContains(t, strings.ToLower(log.String()), content)
	}
}

// requireFailure checks the error of a call that must fail.
func (c Case) requireFailure(t *testing.T, f *Fixture, err error) {
	t.Helper()
	call := harness.CallError(t, err)
	require.Equal(t, f.Operation, call.Operation)
	require.Equal(t, c.known, call.Outcome)
	require.Equal(t, c.known, prepaid.OutcomeOf(err))
	if f.Operation != "Token" {
		require.Equal(t, 1, call.Attempts)
	}
	for prefix, cause := range map[string]error{
		"Accounts.Transfer/200-failed": prepaid.ErrTransferFailed, "Reporting.Result/204": prepaid.ErrReportNotReady, "Reporting.Result/500": prepaid.ErrReportFailed,
	} {
		require.Equal(t, strings.HasPrefix(c.Fixture, prefix), errors.Is(err, cause), prefix)
	}
	if f.Response.Status < 400 {
		return
	}
	api := harness.As[*prepaid.APIError](t, err)
	require.Equal(t, f.Response.Status, api.StatusCode)
	require.Equal(t, string(f.Response.Body), string(api.Body))
	require.Equal(t, f.Response.Header["Content-Type"], api.Header.Get("Content-Type"))
	if text := f.Response.Header["Retry-After"]; text != "" {
		require.Equal(t, text+"s", api.RetryAfter.String())
	}
}

// requireResult compares a result with the response of the fixture.
func requireResult(t *testing.T, f *Fixture, result any) {
	t.Helper()
	switch result := result.(type) {
	case *prepaid.RawResponse:
		require.Equal(t, string(f.Body()), string(result.Body))
		require.Equal(t, f.Response.Status, result.StatusCode)
		return
	case *prepaid.ReportRun:
		require.Equal(t, strings.Trim(string(f.Body()), `" `), result.ID)
		require.Equal(t, f.Request.Query["include_column_headers"], strconv.FormatBool(result.ColumnHeaders))
		require.Equal(t, f.request().Path["templatename"], result.Template)
		require.WithinDuration(t, time.Now(), result.RequestedAt, time.Minute)
		return
	}
	s := f.operation().Response()
	if s == nil || f.Response.Body == nil {
		return
	}
	body := decoded(f.Response.Body)
	if object, ok := body.(map[string]any); ok && s.Items != nil {
		body = []any{object}
	}
	var reader sample.Reader
	got, sent := unwrapped(result, body)
	reader.Compare(f.Name(), s, sent, got)
	require.Empty(t, reader.Differences)
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
	require.Equal(t, decoded(f.Request.Body), decoded(r.body))
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, f.Request.Body))
	require.Len(t, r.body, compact.Len(), "the same members, written differently: %s", r.body)
}
