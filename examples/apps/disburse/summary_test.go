package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
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
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, 2, prepaidtest.Options{InMemory: true})
		name := s.file + ".summary.csv"
		require.NoError(t, os.Mkdir(name, 0o700))
		code, out, errOut := s.run()
		require.Equal(t, exitUnfinished, code)
		require.Equal(t, "2", count(out, statePaid))
		require.Contains(t, errOut, "no summary was written")
		require.NoError(t, os.Remove(name))
		code, _, errOut = s.run()
		require.Equal(t, exitPaid, code, errOut)
		s.requirePaidOnce()
	})
}
