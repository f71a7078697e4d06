package hostile_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/tests/built"
)

// Exit statuses of the command.
const (
	exitSafe       = 0
	exitWrong      = 1
	exitUsage      = 2
	exitUnfinished = 3
)

// playRole ends a process that the command has started: with the role of a worker, or of the command of -prepare and -enqueue.
func playRole() {
	switch os.Getenv("WORKER_IS") {
	case "payer":
		if err := payWithJournal(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case "step":
		job, err := hostile.ReadJob()
		if err != nil || job.Worker != 0 {
			os.Exit(1)
		}
		_ = os.WriteFile(filepath.Join(job.Dir, "ordered"), nil, 0o600)
		os.Exit(0)
	}
}

func payWithJournal() error {
	job, err := hostile.ReadJob()
	if err != nil {
		return err
	}
	if os.Getenv("WORKER_NEEDS_ORDERS") != "" {
		if _, err := os.Stat(filepath.Join(job.Dir, "ordered")); err != nil {
			return err
		}
	}
	job.Payments = slices.DeleteFunc(job.Payments, func(p hostile.Payment) bool { return os.Getenv("WORKER_LEAVES_OUT") == p.SourceReference })
	_, err = payJournaled(context.Background(), job)
	return err
}

// command returns the command, for a run with arguments.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return built.Command(t, []string{"TMPDIR=" + t.TempDir()}, "prepaid-hostile", args...)
}

// try runs the command to its end.
func try(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	return built.Run(t, command(t, args...))
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

// A run ends early at its time limit or by an interrupt. The command line to repeat it has the seed only once, and no database password.
func TestNotFinished(t *testing.T) {
	t.Parallel()
	status, out, _ := try(t, "-seed=9", "-database", "postgres://me:secret@db.invalid/x", "-copies=3", "-timeout", "300ms", "--", "sh", "-c", "sleep 60 # it's -seed 4", "")
	require.Equal(t, exitUnfinished, status)
	require.Contains(t, out, "not finished: the run has taken 300ms, and no worker has requested a token\n")
	require.Contains(t, out, `-seed 9 -copies=3 -database=postgres://me:xxxxx@db.invalid/x -timeout=300ms -- sh -c 'sleep 60 # it'\''s -seed 4' ''`+"\n")

	run := built.Start(t, command(t, "sh", "-c", "echo begun; exec sleep 600"))
	run.Says("begun")
	require.Equal(t, exitUnfinished, run.Stop(os.Interrupt))
	require.Contains(t, run.Out.String(), "not finished: ")
	require.Contains(t, run.Out.String(), ", and no worker has requested a token\n")
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

func TestVerdictThatNobodyReads(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("the system has no output that is always full: ", err)
	}
	defer full.Close()
	cmd := command(t, append([]string{"-payments", "3", "-copies", "1", "-faults", "-1", "-kills", "-1", "-freezes", "-1", "--"}, worker()...)...)
	cmd.Stdout = full
	require.Error(t, cmd.Run())
	require.Equal(t, exitUnfinished, cmd.ProcessState.ExitCode())
}
