package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSummaryIsWholeOrNotThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "summary.csv")
	require.NoError(t, replaceFile(t, path, writing("old", nil)))
	full := errors.New("disk full")
	require.ErrorIs(t, replaceFile(t, path, writing("new", full)), full)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(content))
	require.NoFileExists(t, path+temporary)
	require.NoError(t, os.WriteFile(path+temporary, []byte("what a killed process left, longer than the new one"), 0o600))
	require.NoError(t, replaceFile(t, path, writing("new", nil)))
	content, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(content))
}

// Where it cannot be written is known before the first payment.
func TestSummaryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2)
	for _, path := range []string{filepath.Join(s.file+".missing", "summary.csv"), t.TempDir()} {
		code, _, errOut := s.run("-summary", path)
		require.Equal(t, exitWrong, code)
		require.Contains(t, errOut, "nothing was sent: no summary could be written: ")
		require.Zero(t, s.transfers())
	}
	code, _, errOut := s.run()
	require.Equal(t, exitPaid, code, errOut)
	s.requirePaidOnce()
}

// Its directory disappears while it pays: the totals are printed all the same.
func TestSummaryThatCouldNotBeWritten(t *testing.T) {
	t.Parallel()
	s := newStage(t, 2)
	directory := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(directory, 0o700))
	s.onPaid = func() { _ = os.RemoveAll(directory) }
	code, out, errOut := s.run("-workers", "1", "-summary", filepath.Join(directory, "summary.csv"))
	require.Equal(t, exitUnfinished, code)
	require.Equal(t, "2", count(out, statePaid))
	require.Contains(t, errOut, "no summary was written")
	s.onPaid = nil
	code, _, errOut = s.run()
	require.Equal(t, exitPaid, code, errOut)
	s.requirePaidOnce()
}

func replaceFile(t *testing.T, path string, write func(io.Writer) error) error {
	t.Helper()
	file, err := createFile(path)
	require.NoError(t, err)
	defer file.discard()
	return file.replace(write)
}
