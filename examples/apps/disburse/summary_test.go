package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSummaryIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "summary.csv")
	require.NoError(t, replaceFile(path, writing("old", nil)))
	full := errors.New("disk full")
	require.ErrorIs(t, replaceFile(path, writing("new", full)), full)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(content))
	require.NoFileExists(t, path+temporary)
	require.NoError(t, os.WriteFile(path+temporary, []byte("what a killed process left, longer than the new one"), 0o600))
	require.NoError(t, replaceFile(path, writing("new", nil)))
	content, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(content))
}

// The summary cannot be written after the payments: the totals are printed all the same.
func TestSummaryThatCouldNotBeWritten(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(t *testing.T, s *stage) {
		name := s.file + ".summary.csv"
		require.NoError(t, os.Mkdir(name, 0o700))
		out, errOut := s.exits(exitUnfinished)
		require.Equal(t, "2", count(out, statePaid))
		require.Contains(t, errOut, "no summary was written")
		require.NoError(t, os.Remove(name))
		s.exits(exitPaid)
		s.requirePaidOnce()
	})
}
