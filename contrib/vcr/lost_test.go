package prepaidvcr_test

import (
	"net/http"
	"strings"
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
		Amount: prepaid.MustAmount("5.00"), AccountID: id, Exception: prepaid.FundingExceptionNone, MerchantNameLocation: "m", Currency: "036",
		OriginatingTransaction: 1, CardAcceptorID: "c", CorrelationID: "x", MerchantCategoryCode: "5411", TerminalID: "t", AcquirerID: "a",
	})
	return err
}

type refusedError struct{}

func (refusedError) Error() string { return "refused" }

func (refusedError) NotSent() bool { return true }

// A payment whose response was lost has an unknown outcome in the replay too. A request that was not sent is not in the cassette, and the
// replay reports it as not sent. A recording uses the caller's transport.
func TestOutcomesAreReplayed(t *testing.T) {
	t.Parallel()
	for _, fault := range []prepaidtest.Fault{prepaidtest.Truncate(), prepaidtest.DropBeforeCommit()} {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{})
		from, to := account(srv, "100.00"), account(srv, "")
		srv.Inject("POST /funding/redemptions", fault)
		config := srv.Config()
		own := &http.Transport{DisableKeepAlives: true}
		config.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "/transfer") {
				return nil, refusedError{}
			}
			return own.RoundTrip(req)
		})
		calls := func(c *prepaid.Client) error {
			err := redeem(t, c, from)
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
			require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(transfer(t, c, "a", from, to)))
			return err
		}
		path, content := record(t, config, prepaidvcr.Options{}, func(c *prepaid.Client) { _ = calls(c) })
		require.NotContains(t, content, "/transfer")
		recorder, c := replay(t, path, prepaidvcr.Options{})
		require.ErrorContains(t, calls(c), "the response was lost in the recording")
		require.NoError(t, recorder.Stop())
	}
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
	recorder, client := replay(t, path, prepaidvcr.Options{})
	began := time.Now()
	require.NoError(t, transfer(t, client, "a", from, to))
	require.Equal(t, 2*time.Second+time.Millisecond, time.Since(began).Truncate(time.Millisecond))
	require.NoError(t, recorder.Stop(), "the read counts as the client's own, and may be left over")
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
		run, err := c.Reporting.Start(t.Context(), "daily", prepaid.RunReportParams{})
		require.NoError(t, err)
		require.Equal(t, "report 1", run.ID)
	})
	require.Equal(t, 1, seen)
}
