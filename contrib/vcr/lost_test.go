package prepaidvcr_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

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
func TestLostResponseStaysUnknown(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]prepaidtest.Fault{
		"truncated": prepaidtest.Truncate(), "dropped": prepaidtest.DropBeforeCommit(),
	} {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{})
		id := account(srv, "100.00")
		srv.Inject("POST /funding/redemptions", fault)
		config := srv.Config()
		config.Transport = &http.Transport{DisableKeepAlives: true}
		path, _ := record(t, config, prepaidvcr.Options{}, func(c *prepaid.Client) {
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(redeem(t, c, id)), name)
		})
		recorder, c := replay(t, path, prepaidvcr.Options{})
		err := redeem(t, c, "any")
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, "the response was lost in the recording")
		require.NoError(t, recorder.Stop())
	}
}

type refusedError struct{}

func (refusedError) Error() string { return "refused" }

func (refusedError) NotSent() bool { return true }

// A request that was not sent is not in the cassette, and the replay reports it as not sent. A recording uses the caller's transport.
func TestUnsentRequestIsNotRecorded(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "100.00")
	var sent atomic.Int64
	config := srv.Config()
	config.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
		sent.Add(1)
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
	path, _ := record(t, config, prepaidvcr.Options{}, calls)
	require.Positive(t, sent.Load())
	recorder, c := replay(t, path, prepaidvcr.Options{})
	calls(c)
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
	path, content := record(t, srv.Config(), prepaidvcr.Options{}, func(c *prepaid.Client) {
		require.NoError(t, transfer(t, c, "a", from, to))
		_, err := c.Accounts.Summary(t.Context(), from)
		require.NoError(t, err)
	})
	require.Equal(t, 1, strings.Count(content, "/status\n"), "the caller's own read; earlier versions recorded those of the client too")
	for want, config := range map[time.Duration]prepaid.Config{
		2*time.Second + time.Millisecond: {},
		35 * time.Second:                 {AttemptTimeout: 30 * time.Second, Retry: prepaid.RetryPolicy{InFlightWait: 5 * time.Second}},
	} {
		recorder, client := open(t, path, prepaidvcr.Options{}, config)
		began := time.Now()
		require.NoError(t, transfer(t, client, "a", from, to))
		require.InDelta(t, want, time.Since(began), float64(time.Millisecond))
		if want > 10*time.Second { // else the read counts as the client's own, and may be left over
			_, err := client.Accounts.Summary(t.Context(), from)
			require.NoError(t, err)
		}
		require.NoError(t, client.Close())
		require.NoError(t, recorder.Stop())
	}
	recorder, err := prepaidvcr.New(path, prepaidvcr.Options{Mode: prepaidvcr.ModeRecord})
	require.NoError(t, err)
	config := recorder.Config(recorder.Config(prepaid.Config{}))
	require.Zero(t, config.AttemptTimeout, "the service needs its time")
	require.Zero(t, config.Retry)
}

// net/http must not start a report twice. A recording must keep the client's protection: a connection that is not
// reused, and a body that cannot be read twice.
func TestRecordingKeepsRequestsUnrepeatable(t *testing.T) {
	t.Parallel()
	config := responding(map[string]string{"daily": `"report 1"`})
	next, seen := config.Transport, 0
	config.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(req.URL.Path, "/token") {
			seen++
			require.True(t, req.Close)
			require.NotNil(t, req.Body)
			require.NotEqual(t, http.NoBody, req.Body)
			require.Nil(t, req.GetBody)
		}
		return next.RoundTrip(req)
	})
	record(t, config, prepaidvcr.Options{}, func(c *prepaid.Client) {
		run, err := c.Reporting.Start(t.Context(), "daily", prepaid.StartReportParams{})
		require.NoError(t, err)
		require.Equal(t, "report 1", run.ID)
	})
	require.Equal(t, 1, seen)
}
