package hostile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
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

// directory is where the command is built.
func directory() string {
	return filepath.Join(os.TempDir(), fmt.Sprint("prepaid-hostile-tests-", os.Getpid()))
}

var build = sync.OnceValues(func() (string, error) {
	program := filepath.Join(directory(), "prepaid-hostile.exe")
	command := exec.Command("go", "-C", filepath.Join("..", ".."), "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./cmd/prepaid-hostile")
	printed, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, printed)
	}
	return program, nil
})

// command returns the command, for a run with arguments.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program, err := build()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, args...) //nolint:gosec // our own program
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	return cmd
}

// try runs the command to its end.
func try(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	cmd := command(t, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	require.NotNil(t, cmd.ProcessState, "the command cannot be started")
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
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

	cmd := command(t, "sh", "-c", "echo begun; exec sleep 600")
	var text, begun bytes.Buffer
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	cmd.Stdout = &text
	require.NoError(t, cmd.Start())
	for buffer := make([]byte, 100); !strings.Contains(begun.String(), "begun"); {
		n, err := stderr.Read(buffer)
		require.NoError(t, err)
		begun.Write(buffer[:n])
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_, err = io.Copy(io.Discard, stderr)
	require.NoError(t, err)
	require.Error(t, cmd.Wait())
	require.Equal(t, exitUnfinished, cmd.ProcessState.ExitCode())
	require.Contains(t, text.String(), "not finished: ")
	require.Contains(t, text.String(), ", and no worker has requested a token\n")
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
