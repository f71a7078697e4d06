package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// TestMain is also the worker: a command that pays by journal.
func TestMain(m *testing.M) {
	switch os.Getenv("WORKER_IS") {
	case "payer":
		if err := payer(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "harness":
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	case "step": // the command of -prepare and -enqueue
		job, err := hostile.ReadJob()
		if err != nil || job.Worker != 0 || os.Getenv("STEP_FAILS") != "" {
			os.Exit(1)
		}
		_ = os.WriteFile(filepath.Join(job.Dir, "ordered"), nil, 0o600)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func payer() error {
	job, err := hostile.ReadJob()
	if err != nil {
		return err
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer client.Close()
	j, err := journalfile.Open(filepath.Join(job.Dir, "journal"), journalfile.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	if os.Getenv("WORKER_NEEDS_ORDERS") != "" {
		if _, err := os.Stat(filepath.Join(job.Dir, "ordered")); err != nil {
			return err
		}
	}
	var problems []error
	for _, p := range job.Payments {
		if os.Getenv("WORKER_LEAVES_OUT") == p.SourceReference {
			continue
		}
		switch params := p.Params().(type) {
		case prepaid.TransferParams:
			_, err = j.Transfer(context.Background(), client.Accounts, p.SourceAccountID, params)
		case prepaid.DirectEntryOutParams:
			_, err = j.DirectEntryOut(context.Background(), client.Accounts, p.SourceAccountID, params)
		}
		if e, _ := j.Get(p.RequestID); e.State != journal.StateRejected {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// try runs the command with this program as the worker.
func try(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), args, &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

// worker is a command line that runs this program.
func worker(variables ...string) []string {
	return append([]string{"env", "WORKER_IS=payer"}, append(variables, os.Args[0])...)
}

func TestSafeWorker(t *testing.T) {
	t.Parallel()
	env := "env WORKER_IS=step " + os.Args[0]
	status, out, errOut := try(t, append([]string{
		"-seed", "3", "-payments", "8", "-faults", "0.2", "-copies", "1", "-kills", "1", "-freezes", "-1", "-prepare", env, "-enqueue=" + env, "--",
	}, worker("WORKER_NEEDS_ORDERS=1")...)...)
	require.Equal(t, exitSafe, status, out+errOut)
	require.Contains(t, out, "SAFE: 8 payments, ")
	require.Contains(t, out, "\nreproduce: go run github.com/cardprograms/prepaid/cmd/prepaid-hostile -seed 3 -copies=1 '-enqueue=env ")
	require.Contains(t, errOut, "worker 1.1: KILLED")
}

func TestMoneyWrong(t *testing.T) {
	t.Parallel()
	args := []string{"-payments", "12", "-copies", "1", "-faults", "-1", "-kills", "-1", "-freezes", "-1", "-refused", "-1", "-silent", "--"}
	status, out, errOut := try(t, append(args, worker("WORKER_LEAVES_OUT=PAY 2")...)...)
	require.Equal(t, exitWrong, status, out+errOut)
	require.Contains(t, out, "MONEY WRONG: of 12 payments 1 not paid\n")
	require.Contains(t, out, ": was never made\n  no request for it has arrived\n")
	require.Empty(t, errOut)
}

func TestNotFinished(t *testing.T) {
	t.Parallel()
	status, out, _ := try(t, "-timeout", "300ms", "--", "sleep", "60")
	require.Equal(t, exitUnfinished, status)
	require.Contains(t, out, "not finished: the run has taken 300ms, and no worker has requested a token\n")

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	var text bytes.Buffer
	require.Equal(t, exitUnfinished, run(ctx, []string{"sleep", "60"}, &text, &text))
	require.Contains(t, text.String(), "not finished: context canceled, and no worker has requested a token\n")
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-h"}, exitSafe, "Usage: prepaid-hostile [flags] -- worker [arguments]"},
		{nil, exitUsage, "the worker's command is missing"},
		{[]string{"-sed", "1"}, exitUsage, "flag provided but not defined: -sed"},
		{[]string{"-faults", "2", "true"}, exitUsage, "prepaid-hostile: hostile: Faults: must be at most 1"},
		{[]string{"no-such-program"}, exitUsage, "hostile: the worker cannot be started"},
		{[]string{"-prepare", "false", "true"}, exitUsage, "hostile: Prepare: exit status 1"},
	} {
		status, out, errOut := try(t, c.args...)
		require.Equal(t, c.status, status)
		require.Empty(t, out)
		require.Contains(t, errOut, c.says)
	}
}

// The command line for a repeat has the seed only once, and no database password.
func TestAgain(t *testing.T) {
	t.Parallel()
	set, _, err := parse([]string{"-seed=1", "-database", "postgres://me:secret@db/x", "-copies=3", "--", "sh", "-c", "it's -seed 4", ""}, new(bytes.Buffer))
	require.NoError(t, err)
	require.Equal(t, `-seed 9 -copies=3 -database=postgres://me:xxxxx@db/x -- sh -c 'it'\''s -seed 4' ''`, again(set, 9))
}

// full is an output that cannot be written.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestVerdictThatNobodyReads(t *testing.T) {
	t.Parallel()
	args := append([]string{"-payments", "3", "-copies", "1", "-faults", "-1", "-kills", "-1", "-freezes", "-1", "--"}, worker()...)
	require.Equal(t, exitUnfinished, run(t.Context(), args, full{}, new(strings.Builder)))
}
