package reconcile

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// The input of a child process, and the number of payments that it makes.
const (
	childEnv = "RECONCILE_TEST_JOURNAL"
	childURL = "RECONCILE_TEST_URL"
	childTo  = "RECONCILE_TEST_TO"
	payments = 80
)

func payer(address string) (*prepaid.Client, error) {
	return prepaid.NewClient(prepaid.Config{
		BaseURL: address, Vendor: "vendor", Limiter: ratelimit.None{}, AttemptTimeout: 400 * time.Millisecond,
		ClientID: "client", ClientSecret: prepaid.NewSecret("secret"),
		Retry: prepaid.RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: time.Millisecond, InFlightWait: 400 * time.Millisecond},
	})
}

// payAll is the child: it makes each payment once, and may be killed at any moment.
func payAll() int {
	client, err := payer(os.Getenv(childURL))
	if err != nil {
		return 2
	}
	j, err := journalfile.Open(os.Getenv(childEnv), journalfile.Options{})
	if err != nil {
		return 2
	}
	from := prepaid.AccountID("float")
	list := func(yield func(journal.Payment) bool) {
		for n := range payments {
			p := prepaid.TransferParams{
				RequestID: prepaid.DeriveRequestID(prepaid.DateOf(time.Now().UTC()), "killed", strconv.Itoa(n)), Amount: prepaid.Cents(int64(100 + n/4)),
				DestinationAccountID: prepaid.AccountID(os.Getenv(childTo)), SourceReference: "PAY", DestinationReference: "PAY",
			}
			if !yield(journal.Payment{Account: from, Params: p}) {
				return
			}
		}
	}
	status := 0
	for _, err := range j.PayAll(context.Background(), client.Accounts, 4, list) {
		if err != nil {
			status = 1
		}
	}
	return status
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

// A payroll is killed at random and run again, with faults. Afterwards, its journal and the history have no difference.
func TestKilledPayroll(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{RateLimit: -1, RandomSeed: new(uint64(3)), ClientID: "client", ClientSecret: "secret"})
	from := srv.AddAccount(prepaidtest.SeedAccount{ID: "float", Balance: "1000"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop().WithProbability(0.05),
		prepaidtest.Respond(503, "").WithProbability(0.05), prepaidtest.Delay(50*time.Millisecond).WithProbability(0.2))
	path := filepath.Join(t.TempDir(), "payments")
	client, err := payer(srv.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	reconciled := func() map[Kind]int {
		j, err := journalfile.Open(path, journalfile.Options{})
		require.NoError(t, err)
		defer func() { require.NoError(t, j.Close()) }()
		return count(t, &Run{Books: rowsOf(j), Histories: client.Accounts, Directory: t.TempDir()})
	}
	kills := 0
	for done := false; !done; {
		cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this very program
		cmd.Env = append(os.Environ(), childEnv+"="+path, childURL+"="+srv.URL, childTo+"="+string(to))
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for running := true; running; {
			select {
			case err := <-ended:
				running, done = false, err == nil
			case <-time.After(time.Millisecond):
				if kills < 4 && len(srv.Transactions(from)) > 1+payments/6*(kills+1) {
					require.NoError(t, cmd.Process.Kill())
					<-ended
					kills++
					running = false
					kinds := reconciled()
					require.Zero(t, kinds[KindServiceOnly]+kinds[KindBooksOnly]+kinds[KindAmountDiffers]+kinds[KindTwice], kinds)
				}
			}
		}
	}
	require.Equal(t, 4, kills)
	require.NoError(t, srv.WaitIdle(t.Context()))
	kinds := reconciled()
	require.Equal(t, payments, kinds[KindMatched])
	delete(kinds, KindMatched)
	delete(kinds, KindTooEarly) // the first balance of the account is no payment
	require.Empty(t, kinds)
}
