package reconcile

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// faulty returns a client of an emulator whose histories have small pages and fail often.
func faulty(t *testing.T) (*prepaidtest.Server, *prepaid.Client) {
	t.Helper()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{
		InMemory: true, RateLimit: -1, RandomSeed: new(uint64(5)), PageSizes: prepaidtest.PageSizes{Least: 1, Normal: 5, Most: 9},
	})
	srv.Inject("GET /accounts/{id}/transactions", prepaidtest.Respond(500, "server_error").WithProbability(0.1),
		prepaidtest.ProxyPage(502).WithProbability(0.1), prepaidtest.Truncate().WithProbability(0.1),
		prepaidtest.DropBeforeCommit().WithProbability(0.1))
	config := srv.Config()
	config.Retry = prepaid.RetryPolicy{MaxAttempts: 30, MinWait: time.Microsecond, MaxWait: time.Millisecond}
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	nightly, err := client.With(prepaid.Overrides{Lane: ratelimit.Bulk})
	require.NoError(t, err)
	return srv, nightly
}

// Payments are made and recorded while run after run reads: no finding is false.
func TestPaymentsDuringRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		srv, client := faulty(t)
		from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "1000"}), srv.AddAccount(prepaidtest.SeedAccount{})
		j, err := journalfile.Open(filepath.Join(t.TempDir(), "payments"), journalfile.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = j.Close() })
		const total = 60
		var pay sync.WaitGroup
		stop := make(chan struct{})
		pay.Go(func() {
			defer close(stop)
			for n := range total {
				_, err := j.Transfer(t.Context(), client.Accounts, from, prepaid.TransferParams{
					RequestID: prepaid.NewRequestID(), Amount: prepaid.Cents(int64(100 + n/9)), DestinationAccountID: to, SourceReference: "S", DestinationReference: "D",
				})
				require.NoError(t, err)
			}
		})
		for last := false; !last; {
			select {
			case <-stop:
				last = true
			default:
			}
			kinds := count(t, &Run{Books: rowsOf(j), Histories: client.Accounts})
			if last {
				require.Equal(t, total, kinds[KindMatched])
			}
			delete(kinds, KindMatched)
			delete(kinds, KindTooEarly)
			require.Empty(t, kinds)
		}
		pay.Wait()
	})
}

// rowsOf iterates over the rows of a journal.
func rowsOf(j *journalfile.Journal) func(yield func(Row, error) bool) {
	return func(yield func(Row, error) bool) {
		for e := range j.All() {
			if !yield(RowOf(e), nil) {
				return
			}
		}
		if err := j.Err(); err != nil {
			yield(Row{}, err)
		}
	}
}
