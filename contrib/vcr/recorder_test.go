package prepaidvcr

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"

	"github.com/cardprograms/prepaid"
)

// transportFunc is a transport that a test writes.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func answering(body string) transportFunc {
	return func(req *http.Request) (*http.Response, error) {
		if req.Body != nil {
			_, _ = io.Copy(io.Discard, req.Body)
			_ = req.Body.Close()
		}
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/vnd.vendor+json"}}, Request: req,
			Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

func clientOn(t *testing.T, transport http.RoundTripper) *prepaid.Client {
	t.Helper()
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: "https://cards.invalid/3.0/", Vendor: "vendor", Transport: transport,
		TokenSource: func(context.Context, *oauth2.Token) (*oauth2.Token, error) {
			return &oauth2.Token{AccessToken: "token", TokenType: "bearer"}, nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// net/http must not start a report twice. A recording must keep the client's protection: a connection that is not
// reused, and a body that cannot be read twice.
func TestRecordingKeepsRequestsUnrepeatable(t *testing.T) {
	t.Parallel()
	seen := 0
	recorder, err := New(filepath.Join(t.TempDir(), "report"), Options{Mode: ModeRecord, Transport: transportFunc(func(req *http.Request) (*http.Response, error) {
		seen++
		require.True(t, req.Close)
		require.NotNil(t, req.Body)
		require.NotEqual(t, http.NoBody, req.Body)
		require.Nil(t, req.GetBody)
		return answering(`"report 1"`)(req)
	})})
	require.NoError(t, err)
	run, err := clientOn(t, recorder).Reporting.Start(t.Context(), "daily", prepaid.StartReportParams{})
	require.NoError(t, err)
	require.Equal(t, "report 1", run.ID)
	require.Equal(t, 1, seen)
	require.NoError(t, recorder.Stop())
}

// Values that vary with each run do not prevent a match; a different requested number of items does.
func TestTimesAreNotCompared(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	recorder, err := New(path, Options{Mode: ModeRecord, Transport: answering("[]")})
	require.NoError(t, err)
	window := func(c *prepaid.Client, from time.Time, size int) error {
		_, err := c.Accounts.TransactionsPage(t.Context(), "EA1", prepaid.ListTransactionsParams{
			From: from, To: from.AddDate(0, 1, 0), Paging: prepaid.Paging{Page: 1, Size: size},
		})
		return err
	}
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, window(clientOn(t, recorder), day, 10))
	require.NoError(t, recorder.Stop())
	player, err := New(path, Options{})
	require.NoError(t, err)
	err = window(clientOn(t, player), day, 20)
	missing, ok := errors.AsType[*UnrecordedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []string{"query page_size"}, missing.Differing)
	require.Equal(t, []string{"one", "other"}, parts{"one": {"1"}}.differing(parts{"other": {"1"}}))
	require.NoError(t, window(clientOn(t, player), day.AddDate(0, 5, 0), 10))
	require.NoError(t, player.Stop())
}

// If the scrubber misses a value, the cassette is not written.
func TestNothingUnscrubbedIsWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "leak")
	recorder, err := New(path, Options{Mode: ModeRecord, Transport: answering("{}")})
	require.NoError(t, err)
	recorder.taken = append(recorder.taken, &cassette.Interaction{
		Request:  cassette.Request{Method: http.MethodGet, URL: "https://" + serviceHost + apiRoot + "/accounts/anon1", Host: serviceHost},
		Response: cassette.Response{Code: 200, Status: "200 OK", Body: `{"name_on_card": "MIRA SMITH"}`},
	})
	found, ok := errors.AsType[*UnscrubbedError](recorder.Stop())
	require.True(t, ok)
	require.Len(t, found.Findings, 1)
	require.Equal(t, "response body.name_on_card", found.Findings[0].Where)
	require.NoFileExists(t, path+extension)
}

// A request whose body breaks off, or whose context has ended, is neither sent nor recorded.
func TestRequestsThatEndEarly(t *testing.T) {
	t.Parallel()
	sent := 0
	recorder, err := New(filepath.Join(t.TempDir(), "none"), Options{Mode: ModeRecord, Transport: transportFunc(func(req *http.Request) (*http.Response, error) {
		sent++
		return answering("{}")(req)
	})})
	require.NoError(t, err)
	broken := io.NopCloser(iotest.ErrReader(errors.New("broken")))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://cards.invalid/3.0/hooks", broken)
	require.NoError(t, err)
	_, err = recorder.RoundTrip(req) //nolint:bodyclose // there is none
	require.ErrorContains(t, err, "broken")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err = http.NewRequestWithContext(ctx, http.MethodGet, "https://cards.invalid/3.0/hooks", http.NoBody)
	require.NoError(t, err)
	_, err = recorder.RoundTrip(req) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, sent)
	require.Empty(t, slices.DeleteFunc(recorder.taken, func(i *cassette.Interaction) bool { return i == nil }))
}
