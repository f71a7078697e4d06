package journalfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
)

// The input of a child process.
const (
	childEnv   = "JOURNAL_TEST_CHILD"
	childFile  = "JOURNAL_TEST_FILE"
	childURL   = "JOURNAL_TEST_URL"
	childFrom  = "JOURNAL_TEST_FROM"
	childTo    = "JOURNAL_TEST_TO"
	childToday = "JOURNAL_TEST_TODAY"
	childKey   = "JOURNAL_TEST_KEY"

	takes = 200 * time.Millisecond // a transfer, at most

	// Exit statuses of a child.
	exitDone, exitAgain, exitLocked, exitOther = 0, 3, 4, 5
)

// payments is how many a child makes, more in CI's step kills.
func payments() int {
	n, err := strconv.Atoi(os.Getenv("JOURNAL_TEST_PAYMENTS"))
	if err != nil {
		return 120
	}
	return n
}

func payrollID(day prepaid.Date, n int) prepaid.RequestID {
	return prepaid.DeriveRequestID(day, "killed", strconv.Itoa(n))
}

// resources returns the journal and the client of a child. With a key, the journal is sealed.
func resources() (*Journal, *prepaid.Client, error) {
	client, err := prepaid.NewClient(prepaid.Config{
		BaseURL: os.Getenv(childURL), Vendor: "vendor",
		ClientID: "client", ClientSecret: prepaid.NewSecret("secret"),
		Limiter: ratelimit.None{},
		// With InFlightWait, four times a transfer on the emulator: the machine may be busy with other tests.
		AttemptTimeout: 400 * time.Millisecond,
		Retry:          prepaid.RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: time.Millisecond, InFlightWait: 400 * time.Millisecond},
	})
	if err != nil {
		return nil, nil, err
	}
	options := Options{DigestKey: prepaid.NewSecret("key")}
	if key := os.Getenv(childKey); key != "" {
		if options.Seal, err = journal.NewAEAD([]byte(key)); err != nil {
			return nil, nil, err
		}
	}
	j, err := Open(os.Getenv(childFile), options)
	return j, client, err
}

// ended closes the journal and returns the exit status.
func ended(j *Journal, failed int32) int {
	switch err := j.Close(); {
	case err != nil:
		return exitOther
	case failed > 0:
		return exitAgain
	}
	return exitDone
}

// payAll makes each payment once, like a payroll program: even numbers by card, odd numbers to a bank.
func payAll() int {
	day, err := prepaid.ParseDate(os.Getenv(childToday))
	if err != nil {
		return exitOther
	}
	j, client, err := resources()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitOther
	}
	from, to := prepaid.AccountID(os.Getenv(childFrom)), prepaid.AccountID(os.Getenv(childTo))
	list := func(yield func(journal.Payment) bool) {
		for n := range payments() {
			p := journal.Payment{Account: from, Params: bankPayment(payrollID(day, n), n)}
			if n%2 == 0 {
				p.Params = prepaid.TransferParams{
					RequestID: payrollID(day, n), Amount: prepaid.Cents(int64(100 + n)), DestinationAccountID: to,
					SourceReference: "PAY", DestinationReference: "PAY",
				}
			}
			if !yield(p) {
				return
			}
		}
	}
	failed := int32(0)
	for _, err := range j.PayAll(context.Background(), client.Accounts, 8, list) {
		if err != nil {
			failed++
		}
	}
	return ended(j, failed)
}

func bankPayment(id prepaid.RequestID, n int) prepaid.DirectEntryOutParams {
	return prepaid.DirectEntryOutParams{
		RequestID: id, Amount: prepaid.Cents(int64(100 + n)), SourceReference: "PAY", DestinationReference: "PAY", BSB: "062000",
		Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "J CITIZEN"},
	}
}

// openOnce reports whether the file can be opened, and keeps it open until standard input ends.
func openOnce() int {
	j, err := Open(os.Getenv(childFile), Options{})
	if errors.Is(err, ErrLocked) {
		return exitLocked
	}
	if err != nil {
		return exitOther
	}
	fmt.Println("open")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	_ = j.Close()
	return exitDone
}

func child(t *testing.T, job string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this very program
	cmd.Env = append(append(os.Environ(), childEnv+"="+job), env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// killable is a service on which a child can be killed at any moment.
type killable struct {
	*prepaidtest.Server

	from, to prepaid.AccountID
	path     string
	day      prepaid.Date
}

func newKillable(t *testing.T, seed uint64, lost float64) *killable {
	t.Helper()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{RateLimit: -1, RandomSeed: new(uint64(seed)), RequestLog: 1, ClientID: "client", ClientSecret: "secret"})
	for _, operation := range []string{"POST /accounts/{id}/transfer", "POST /accounts/{id}/directentryout"} {
		// A transfer may continue after its response was lost, or after its sender was killed.
		srv.Inject(operation, prepaidtest.CommitThenDrop().WithProbability(lost), prepaidtest.Respond(503, "").WithProbability(lost),
			prepaidtest.DropBeforeCommit().CommitAfter(takes).WithProbability(lost),
			prepaidtest.ProxyPage(502).CommitAfter(takes).WithProbability(lost), prepaidtest.Delay(takes).WithProbability(0.2))
	}
	return &killable{
		srv, srv.AddAccount(prepaidtest.SeedAccount{Balance: "10000.00"}), srv.AddAccount(prepaidtest.SeedAccount{}),
		filepath.Join(t.TempDir(), "payments"), prepaid.DateOf(time.Now().UTC()),
	}
}

// run runs a child until it ends or is killed at any point: before, in or after a write, with running requests. done reports
// that it ended with all done.
func (k *killable) run(t *testing.T, job string, kill func() bool, env ...string) (done, killed bool) {
	t.Helper()
	cmd := child(t, job, append(env, childFile+"="+k.path, childURL+"="+k.URL, childFrom+"="+string(k.from), childTo+"="+string(k.to),
		childToday+"="+k.day.String())...)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if status, ok := errors.AsType[*exec.ExitError](err); ok && status.Exited() {
				require.Equal(t, exitAgain, status.ExitCode())
			}
			return err == nil, false
		case <-time.After(time.Millisecond):
			if kill() {
				require.NoError(t, cmd.Process.Kill())
				<-ended
				return false, true
			}
		}
	}
}

func TestKilledPayrollPaysEachOnce(t *testing.T) {
	t.Parallel()
	srv := newKillable(t, 7, 0.03)
	kills := 0
	for over := false; !over; {
		var killed bool
		over, killed = srv.run(t, "pay", func() bool { return kills < 6 && len(srv.Transactions(srv.from)) > payments()/7*(kills+1) })
		if killed {
			kills++
		}
	}
	require.GreaterOrEqual(t, kills, 5)
	require.NoError(t, srv.WaitIdle(t.Context()))
	require.Empty(t, srv.PaidTwice())

	spent, received := prepaid.Cents(0), prepaid.Cents(0)
	for n := range payments() {
		require.Equal(t, 1, srv.Movements(payrollID(srv.day, n)), n)
		amount := prepaid.Cents(int64(100 + n))
		spent, _ = spent.Add(amount)
		if n%2 == 0 {
			received, _ = received.Add(amount)
		}
	}
	left, err := prepaid.MustAmount("10000").Sub(spent)
	require.NoError(t, err)
	require.Equal(t, left, prepaid.MustAmount(srv.Balance(srv.from)))
	require.Equal(t, received, prepaid.MustAmount(srv.Balance(srv.to)))

	j, err := Open(srv.path, Options{})
	require.NoError(t, err)
	for e := range j.Pending() {
		t.Error("pending", e.State)
	}
	stats, err := j.Stats()
	require.NoError(t, err)
	require.Equal(t, journal.Stats{Done: journal.Total{Count: payments(), Sum: spent}}, stats)
	require.NoError(t, j.Close())
}

func TestLockBetweenProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	cmd := child(t, "open", childFile+"="+path)
	_, err := cmd.StdinPipe() // open until it is dead
	require.NoError(t, err)
	says, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(says).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "open\n", line)
	_, err = Open(path, Options{})
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, cmd.Process.Kill()) // death releases the lock
	require.Error(t, cmd.Wait())

	j := open(t, path)
	kept := func() {
		cmd := child(t, "open", childFile+"="+path)
		failed, ok := errors.AsType[*exec.ExitError](cmd.Run())
		require.True(t, ok)
		require.Equal(t, exitLocked, failed.ExitCode())
	}
	kept()
	require.NoError(t, j.Compact(time.Time{}))
	kept() // the new file is locked too
	require.NoError(t, j.Close())
	require.NoError(t, child(t, "open", childFile+"="+path).Run())
}
