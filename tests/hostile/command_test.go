package hostile_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/tests/built"
)

// command returns the command, for a run with arguments.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return built.Command(t, []string{"TMPDIR=" + t.TempDir()}, "prepaid-hostile", args...)
}

// small is a run without faults, with this program as the worker.
func small(variable string, flags ...string) []string {
	flags = append([]string{"-payments=12", "-copies=1", "-faults=-1", "-freezes=-1", "-transfers-only"}, flags...)
	return append(flags, "--", "env", variable, os.Args[0])
}

func TestCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args        []string
		status      int
		out, errOut string
	}{
		{small("WORKER_IS=journal", "-seed=3", "-kills=1"), 0, "SAFE: 12 payments, 12 of them made, each once; 0 refused\nseed 3, ", "worker 1.1: KILLED"},
		{small("SLOPPY=leaves out", "-kills=-1"), 1, ": was never made\n  no request for it has arrived\n", "worker 1.1: ended: exit status 0\n"},
		{[]string{"-timeout=1ns", "true"}, 3, "NOT FINISHED: 100 payments, 0 of them made, none twice\nnot finished: the run has taken 1ns\n", ""},
		{[]string{"-h"}, 0, "", "Usage: prepaid-hostile [flags] -- worker [arguments]"},
		{nil, 2, "", "the worker's command is missing"},
		{[]string{"-sed", "1"}, 2, "", "flag provided but not defined: -sed"},
		{[]string{"-faults", "2", "true"}, 2, "", "prepaid-hostile: hostile: Faults: must be at most 1"},
	} {
		status, out, errOut := built.Run(t, command(t, c.args...))
		require.Equal(t, c.status, status, out+errOut)
		require.Contains(t, out, c.out)
		require.Contains(t, errOut, c.errOut)
	}
}

// An interrupted run kills its workers and their children. If the command is killed, the standard input of its workers ends.
func TestWorkerIsStartedAgainAndNoProcessIsLeft(t *testing.T) {
	t.Parallel()
	const worker = `mkdir "$PREPAID_HOSTILE_DIR/1" && echo line 1 && printf "line 2" && exit 5; sleep 600 & echo "pids $$ $!"; read end; kill $!`
	for signal, status := range map[os.Signal]int{os.Interrupt: 3, os.Kill: -1} {
		run := built.Start(t, command(t, "-copies=1", "sh", "-c", worker))
		run.Says("pids ")
		require.Equal(t, status, run.Stop(signal))
		require.Contains(t, run.ErrOut.String(), "worker 1.1: line 1\nworker 1.1: line 2\nworker 1.1: ended: exit status 5\n")
		for _, pid := range regexp.MustCompile(`worker 1.2: pids (\d+) (\d+)\n`).FindStringSubmatch(run.ErrOut.String())[1:] {
			require.Eventually(t, func() bool {
				text, err := os.ReadFile("/proc/" + pid + "/status")
				return err != nil || strings.Contains(string(text), "State:\tZ") // not reaped yet
			}, time.Minute, 10*time.Millisecond)
		}
	}
}
