package prepaidvcr_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// recording are the options of a recording.
var recording = prepaidvcr.Options{Mode: prepaidvcr.ModeRecord}

// open returns a recorder and a client on it.
func open(t *testing.T, path string, options prepaidvcr.Options, config prepaid.Config) (*prepaidvcr.Recorder, *prepaid.Client) {
	t.Helper()
	recorder, err := prepaidvcr.New(path, options)
	require.NoError(t, err)
	client, err := prepaid.NewClient(recorder.Config(config))
	require.NoError(t, err)
	return recorder, client
}

// record runs calls against an emulator and returns the path of the cassette.
func record(t *testing.T, srv *prepaidtest.Server, options prepaidvcr.Options, calls func(c *prepaid.Client)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made", "cassette")
	options.Mode = prepaidvcr.ModeRecord
	config := srv.Config()
	config.ShowDescriptions = false // which are not kept
	recorder, client := open(t, path, options, config)
	require.True(t, recorder.Recording())
	calls(client)
	require.NoError(t, client.Close())
	require.NoError(t, recorder.Stop())
	require.NoError(t, recorder.Stop(), "a second call does nothing")
	return path
}

// replay opens a cassette and returns a client on it, without any configuration of the recording.
func replay(t *testing.T, path string, options prepaidvcr.Options) (*prepaidvcr.Recorder, *prepaid.Client) {
	t.Helper()
	recorder, client := open(t, path+".yaml", options, prepaid.Config{
		BaseURL: "https://gateway.example.org/cards/3.0/", Vendor: "somebody", TestEnvironment: true,
		ClientID: "x", ClientSecret: prepaid.NewSecret("y"),
	})
	require.False(t, recorder.Recording())
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return recorder, client
}

func account(srv *prepaidtest.Server, balance string) prepaid.AccountID {
	return srv.AddAccount(prepaidtest.SeedAccount{Balance: balance})
}

// Identical polls of a report get the responses in the order of the recording, then none.
func TestReplayInOrder(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{ReportDelay: time.Hour, TokenLifetime: 5 * time.Hour})
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) {
		run, err := c.Reporting.Start(t.Context(), prepaidtest.DailySettlement, prepaid.StartReportParams{})
		require.NoError(t, err)
		for range 2 {
			_, err = c.Reporting.Result(t.Context(), *run)
			require.ErrorIs(t, err, prepaid.ErrReportNotReady)
		}
		srv.Advance(2 * time.Hour)
		_, err = c.Reporting.Result(t.Context(), *run)
		require.NoError(t, err)
	})
	recorder, c := replay(t, path, prepaidvcr.Options{})
	run, err := c.Reporting.Start(t.Context(), "another_template", prepaid.StartReportParams{})
	require.NoError(t, err)
	for _, want := range []error{prepaid.ErrReportNotReady, prepaid.ErrReportNotReady, nil} {
		_, err = c.Reporting.Result(t.Context(), *run)
		require.ErrorIs(t, err, want)
	}
	require.NoError(t, recorder.Stop())
	_, err = c.Reporting.Result(t.Context(), *run)
	missing, ok := errors.AsType[*prepaidvcr.UnrecordedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, &prepaidvcr.UnrecordedError{Operation: "Reporting.Result", Recorded: 3, Used: 3}, missing)
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
}

// A request that is not in the cassette is not sent and not retried. Its error names the differing places without values.
func TestUnrecordedRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, unrecordedRequest)
}

func unrecordedRequest(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
	from, to := account(srv, "100.00"), account(srv, "")
	transfer := func(c *prepaid.Client, amount, reference string) error {
		_, err := c.Accounts.Transfer(t.Context(), from, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount(amount), DestinationAccountID: to,
			SourceReference: reference, DestinationReference: reference,
		})
		return err
	}
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) { require.NoError(t, transfer(c, "25.50", "rent")) })
	recorder, c := replay(t, path, prepaidvcr.Options{})
	began := time.Now()
	err := transfer(c, "99.75", "rent")
	require.Zero(t, time.Since(began), "no pause")
	call, ok := errors.AsType[*prepaid.CallError](err)
	require.True(t, ok)
	require.Equal(t, prepaid.OutcomeNotProcessed, call.Outcome)
	require.Zero(t, call.Attempts)
	missing, ok := errors.AsType[*prepaidvcr.UnrecordedError](err)
	require.True(t, ok)
	require.Equal(t, &prepaidvcr.UnrecordedError{
		Operation: "Accounts.Transfer", Recorded: 1, Differing: []string{"body.amount"},
	}, missing)
	require.NotContains(t, err.Error(), "99.75")
	_, err = c.Accounts.Get(t.Context(), from, prepaid.IncludeCardholder)
	require.ErrorContains(t, err, "Accounts.Get is not in the cassette (0 recorded, 0 used)")

	unused, ok := errors.AsType[*prepaidvcr.UnusedError](recorder.Stop())
	require.True(t, ok)
	require.Equal(t, []string{"Accounts.Transfer"}, unused.Operations)
	require.NoError(t, recorder.Stop())
	allowed, _ := replay(t, path, prepaidvcr.Options{AllowUnused: true})
	require.NoError(t, allowed.Stop())
	used, c := replay(t, path, prepaidvcr.Options{})
	require.NoError(t, transfer(c, "25.50", "something else"), "texts and ids are not compared")
	require.NoError(t, used.Stop())
}

// Pseudonyms from the cassette distinguish concurrent calls.
func TestReplayOfConcurrentCalls(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	for _, balance := range []string{"1.00", "2.00", "3.00", "4.00", "5.00", "6.00"} {
		account(srv, balance)
	}
	calls := func(c *prepaid.Client, backwards bool) {
		accounts, err := prepaid.Collect(c.Accounts.SearchCompany(t.Context(), 42, prepaid.SearchCompanyParams{}), 100)
		require.NoError(t, err)
		require.Len(t, accounts, 6)
		get := func(a *prepaid.Account) error {
			got, err := c.Accounts.Get(t.Context(), a.ID)
			if err == nil && (got.ID != a.ID || got.Balance != a.Balance) {
				err = errors.New("the response of another account")
			}
			return err
		}
		if backwards {
			for _, a := range slices.Backward(accounts) {
				require.NoError(t, get(a))
			}
			return
		}
		done := make(chan error)
		for _, a := range accounts {
			go func() { done <- get(a) }()
		}
		for range accounts {
			require.NoError(t, <-done)
		}
	}
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) { calls(c, false) })
	for _, backwards := range []bool{false, true, false} {
		recorder, c := replay(t, path, prepaidvcr.Options{})
		calls(c, backwards)
		require.NoError(t, recorder.Stop())
	}
}

// A client may request tokens at any time: a cassette with one token is enough for a replay with more.
func TestReplayOfTokens(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "")
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) {
		for range 2 {
			_, err := c.Accounts.Summary(t.Context(), id)
			require.NoError(t, err)
		}
	})
	recorder, first := replay(t, path, prepaidvcr.Options{})
	second, err := prepaid.NewClient(recorder.Config(prepaid.Config{}))
	require.NoError(t, err)
	for _, c := range []*prepaid.Client{first, second} {
		_, err := c.Accounts.Summary(t.Context(), "any")
		require.NoError(t, err)
	}
	require.NoError(t, second.Close())
	require.NoError(t, recorder.Stop())
}

// Failures on the way are recorded as the client saw them: statuses, codes, pauses, a page of a proxy.
func TestReplayOfTrouble(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{RetryAfter: true})
	id := account(srv, "5.00")
	srv.Inject("GET /accounts/{id}/status", prepaidtest.Respond(503, ""), prepaidtest.DropBeforeCommit(), prepaidtest.Truncate(),
		prepaidtest.ExpireToken())
	srv.Inject("PUT /accounts/{id}/plastic", prepaidtest.ProxyPage(200))
	srv.Inject("GET /accounts/{id}", prepaidtest.SubstituteContentType("application/json"),
		prepaidtest.RespondBody(404, "application/vnd.vendor+json", `{"error":"Mira Smith 7","error_description":"Mira Smith 7"}`))
	var seen []string
	calls := func(c *prepaid.Client) {
		seen = nil
		see := func(err error) {
			text := "ok"
			if err != nil {
				text = err.Error()
			}
			seen = append(seen, text)
		}
		status, err := c.Accounts.Summary(t.Context(), id)
		see(err)
		seen = append(seen, status.Balance.String())
		see(c.Accounts.SetPlasticEnabled(t.Context(), id, prepaid.SetPlasticEnabledParams{}))
		_, err = c.Accounts.Get(t.Context(), id)
		see(err)
		_, err = c.Accounts.Get(t.Context(), id)
		see(err)
		_, err = c.Accounts.Get(t.Context(), "nobody")
		see(err)
		require.ErrorIs(t, err, prepaid.ErrorCode("account_not_found"))
	}
	path := record(t, srv, prepaidvcr.Options{Transport: &http.Transport{DisableKeepAlives: true}}, calls)
	recorded := seen
	recorder, c := replay(t, path, prepaidvcr.Options{})
	calls(c)
	require.NoError(t, recorder.Stop())
	require.Equal(t, recorded, seen)
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	require.NotContains(t, string(content), "Mira")
	require.Contains(t, string(content), "text/html")
}

// A response that is too long for a cassette reaches the caller whole, and Stop returns an error.
func TestRecordingTooLong(t *testing.T) {
	t.Parallel()
	const length = 9 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", length))
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "long")
	recorder, err := prepaidvcr.New(path, recording)
	require.NoError(t, err)
	response, err := (&http.Client{Transport: recorder}).Get(server.URL)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Len(t, body, length)
	require.NoError(t, response.Body.Close())
	failed, ok := errors.AsType[*prepaidvcr.CassetteError](recorder.Stop())
	require.True(t, ok)
	require.Contains(t, failed.Error(), "longer than a cassette may hold")
	require.NoFileExists(t, path+".yaml")
}

// A missing or modified cassette is not replayed.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	_, err := prepaidvcr.New(filepath.Join(t.TempDir(), "none"), prepaidvcr.Options{})
	failed, ok := errors.AsType[*prepaidvcr.CassetteError](err)
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, failed, os.ErrNotExist)

	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "")
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) {
		_, err := c.Accounts.Get(t.Context(), id, prepaid.IncludeCardholder)
		require.NoError(t, err)
	}) + ".yaml"
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	first := strings.Index(string(content), `"first_name": "anon`)
	require.Positive(t, first)
	for _, test := range []struct{ from, to, where string }{
		{`"first_name": "anon`, `"first_name": "Mira`, "response body.personal.first_name"},
		{"host: service.invalid", "host: cards.example.net", "request host"},
		{"https://service.invalid/3.0/accounts/", "https://cards.example.net/3.0/accounts/", "request address"},
		{"        method: GET", "        method: MIRA", "request method"},
		{"        status: 200 OK", "        status: 200 Mira", "response status"},
		{"        duration: 0s", "        duration: 0s\n        form: Mira", "response (unknown)"},
		{"                - application/vnd.vendor+json", "                - application/vnd.mira+json", "response header Content-Type"},
		{"version: 2", "version: 2 # Mira", "a comment"},
		{"version: 2", "version: 2\nmira: 3", "cassette (unknown)"},
		{"    - id: 0", "# Mira\n    - id: 0", "a comment"},
		{"    - id: 0", "    - id: &mira 0", "an anchor or alias"},
	} {
		before, after, ok := strings.Cut(string(content), test.from)
		require.True(t, ok, test.from)
		require.NoError(t, os.WriteFile(path, []byte(before+test.to+after), 0o600))
		_, err := prepaidvcr.New(path, prepaidvcr.Options{})
		found, ok := errors.AsType[*prepaidvcr.UnscrubbedError](err)
		require.True(t, ok, "%s: %v", test.where, err)
		require.NotContains(t, strings.ToLower(err.Error()), "mira")
		where := map[string]int{}
		for _, finding := range found.Findings {
			where[finding.Where] = finding.Line
		}
		require.Contains(t, where, test.where, err)
		changed := strings.Count(before, "\n") + 1
		require.InDelta(t, changed, where[test.where], 2, test.where)
	}
	require.NoError(t, os.WriteFile(path, append(content, "---\nmira: 1\n"...), 0o600))
	_, err = prepaidvcr.New(path, prepaidvcr.Options{})
	require.ErrorContains(t, err, "more than one document")
}
