package reconcile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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
func faulty(t *testing.T, options prepaidtest.Options) (*prepaidtest.Server, *prepaid.Client) {
	t.Helper()
	options.RateLimit, options.RandomSeed, options.PageSizes = -1, new(uint64(5)), prepaidtest.PageSizes{Least: 1, Normal: 5, Most: 9}
	srv := prepaidtest.NewServer(t, options)
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

// Differences of each kind are found in the histories of the emulator, whatever faults there are.
func TestPlantedDifferences(t *testing.T) {
	t.Parallel()
	srv, client := faulty(t, prepaidtest.Options{})
	yesterday := time.Now().UTC().AddDate(0, 0, -1).Truncate(time.Hour)
	const perAccount = 24
	var document strings.Builder
	for a := range 5 {
		fmt.Fprintf(&document, `,{"account_id": "EA%d", "transactions": [{"type": "2950", "amount": 9999, "occurred_at": "%s"}`, a, yesterday.Add(-time.Hour).Format(time.RFC3339))
		for n := range perAccount {
			amount := -100 - n
			if n == 8 { // equal to the one before it
				amount = -107
			}
			fmt.Fprintf(&document, `,{"type": "2951", "amount": %d, "occurred_at": "%s"}`, amount, yesterday.Add(time.Duration(n)*time.Minute).Format(time.RFC3339))
		}
		document.WriteString("]}")
	}
	require.NoError(t, srv.Load(strings.NewReader(`{"accounts": [`+document.String()[1:]+"]}")))

	var rows []Row
	var want []string
	for a := range 5 {
		id := prepaid.AccountID(fmt.Sprint("EA", a))
		items := srv.Transactions(id)
		require.Len(t, items, perAccount+1)
		for n, item := range items[1:] {
			r := Row{
				RequestID: prepaid.RequestID(fmt.Sprint(id, ".", n)), TransactionID: item.ID, AccountID: id,
				Amount: prepaid.Cents(int64(-100*100 - n*100)), From: yesterday.Add(time.Duration(n) * time.Minute), Expected: paid,
			}
			finding := fmt.Sprintf("matched: %s = %s", r.RequestID, item.ID)
			switch n {
			case 1: // the books lost it
				want = append(want, fmt.Sprintf("service only:  = %s", item.ID))
				continue
			case 2: // it never reached the service
				lost := r
				lost.RequestID, lost.TransactionID, lost.Amount = r.RequestID+"lost", "", prepaid.Cents(-1)
				rows, want = append(rows, lost), append(want, fmt.Sprintf("books only: %s = ", lost.RequestID))
			case 3:
				r.Amount = prepaid.Cents(-1)
				finding = strings.Replace(finding, "matched", "amount differs", 1)
			case 4:
				r.TransactionID, finding = "", strings.Replace(finding, "=", "~", 1)
			case 5:
				again := r
				again.RequestID += "again"
				rows, finding = append(rows, again), fmt.Sprintf("twice: %s %s = %s", r.RequestID, again.RequestID, item.ID)
			case 7: // with the item after it
				r.TransactionID, finding = "", fmt.Sprintf("ambiguous: %s = %s %s", r.RequestID, item.ID, items[9].ID)
			case 8:
				continue
			case 9:
				fresh := Row{RequestID: r.RequestID + "fresh", AccountID: id, Amount: prepaid.Cents(-2), From: time.Now(), Expected: running}
				rows, want = append(rows, fresh), append(want, fmt.Sprintf("too early: %s = ", fresh.RequestID))
			}
			rows, want = append(rows, r), append(want, finding)
		}
	}
	slices.Sort(want)
	run := Run{
		Books: books(rows), Histories: client.Accounts, Paging: prepaid.Paging{Size: 5, Prefetch: 3}, Concurrency: 3,
		Ignore: func(t *prepaid.Transaction) bool { return t.Type == prepaid.TransactionTypeLoad },
	}
	found, failed := all(t, &run)
	require.Empty(t, failed)
	require.Equal(t, want, found)
}

// Payments are made and recorded while run after run reads: no finding is false.
func TestPaymentsDuringRuns(t *testing.T) {
	t.Parallel()
	srv, client := faulty(t, prepaidtest.Options{})
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
}
