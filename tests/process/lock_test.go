package process

import (
	"bufio"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/journal/journalfile"
)

// A journal is open in one process only. Its death releases the lock, and a compaction keeps it.
func TestLockBetweenProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	other := job{Do: doOpen, Journal: path}
	cmd := command(t, other)
	_, err := cmd.StdinPipe() // open until it is dead
	require.NoError(t, err)
	says, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(says).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "open\n", line)
	_, err = journalfile.Open(path, journalfile.Options{})
	require.ErrorIs(t, err, journalfile.ErrLocked)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())

	j, err := journalfile.Open(path, journalfile.Options{})
	require.NoError(t, err)
	kept := func() {
		failed, ok := errors.AsType[*exec.ExitError](command(t, other).Run())
		require.True(t, ok)
		require.Equal(t, exitLocked, failed.ExitCode())
	}
	kept()
	require.NoError(t, j.Compact(time.Time{}))
	kept() // the new file is locked too
	require.NoError(t, j.Close())
	require.NoError(t, command(t, other).Run())
}
