package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
)

// sloppy makes each payment in turn, with a bug.
func sloppy(ctx context.Context, job hostile.Job) error {
	is := os.Getenv("SLOPPY")
	if is == "fails" {
		for n := range 20 {
			fmt.Println("line", n)
		}
		return errors.New(strings.Repeat("x", 1500))
	}
	if pids := os.Getenv("SLOPPY_PIDS"); pids != "" {
		return linger(ctx, pids)
	}
	client, err := fromEnv()
	if err != nil {
		return err
	}
	defer client.Close()
	claims := make([]hostile.Claim, 0, len(job.Payments))
	for n, p := range job.Payments {
		if p.Rollback && is != "rollbacks" {
			continue
		}
		if is == "one ID" { // one client refuses it; the process closes them
			if client, err = fromEnv(); err != nil {
				return err
			}
		}
		state := hostile.StatePaid
		if err := pay(ctx, client, alter(is, job, n)); err != nil {
			state = hostile.StateRejected
		}
		claims = append(claims, hostile.Claim{RequestID: p.RequestID, State: state})
	}
	if is == "claims" {
		claims[0].State, claims[1].State, claims[2].RequestID, claims[3].State = "rejected", "settled", "nobody's", "unknown"
	}
	if is == "long" {
		return os.WriteFile(os.Getenv("PREPAID_HOSTILE_SUMMARY"), make([]byte, 100_000), 0o600)
	}
	if is == "unreadable" {
		return os.WriteFile(os.Getenv("PREPAID_HOSTILE_SUMMARY"), []byte("{}\nx\n"), 0o600)
	}
	return job.Summarize(claims)
}

// alter changes a payment into another.
func alter(is string, job hostile.Job, n int) hostile.Payment {
	p, bank := job.Payments[n], &prepaid.BankAccount{BSB: "062000", AccountNumber: "1", AccountName: "J CITIZEN"}
	switch {
	case is == "amounts" && n == 1:
		p.Amount = prepaid.Cents(99)
	case is == "elsewhere" && n == 1:
		p.DestinationAccountID = "card-1"
	case is == "bank" && n == 1:
		p.Operation, p.Destination, p.BSB = hostile.DirectEntryOut, bank, "062000"
	case is == "card" && p.Operation == hostile.DirectEntryOut:
		p.Operation, p.DestinationAccountID = hostile.Transfer, "card-1"
	case is == "one ID" && n == 8:
		p.RequestID = job.Payments[1].RequestID
	case is == "another bank account" && n == 8:
		p.Destination = bank
	case is == "back" && n == 4:
		p.SourceAccountID, p.DestinationAccountID, p.Amount = "card-1", "float", prepaid.Cents(50)
	}
	return p
}

func pay(ctx context.Context, client *prepaid.Client, p hostile.Payment) (err error) {
	switch params := p.Params().(type) {
	case prepaid.TransferParams:
		_, err = client.Accounts.Transfer(ctx, p.SourceAccountID, params)
	case prepaid.DirectEntryOutParams:
		_, err = client.Accounts.DirectEntryOut(ctx, p.SourceAccountID, params)
	}
	return err
}

// linger starts a child, records both processes and waits.
func linger(ctx context.Context, pids string) error {
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		return err
	}
	file, err := os.OpenFile(pids, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintf(file, "%d\n%d\n", os.Getpid(), child.Process.Pid)
	time.Sleep(10 * time.Minute)
	return err
}

// calm is a run in which only the worker has a bug.
func calm(is string) hostile.Options {
	return hostile.Options{
		Worker: "sloppy", Env: []string{"SLOPPY=" + is}, Seed: 5, Payments: 12, Copies: 1, AttemptTimeout: 20 * time.Second,
		Faults: -1, Kills: -1, Freezes: -1, NetworkCuts: -1, ServiceFreezes: -1, ClockMoves: -1, Refused: -1,
	}
}

func TestWhatTheAccountsShow(t *testing.T) {
	t.Parallel()
	const rolledBack = "Unrequested: .*: was rolled back, and was made all the same$"
	const unpaid = "Claims: .* says paid, and no money moved$"
	for is, want := range map[string]struct {
		report   string
		findings []string // each with its kind
	}{
		"":          {"SAFE: 12 payments, 12 of them made, each once; 0 refused\nseed 5, 1 worker, 12 requests, ", nil},
		"rollbacks": {"MONEY WRONG: of 12 payments 3 paid without an order\n", []string{rolledBack, rolledBack, rolledBack}},
		"amounts": {"1 not paid", []string{
			"Missing: ", `Unrequested: transaction \d+: -0\.99 from float, which nobody ordered$`, unpaid,
		}},
		"back":      {"1 not paid", []string{"Missing: ", "Unrequested: .* from card-1, which nobody ordered$", unpaid}},
		"elsewhere": {"1 paid wrongly", []string{"Wrong: .*: went to card-1$"}},
		"bank":      {"1 paid wrongly", []string{"Wrong: .*: was made as a direct entry$"}},
		"card":      {"3 paid wrongly", slices.Repeat([]string{"Wrong: .* to a bank account, request ID .*: was made as a transfer$"}, 3)},
		"one ID": {"MONEY WRONG: of 12 payments 1 sent wrongly", []string{
			"Careless: .*: request 2 has other values than an earlier request with the same ID$",
		}},
		"another bank account": {"1 sent wrongly", []string{"Careless: .*: request 1 names another bank account$"}},
		"long":                 {"1 reported wrongly", []string{"Claims: the summary of worker 1 cannot be read: line 1 is too long$"}},
		"unreadable":           {"1 reported wrongly", []string{"Claims: the summary of worker 1 cannot be read: line 2 is not the expected JSON$"}},
		"claims": {"4 reported wrongly", []string{
			"Claims: .*: the summary of worker 1 says rejected, and the money moved$", `Claims: .* has an unknown state, "settled"$`,
			"Claims: .* names a payment that was not ordered: nobody's$",
			"Claims: .*: is unknown to all summaries, although status 0 says that it is settled$",
		}},
	} {
		t.Run(is, func(t *testing.T) {
			t.Parallel()
			o := calm(is)
			o.Rollbacks = 3
			r, err := hostile.Run(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, is == "", r.OK())
			require.Contains(t, r.String(), want.report)
			require.Equal(t, []int{12, 12}, []int{r.Payments, r.Paid + len(r.Missing)})
			require.Empty(t, r.Double)
			var findings []string
			for kind, list := range map[string][]hostile.Finding{
				"Missing: ": r.Missing, "Unrequested: ": r.Unrequested, "Wrong: ": r.Wrong, "Careless: ": r.Careless, "Claims: ": r.Claims,
			} {
				for _, f := range list {
					require.Equal(t, strings.Contains(f.Text, "was rolled back"), f.Payment.Rollback)
					findings = append(findings, kind+f.Text)
				}
			}
			require.Len(t, findings, len(want.findings))
			for _, one := range want.findings {
				require.Regexp(t, "(?m)^"+one, strings.Join(findings, "\n"))
			}
		})
	}
}

func TestWorkerThatNeverFinishes(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	var report *hostile.Report
	o := calm("fails")
	o.Log = &log
	for o.Quiet = 2 * time.Second; ; o.Quiet *= 2 { // on a busy machine, no worker may end before
		var err error
		report, err = hostile.Run(t.Context(), o)
		require.NoError(t, err)
		if report.Restarts > 0 || o.Quiet > time.Minute {
			break
		}
		log.Reset()
	}
	require.Equal(t, fmt.Sprintf("no worker has sent a payment for %s, and no worker has requested a token", o.Quiet), report.Unfinished)
	require.False(t, report.OK())
	require.False(t, report.MoneyWrong(), "nothing is called missing yet")
	require.Positive(t, report.Restarts)
	require.Contains(t, report.String(), "NOT FINISHED: 12 payments, 0 of them made, none twice\nnot finished: no worker")
	require.Regexp(t, `the last lines of worker 1\.\d+, which ended with exit status 1:\n  line 12\n`, report.String())
	require.NotContains(t, report.String(), "line 10\n")
	require.Contains(t, log.String(), "worker 1.1: line 0\n")
	require.Contains(t, log.String(), "worker 1.1: "+strings.Repeat("x", 1000)+"\nworker 1.1: "+strings.Repeat("x", 500)+"\n")
	require.Contains(t, log.String(), "worker 1.1: ended: exit status 1\n")
}

func TestWorkerThatGetsNoToken(t *testing.T) {
	t.Parallel()
	o := calm("")
	o.Quiet = time.Minute
	o.Env = []string{"PREPAID_CLIENT_SECRET=wrong"}
	report, err := hostile.Run(t.Context(), o)
	require.NoError(t, err)
	require.Contains(t, report.String(), "no worker has got a token: requests failed, the last with 401 invalid_client")
	require.False(t, report.OK())
}

// A worker must not send one payment forever.
func TestWorkerThatSendsForEver(t *testing.T) {
	t.Parallel()
	report := run(t, neverSettles, hostile.Options{Seed: 5, Payments: 2, Copies: 1, Faults: -1, Kills: -1, Freezes: -1})
	require.Regexp(t, `^PAY \d was sent 100 times$`, report.Unfinished)
	require.Contains(t, strings.Join(report.Last, "\n"), "ends with 200, the cached response (PAY ")
}

func TestErrorsOfARun(t *testing.T) {
	t.Parallel()
	missing, prepare, enqueue := calm(""), calm(""), calm("fails")
	broken := func(context.Context, hostile.Job) error { return fs.ErrInvalid }
	missing.Command, prepare.Prepare, enqueue.Enqueue = []string{filepath.Join(t.TempDir(), "missing")}, broken, broken
	for says, c := range map[string]struct {
		options hostile.Options
		is      error
	}{
		"the worker cannot be started: ": {missing, fs.ErrNotExist}, "Prepare: ": {prepare, fs.ErrInvalid}, "Enqueue: ": {enqueue, fs.ErrInvalid},
	} {
		_, err := hostile.Run(t.Context(), c.options)
		require.ErrorIs(t, err, c.is)
		require.ErrorContains(t, err, "hostile: "+says)
	}
}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	failed, logged string
}

func (r *recorder) Errorf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }
func (r *recorder) Logf(format string, args ...any)   { r.logged = fmt.Sprintf(format, args...) }
func (r *recorder) Fatal(args ...any) {
	r.failed = fmt.Sprint(args...)
	runtime.Goexit()
}

func TestTestFailsWithTheReport(t *testing.T) {
	t.Parallel()
	safe := &recorder{TB: t}
	require.True(t, hostile.Test(safe, calm("")).OK())
	require.Contains(t, safe.logged, "hostile: SAFE")
	require.Empty(t, safe.failed)
	wrong := &recorder{TB: t}
	o := calm("rollbacks")
	o.Rollbacks = 4
	hostile.Test(wrong, o)
	require.Contains(t, wrong.failed, "hostile: MONEY WRONG")
	require.Contains(t, wrong.failed, "\n… and 1 more paid without an order\n")
	require.Contains(t, wrong.failed, "\nreproduce: PREPAID_HOSTILE_SEED=5 go test -count=1 -run '^TestTestFailsWithTheReport$'\n")
	var fatal sync.WaitGroup
	fatal.Go(func() { hostile.Test(wrong, hostile.Options{}) })
	fatal.Wait()
	require.Equal(t, "hostile: Command or Worker is required", wrong.failed)
}
