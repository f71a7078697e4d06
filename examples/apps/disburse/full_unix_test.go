//go:build linux || darwin

package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// The disk fills up during the run: no payment is sent that cannot be recorded. With room again, the run
// goes on.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := newStage(t, 300, prepaidtest.Options{})
	args := append([]string{"-c", `ulimit -f 200 && exec "$0" "$@"`, os.Args[0]}, s.args()...) // blocks of 512 bytes, or of 1 KiB
	cmd := exec.CommandContext(t.Context(), "/bin/sh", args...)                                //nolint:gosec // this very program
	cmd.Env = s.environment()
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, exitUnfinished, cmd.ProcessState.ExitCode(), string(out))
	require.Contains(t, string(out), "journal: not recorded")
	require.NotContains(t, string(out), "not all payments are final and proven", "it stops at once")
	require.Less(t, s.transfers(), 300)
	require.Positive(t, s.transfers())

	for s.killWhen(func() bool { return false }) != exitPaid { // on a busy machine, a request may time out
		require.NoError(t, t.Context().Err())
	}
	s.requirePaidOnce()
}
