package prepaidvcr_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A request that is not in the cassette is not sent and not retried. Its error names the differing places without values.
func TestUnrecordedRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, unrecordedRequest)
}

func unrecordedRequest(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
	from, to := account(srv, "100.00"), account(srv, "")
	pay := func(c *prepaid.Client, amount string) error {
		params := harness.TransferTo(to, amount)
		params.RequestID = prepaid.NewRequestID()
		_, err := c.Accounts.Transfer(t.Context(), from, params)
		return err
	}
	path, _ := record(t, srv.Config(), prepaidvcr.Options{}, func(c *prepaid.Client) { require.NoError(t, pay(c, "25.50")) })
	recorder, c := replay(t, path, prepaidvcr.Options{})
	began := time.Now()
	err := pay(c, "99.75")
	require.Zero(t, time.Since(began), "no pause")
	call, ok := errors.AsType[*prepaid.CallError](err)
	require.True(t, ok)
	require.Equal(t, prepaid.OutcomeNotProcessed, call.Outcome)
	require.Zero(t, call.Attempts)
	require.Equal(t, &prepaidvcr.UnrecordedError{
		Operation: "Accounts.Transfer", Recorded: 1, Differing: []string{"body.amount"},
	}, requireMissing(t, err, "99.75"))
	_, err = c.Accounts.Get(t.Context(), from, prepaid.IncludeCardholder)
	require.ErrorContains(t, err, "Accounts.Get is not in the cassette (0 recorded, 0 used)")
	require.ErrorContains(t, raw(t, c, "/accounts/{id}/novel", nil, nil), "an unknown operation is not in the cassette")

	unused, ok := errors.AsType[*prepaidvcr.UnusedError](recorder.Stop())
	require.True(t, ok)
	require.Equal(t, []string{"Accounts.Transfer"}, unused.Operations)
	require.NoError(t, pay(c, "25.50"))
	require.NoError(t, recorder.Stop())
	require.Equal(t, &prepaidvcr.UnrecordedError{Operation: "Accounts.Transfer", Recorded: 1, Used: 1}, requireMissing(t, pay(c, "25.50"), "25"))
	allowed, _ := replay(t, path, prepaidvcr.Options{AllowUnused: true})
	require.NoError(t, allowed.Stop())
}

// Pseudonyms from the cassette distinguish calls that are made in another order, such as concurrent ones.
func TestReplayInAnotherOrder(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	_, _, _ = account(srv, "1.00"), account(srv, "2.00"), account(srv, "3.00")
	search := func(c *prepaid.Client) []*prepaid.Account {
		accounts, err := prepaid.Collect(c.Accounts.SearchCompany(t.Context(), 42, prepaid.SearchCompanyParams{}), 100)
		require.NoError(t, err)
		require.Len(t, accounts, 3)
		return accounts
	}
	get := func(c *prepaid.Client, a *prepaid.Account) {
		got, err := c.Accounts.Get(t.Context(), a.ID)
		require.NoError(t, err)
		require.Equal(t, a.ID, got.ID)
		require.Equal(t, a.Balance, got.Balance)
	}
	path, _ := record(t, srv.Config(), prepaidvcr.Options{}, func(c *prepaid.Client) {
		for _, a := range search(c) {
			get(c, a)
		}
	})
	recorder, c := replay(t, path, prepaidvcr.Options{})
	for _, a := range slices.Backward(search(c)) {
		get(c, a)
	}
	require.NoError(t, recorder.Stop())
}

// A client may request tokens at any time. A token after the recorded ones is new, or a client would not accept it after a 401.
func TestReplayOfTokens(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "1.00")
	srv.Inject("GET /accounts/{id}", prepaidtest.ExpireToken())
	path, _ := record(t, srv.Config(), prepaidvcr.Options{}, func(c *prepaid.Client) {
		_, err := c.Accounts.Get(t.Context(), id)
		require.NoError(t, err)
	})
	recorder, err := prepaidvcr.New(path, prepaidvcr.Options{})
	require.NoError(t, err)
	for i := range 3 {
		client, err := prepaid.NewClient(recorder.Config(prepaid.Config{}))
		require.NoError(t, err)
		if i < 2 { // they take the recorded tokens
			_, err = client.Accounts.Summary(t.Context(), "x")
			requireMissing(t, err, "x ")
		} else {
			_, err = client.Accounts.Get(t.Context(), "x")
			require.NoError(t, err)
		}
		require.NoError(t, client.Close())
	}
	require.NoError(t, recorder.Stop())

	// A recording with its own token source has no token.
	config := responding(map[string]string{"status": `{"external_account_id":"x","company_id":7,"balance":0,"status":"inactive"}`})
	config.ClientID, config.ClientSecret, config.Token = "", prepaid.Secret{}, harness.StaticToken("own")
	summary := func(c *prepaid.Client) {
		_, err := c.Accounts.Summary(t.Context(), "any")
		require.NoError(t, err)
	}
	path, content := record(t, config, prepaidvcr.Options{}, summary)
	require.NotContains(t, content, "/token")
	recorder, c := replay(t, path, prepaidvcr.Options{})
	summary(c)
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
		prepaidtest.RespondBody(404, "application/vnd.vendor+json", `{"error":"Mira Smith 7","error_description":"Mira Smith 7","new":1}`))
	calls := func(c *prepaid.Client) (seen []string) {
		status, err := c.Accounts.Summary(t.Context(), id)
		seen = append(seen, fmt.Sprint(err, status.Balance), fmt.Sprint(c.Accounts.SetPlasticEnabled(t.Context(), id, prepaid.SetPlasticEnabledParams{})))
		for _, id := range []prepaid.AccountID{id, id, "nobody"} {
			_, err = c.Accounts.Get(t.Context(), id)
			seen = append(seen, fmt.Sprint(err))
		}
		require.ErrorIs(t, err, prepaid.ErrorCode("account_not_found"))
		return seen
	}
	config := srv.Config()
	config.Transport = &http.Transport{DisableKeepAlives: true}
	var recorded []string
	path, content := record(t, config, prepaidvcr.Options{}, func(c *prepaid.Client) { recorded = calls(c) })
	require.NotContains(t, content, "Mira")
	require.Contains(t, content, "text/html")
	recorder, c := replay(t, path, prepaidvcr.Options{})
	require.Equal(t, recorded, calls(c))
	require.NoError(t, recorder.Stop())
}

// A missing or broken cassette is not replayed, and the error has no part of it.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cassette.yaml")
	_, err := prepaidvcr.New(path, prepaidvcr.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	for content, rule := range map[string]string{
		"version: 2\ninteractions: []\n":                                 "has no requests",
		"version: 1\ninteractions: []\n":                                 "is no cassette",
		"version: 2\ninteractions: [~]\n":                                "is no cassette",
		"version: 2\ninteractions: Mira\n":                               "is no cassette",
		"version: 2\ninteractions:\n- request:\n    url: \"%Mira://\"\n": "has an address that cannot be read",
	} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err = prepaidvcr.New(path, prepaidvcr.Options{})
		require.EqualError(t, err, "prepaidvcr: "+path+": "+rule)
	}
}
