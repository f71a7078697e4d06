package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	list := make([]journal.Payment, len(job.Payments))
	for i, p := range job.Payments {
		list[i] = journal.Payment{Account: p.SourceAccountID, Params: p.Params()}
	}
	var open []error
	for e, err := range j.PayAll(ctx, client.Accounts, 16, slices.Values(list)) {
		if e.State != journal.StateDone && e.State != journal.StateRejected {
			open = append(open, err) // unresolved: run me again
		}
	}
	return errors.Join(open...)
}

// sloppy makes each payment in turn, with a bug.
func sloppy(ctx context.Context, job hostile.Job) error {
	is := os.Getenv("SLOPPY")
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

func pay(ctx context.Context, client *prepaid.Client, p hostile.Payment, lastSent time.Time) error {
	params, ok := p.Params().(prepaid.TransferParams)
	if !ok {
		return fmt.Errorf("%s: must be a transfer", p.SourceReference)
	}
	params.LastSent = lastSent
	_, err := client.Accounts.Transfer(ctx, p.SourceAccountID, params)
	return err
}

// calm is a run in which only the worker has a bug.
func calm(is string) hostile.Options {
	o := only(12)
	o.Env, o.Copies, o.TransfersOnly, o.AttemptTimeout = []string{"SLOPPY=" + is}, 1, true, 20*time.Second
	return o
}

func TestWhatTheAccountsShow(t *testing.T) {
	t.Parallel()
	for is, want := range map[string]struct {
		report   string
		findings []string // each with its kind
	}{
		"":           {"SAFE: 12 payments, 12 of them made, each once; 0 refused\nseed 3, ", nil},
		"leaves out": {"MONEY WRONG: of 12 payments 1 not paid\n", []string{"not paid: .*: was never made$"}},
		"amounts": {"1 not paid, 1 paid without an order, 1 reported wrongly", []string{
			"not paid: ", `paid without an order: transaction \d+: -0\.99 from float was not ordered$`, "reported wrongly: .* says paid, and no money moved$",
		}},
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

func TestErrorsOfARun(t *testing.T) {
	t.Parallel()
	missing, prepare, cut := calm(""), calm(""), calm("")
	missing.Command = []string{filepath.Join(t.TempDir(), "missing")}
	prepare.Prepare = func(context.Context, hostile.Job) error { return fs.ErrInvalid }
	_, err := hostile.Run(t.Context(), missing)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "hostile: the worker cannot be started: ")
	_, err = hostile.Run(t.Context(), prepare)
	require.ErrorIs(t, err, fs.ErrInvalid)
	require.ErrorContains(t, err, "hostile: Prepare: ")

	cut.Cut = func(context.Context) error { return fs.ErrInvalid }
	report, err := hostile.Run(t.Context(), cut)
	require.NoError(t, err)
	require.Equal(t, fs.ErrInvalid.Error(), report.Unfinished)
}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	failed bool
	says   string
}

func (r *recorder) Fail()                           { r.failed = true }
func (r *recorder) Logf(format string, args ...any) { r.says = fmt.Sprintf(format, args...) }

func TestTestFailsWithTheReport(t *testing.T) {
	t.Parallel()
	test := &recorder{TB: t}
	hostile.Test(test, calm("leaves out"))
	require.True(t, test.failed)
	require.Contains(t, test.says, "hostile: MONEY WRONG")
}
