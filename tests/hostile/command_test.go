package hostile_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/tests/built"
)

// Exit statuses of the command.
const (
	exitSafe       = 0
	exitWrong      = 1
	exitUsage      = 2
	exitUnfinished = 3
)

// command returns the command, for a run with arguments.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return built.Command(t, []string{"TMPDIR=" + t.TempDir()}, "prepaid-hostile", args...)
}

// small is a run without faults, with this program as the worker.
func small(variable string, flags ...string) []string {
	flags = append([]string{"-payments=12", "-copies=1", "-faults=-1", "-freezes=-1"}, flags...)
	return append(flags, "--", "env", variable, os.Args[0])
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args        []string
		status      int
		out, errOut string
	}{
		{small("WORKER_IS=journal", "-seed=3", "-kills=1"), exitSafe, "SAFE: 12 payments, 12 of them made, each once; 0 refused\nseed 3, ", "worker 1.1: KILLED"},
		{small("SLOPPY=leaves out", "-kills=-1"), exitWrong, ": was never made\n  no request for it has arrived\n", "worker 1.1: ended: exit status 0\n"},
		{[]string{"-timeout=300ms", "sleep", "600"}, exitUnfinished, "not finished: the run has taken 300ms\n", "killed at the end"},
		{[]string{"-h"}, exitSafe, "", "Usage: prepaid-hostile [flags] -- worker [arguments]"},
		{nil, exitUsage, "", "the worker's command is missing"},
		{[]string{"-sed", "1"}, exitUsage, "", "flag provided but not defined: -sed"},
		{[]string{"-faults", "2", "true"}, exitUsage, "", "prepaid-hostile: hostile: Faults: must be at most 1"},
		{[]string{"no-such-program"}, exitUsage, "", "hostile: the worker cannot be started"},
	} {
		status, out, errOut := built.Run(t, command(t, c.args...))
		require.Equal(t, c.status, status, out+errOut)
		require.Contains(t, out, c.out)
		require.Contains(t, errOut, c.errOut)
	}
}

func TestInterruptedCommand(t *testing.T) {
	t.Parallel()
	run := built.Start(t, command(t, "sh", "-c", "echo begun; exec sleep 600"))
	run.Says("begun")
	require.Equal(t, exitUnfinished, run.Stop(os.Interrupt))
	require.Contains(t, run.Out.String(), "not finished: ")
}

func TestReportThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("the system has no output that is always full: ", err)
	}
	defer full.Close()
	cmd := command(t, small("WORKER_IS=journal", "-kills=-1")...)
	cmd.Stdout = full
	require.Error(t, cmd.Run())
	require.Equal(t, exitUnfinished, cmd.ProcessState.ExitCode())
}
