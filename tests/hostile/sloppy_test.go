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
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// fromEnv makes the client of a worker.
func fromEnv() (*prepaid.Client, error) {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	return prepaid.NewClient(config)
}

// journaled pays with a journal.
func journaled(ctx context.Context, job hostile.Job) error {
	client, err := fromEnv()
	if err != nil {
		return err
	}
	defer client.Close()
	j, err := journalfile.Open(filepath.Join(job.Dir, "journal"), journalfile.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	claims := make([]hostile.Claim, 0, len(job.Payments))
	var list []journal.Payment
	for _, p := range job.Payments {
		if e, _ := j.Get(p.RequestID); e.State == journal.StateRejected { // by an earlier process: a call would send it again
			claims = append(claims, hostile.Claim{RequestID: p.RequestID, State: hostile.StateRejected})
			continue
		}
		list = append(list, journal.Payment{Account: p.SourceAccountID, Params: p.Params()})
	}
	var unknown error // the others are still paid: a loop that ends here would leave those in flight with an unknown outcome
	for e, err := range j.PayAll(ctx, client.Accounts, 16, slices.Values(list)) {
		claim := hostile.Claim{RequestID: e.RequestID, State: hostile.StatePaid}
		switch e.State {
		case journal.StateDone:
		case journal.StateRejected:
			claim.State = hostile.StateRejected
		default:
			unknown = err
		}
		claims = append(claims, claim)
	}
	if unknown != nil {
		return unknown
	}
	return job.Summarize(claims)
}

// sloppy makes each payment in turn, with a bug.
func sloppy(ctx context.Context, job hostile.Job) error {
	is := os.Getenv("SLOPPY")
	if is == "fails" {
		return errors.New("line 1\nline 2")
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
		state, paid := hostile.StatePaid, p
		switch {
		case is == "leaves out" && n == 1:
			continue
		case is == "amounts" && n == 1:
			paid.Amount = prepaid.Cents(99)
		case is == "back" && n == 4:
			paid.SourceAccountID, paid.DestinationAccountID, paid.Amount = "card-1", "float", prepaid.Cents(50)
		}
		if err := pay(ctx, client, paid, time.Time{}); err != nil {
			state = hostile.StateRejected
		}
		claims = append(claims, hostile.Claim{RequestID: p.RequestID, State: state})
	}
	switch is {
	case "claims":
		claims[0].State, claims[1].State, claims[2].RequestID, claims[3].State = "rejected", "settled", "nobody's", "unknown"
	case "unreadable":
		return os.WriteFile(os.Getenv("PREPAID_HOSTILE_SUMMARY"), []byte("{}\nx\n"), 0o600)
	}
	return job.Summarize(claims)
}

func pay(ctx context.Context, client *prepaid.Client, p hostile.Payment, lastSent time.Time) (err error) {
	switch params := p.Params().(type) {
	case prepaid.TransferParams:
		params.LastSent = lastSent
		_, err = client.Accounts.Transfer(ctx, p.SourceAccountID, params)
	case prepaid.DirectEntryOutParams:
		params.LastSent = lastSent
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
	if _, err = fmt.Fprintf(file, "%d\n%d\n", os.Getpid(), child.Process.Pid); err == nil {
		<-ctx.Done()
		_ = child.Process.Kill()
	}
	return err
}

// calm is a run in which only the worker has a bug.
func calm(is string) hostile.Options {
	o := only(12)
	o.Env, o.Copies, o.AttemptTimeout = []string{"SLOPPY=" + is}, 1, 20*time.Second
	return o
}

func TestWhatTheAccountsShow(t *testing.T) {
	t.Parallel()
	const unpaid = "reported wrongly: .* says paid, and no money moved$"
	for is, want := range map[string]struct {
		report   string
		findings []string // each with its kind
	}{
		"":           {"SAFE: 12 payments, 12 of them made, each once; 0 refused\nseed 3, ", nil},
		"leaves out": {"MONEY WRONG: of 12 payments 1 not paid\n", []string{"not paid: .*: was never made$"}},
		"amounts": {"1 not paid, 1 paid without an order, 1 reported wrongly", []string{
			"not paid: ", `paid without an order: transaction \d+: -0\.99 from float was not ordered$`, unpaid,
		}},
		"back":       {"1 not paid", []string{"not paid: ", "paid without an order: .* from card-1 was not ordered$", unpaid}},
		"unreadable": {"2 reported wrongly", []string{"reported wrongly: .* names a payment that was not ordered: $", "reported wrongly: the summary of worker 1 cannot be read: value 2 is not the expected JSON$"}},
		"claims": {"4 reported wrongly", []string{
			"reported wrongly: .*: the summary of worker 1 says rejected, and the money moved$", `reported wrongly: .* has an unknown state, "settled"$`,
			"reported wrongly: .* names a payment that was not ordered: nobody's$",
			"reported wrongly: .*: is unknown to all summaries, although status 0 says that its outcome is final$",
		}},
	} {
		t.Run(is, func(t *testing.T) {
			t.Parallel()
			r, err := hostile.Run(t.Context(), calm(is))
			require.NoError(t, err)
			require.Equal(t, is == "", r.OK())
			require.Contains(t, r.String(), want.report)
			require.Equal(t, []int{12, 12}, []int{r.Payments, r.Paid + len(find(r, hostile.NotPaid))})
			var findings []string
			for _, f := range r.Findings {
				findings = append(findings, string(f.Kind)+": "+f.Text)
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
	o := calm("fails")
	o.Log = &log
	var report *hostile.Report
	for o.Timeout = 2 * time.Second; o.Timeout < time.Minute && (report == nil || report.Restarts == 0); o.Timeout *= 2 { // on a busy machine, no worker may end before
		var err error
		report, err = hostile.Run(t.Context(), o)
		require.NoError(t, err)
	}
	require.Positive(t, report.Restarts)
	require.False(t, report.OK())
	require.Empty(t, report.Findings, "nothing is called missing yet")
	require.Contains(t, report.String(), "NOT FINISHED: 12 payments, 0 of them made, none twice\nnot finished: the run has taken ")
	require.Contains(t, log.String(), "worker 1.1: line 1\nworker 1.1: line 2\nworker 1.1: ended: exit status 1\n")
}

// Each cut comes during a payment. An error ends the run.
func TestDatabaseIsCut(t *testing.T) {
	t.Parallel()
	var cuts atomic.Int64
	o := calm("")
	o.Cuts, o.Cut = 4, func(context.Context) error {
		cuts.Add(1)
		return nil
	}
	report, err := hostile.Run(t.Context(), o)
	require.NoError(t, err)
	require.True(t, report.OK(), "%s", report)
	require.Equal(t, []int{4, 4}, []int{int(cuts.Load()), report.Cuts})

	o.Cut = func(context.Context) error { return fs.ErrInvalid }
	report, err = hostile.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, fs.ErrInvalid.Error(), report.Unfinished)
}

func TestErrorsOfARun(t *testing.T) {
	t.Parallel()
	missing, prepare := calm(""), calm("")
	missing.Command = []string{filepath.Join(t.TempDir(), "missing")}
	prepare.Prepare = func(context.Context, hostile.Job) error { return fs.ErrInvalid }
	_, err := hostile.Run(t.Context(), missing)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "hostile: the worker cannot be started: ")
	_, err = hostile.Run(t.Context(), prepare)
	require.ErrorIs(t, err, fs.ErrInvalid)
	require.ErrorContains(t, err, "hostile: Prepare: ")
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
	test := &recorder{TB: t}
	require.True(t, hostile.Test(test, calm("")).OK())
	require.Contains(t, test.logged, "hostile: SAFE")
	require.Empty(t, test.failed)
	hostile.Test(test, calm("leaves out"))
	require.Contains(t, test.failed, "hostile: MONEY WRONG")
	var fatal sync.WaitGroup
	fatal.Go(func() { hostile.Test(test, hostile.Options{Copies: 65}) })
	fatal.Wait()
	require.Equal(t, "hostile: Copies: must be 1 to 64", test.failed)
}
