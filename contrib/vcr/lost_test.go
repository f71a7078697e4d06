package prepaidvcr_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func redeem(t *testing.T, c *prepaid.Client, id prepaid.AccountID) error {
	t.Helper()
	_, err := c.Funding.Redeem(t.Context(), prepaid.RedeemFundingParams{
		AccountID: id, Amount: prepaid.MustAmount("5.00"), Exception: prepaid.FundingExceptionNone, MerchantNameLocation: "m",
		OriginatingTransaction: 1, Currency: "036", CardAcceptorID: "1", CorrelationID: "c", MerchantCategoryCode: "5411", TerminalID: "1", AcquirerID: "1",
	})
	return err
}

// A payment whose response was lost has an unknown outcome in the replay too, and not "not sent".
func TestLostAnswerStaysInDoubt(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]prepaidtest.Fault{
		"truncated": prepaidtest.Truncate(), "dropped": prepaidtest.DropBeforeCommit(),
	} {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{})
		id := account(srv, "100.00")
		srv.Inject("POST /funding/redemptions", fault)
		path := record(t, srv, prepaidvcr.Options{Transport: &http.Transport{DisableKeepAlives: true}}, func(c *prepaid.Client) {
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(redeem(t, c, id)), name)
		})
		recorder, c := replay(t, path, prepaidvcr.Options{})
		err := redeem(t, c, "any")
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, "the response was lost in the recording")
		require.NoError(t, recorder.Stop())
	}
}

// A request that was not sent is not in the cassette, and the replay reports it as not sent.
func TestUnsentRequestIsNotRecorded(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "100.00")
	refuses := roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Method == http.MethodPost && req.URL.Path != "/3.0/token" {
			return nil, refusedError{}
		}
		return http.DefaultTransport.RoundTrip(req)
	})
	calls := func(c *prepaid.Client) {
		_, err := c.Accounts.Summary(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(redeem(t, c, id)))
	}
	recorder, c := replay(t, record(t, srv, prepaidvcr.Options{Transport: refuses}, calls), prepaidvcr.Options{})
	calls(c)
	require.NoError(t, recorder.Stop())
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

type refusedError struct{}

func (refusedError) Error() string { return "refused" }

func (refusedError) NotSent() bool { return true }

// A recording sends through the caller's own transport, unless the options name one.
func TestRecordingUsesTheCallersTransport(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "")
	var own, named atomic.Int64
	counting := func(n *atomic.Int64) http.RoundTripper {
		return roundTripper(func(req *http.Request) (*http.Response, error) {
			n.Add(1)
			return http.DefaultTransport.RoundTrip(req)
		})
	}
	for _, options := range []prepaidvcr.Options{{}, {Transport: counting(&named)}} {
		options.Mode = prepaidvcr.ModeRecord
		recorder, err := prepaidvcr.New(filepath.Join(t.TempDir(), "cassette"), options)
		require.NoError(t, err)
		config := srv.Config()
		config.Transport = counting(&own)
		client, err := prepaid.NewClient(recorder.Config(recorder.Config(config)))
		require.NoError(t, err)
		_, err = client.Accounts.Summary(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, client.Close())
		require.NoError(t, recorder.Stop())
		require.EqualValues(t, 2, own.Load(), "a token and a call")
	}
	require.EqualValues(t, 2, named.Load())
}

// A replay needs only the cassette: the simulator works, and if the recording had its own token source, the replay
// generates tokens.
func TestReplayNeedsNothingOfTheRecording(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{InitialStatus: "active", SimulationDelay: -1})
	id := account(srv, "100.00")
	simulate := func(c *prepaid.Client) error {
		_, err := c.Simulation.Transact(t.Context(), prepaid.SimulateParams{
			Type: prepaid.SimulatedTypePurchase, AccountID: id, Amount: prepaid.MustAmount("1.00"), MerchantID: "1", AcquirerID: "2",
			TerminalID: "1", MerchantCategoryCode: "5411", Location: "x", LocationCode: "1", BankName: "b", CurrencyCode: "036",
		})
		return err
	}
	var token string
	first := record(t, srv, prepaidvcr.Options{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		if given := req.Header.Get("Authorization"); len(given) > 7 && given[:7] == "Bearer " {
			token = given[7:]
		}
		return http.DefaultTransport.RoundTrip(req)
	})}, func(c *prepaid.Client) { require.NoError(t, simulate(c)) })

	path := filepath.Join(t.TempDir(), "cassette")
	config := srv.Config()
	config.TokenSource = func(context.Context, *oauth2.Token) (*oauth2.Token, error) {
		return &oauth2.Token{AccessToken: token, TokenType: "bearer"}, nil
	}
	recorder, client := open(t, path, recording, config)
	require.NoError(t, simulate(client))
	require.NoError(t, client.Close())
	require.NoError(t, recorder.Stop())
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	require.NotContains(t, string(content), "/token")

	for _, path := range []string{first, path} {
		recorder, client := open(t, path, prepaidvcr.Options{}, prepaid.Config{})
		require.NoError(t, simulate(client))
		require.NoError(t, client.Close())
		require.NoError(t, recorder.Stop())
	}
}

// A token after the recorded ones is new, or a client would not accept it after a 401.
func TestSurplusTokensDiffer(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "1.00")
	srv.Inject("GET /accounts/{id}", prepaidtest.ExpireToken())
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) {
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
			_, ok := errors.AsType[*prepaidvcr.UnrecordedError](err)
			require.True(t, ok)
		} else {
			_, err = client.Accounts.Get(t.Context(), "x")
			require.NoError(t, err)
		}
		require.NoError(t, client.Close())
	}
	require.NoError(t, recorder.Stop())
}

// A replay of a transfer whose response was lost does not wait as long as the service might need: nothing is in flight.
func TestReplayOfALostTransferIsShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, replayOfALostTransfer)
}

func replayOfALostTransfer(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
	from, to := account(srv, "100.00"), account(srv, "")
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
	pay := func(c *prepaid.Client) error {
		_, err := c.Accounts.Transfer(t.Context(), from, prepaid.TransferParams{
			RequestID: "a", Amount: prepaid.MustAmount("5.00"), DestinationAccountID: to, SourceReference: "a", DestinationReference: "b",
		})
		return err
	}
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) {
		require.NoError(t, pay(c))
		_, err := c.Accounts.Summary(t.Context(), from)
		require.NoError(t, err)
	})
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(content), "/status\n"), "the caller's own read; earlier versions recorded those of the client too")
	for want, config := range map[time.Duration]prepaid.Config{
		2*time.Second + time.Millisecond: {},
		35 * time.Second:                 {AttemptTimeout: 30 * time.Second, Retry: prepaid.RetryPolicy{InFlightWait: 5 * time.Second}},
	} {
		recorder, client := open(t, path, prepaidvcr.Options{}, config)
		began := time.Now()
		require.NoError(t, pay(client))
		require.InDelta(t, want, time.Since(began), float64(time.Millisecond))
		if want > 10*time.Second { // else the read counts as the client's own, and may be left over
			_, err := client.Accounts.Summary(t.Context(), from)
			require.NoError(t, err)
		}
		require.NoError(t, client.Close())
		require.NoError(t, recorder.Stop())
	}
	recorder, err := prepaidvcr.New(path, recording)
	require.NoError(t, err)
	config := recorder.Config(prepaid.Config{})
	require.Zero(t, config.AttemptTimeout, "the service needs its time")
	require.Zero(t, config.Retry)
}
