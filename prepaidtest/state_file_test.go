package prepaidtest

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/statefile"
)

func started(t *testing.T, options Options) *Server {
	t.Helper()
	s, err := Start(options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestWithStateFile_SurvivesRestarts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	s := started(t, Options{StateFile: path})
	info, err := os.Stat(path)
	require.NoError(t, err, "a file that cannot be written shows at once")
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	id := s.AddAccount(SeedAccount{Balance: "7"})
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(text), string(id))
	}, 10*time.Second, 20*time.Millisecond, "written while it runs")
	s.Adjust(id, "1")
	require.NoError(t, s.Close())

	s = started(t, Options{StateFile: path})
	require.Equal(t, "8.00", s.Balance(id), "written on Close")
	require.NoError(t, s.Close())
	left, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{path, path + ".lock"}, left)
}

func TestWithStateFile_WritesNothingWithoutAChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	s := started(t, Options{StateFile: path})
	id := s.AddAccount(SeedAccount{})
	require.NoError(t, s.Close())
	before, err := os.Stat(path)
	require.NoError(t, err)

	s = started(t, Options{StateFile: path})
	s.SetStatus(id, "active")
	time.Sleep(2 * statefile.Every)
	require.NoError(t, s.Close())
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after), "each write makes another file")
	require.Equal(t, before.ModTime(), after.ModTime())
}

func TestWithStateFile_EmptyAndWithState(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(path, []byte("\n"), 0o600))
	other := started(t, Options{})
	id := other.AddAccount(SeedAccount{Balance: "3"})
	var text bytes.Buffer
	require.NoError(t, other.Save(&text))

	s := started(t, Options{StateFile: path, State: bytes.NewReader(text.Bytes())})
	require.Equal(t, "3.00", s.Balance(id))
	s.Adjust(id, "1")
	require.NoError(t, s.Close())
	s = started(t, Options{StateFile: path, State: bytes.NewReader(text.Bytes())})
	require.Equal(t, "4.00", s.Balance(id), "the file goes first")
}

func TestWithStateFile_KeepsWhatItCannotUse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"no state hunter2", `{"version":2`, `{"version":1}`, `{"version":2,"hunter2":1}`} {
		path := filepath.Join(t.TempDir(), "state.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		for range 2 { // the lock is released
			_, err := Start(Options{StateFile: path})
			require.ErrorContains(t, err, "prepaidtest: StateFile: the state")
			require.NotContains(t, err.Error(), "hunter2")
		}
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
	}
	_, err := Start(Options{StateFile: t.TempDir()})
	require.ErrorContains(t, err, "StateFile")
	_, err = Start(Options{StateFile: filepath.Join(t.TempDir(), "none", "state.json")})
	require.ErrorContains(t, err, "StateFile")
}

func TestWithStateFile_OneServerAtATime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no flock")
	}
	path := filepath.Join(t.TempDir(), "state.json")
	s := started(t, Options{StateFile: path})
	_, err := Start(Options{StateFile: path})
	require.EqualError(t, err, "prepaidtest: StateFile: the file is in use by another server")
	require.NoError(t, s.Close())
	_, err = Start(Options{StateFile: path, ListenOn: "nowhere:-1"})
	require.Error(t, err)
	require.NoError(t, started(t, Options{StateFile: path}).Close())
}

// lines is a log that a test can read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

func TestWithStateFile_ReportsAFailureOnce(t *testing.T) {
	t.Parallel()
	for _, recovers := range []bool{false, true} {
		path, log := filepath.Join(t.TempDir(), "state.json"), new(lines)
		s := started(t, Options{StateFile: path, Logger: slog.New(slog.NewTextHandler(log, nil))})
		inTheWay := filepath.Join(path+".tmp", "x")
		require.NoError(t, os.MkdirAll(inTheWay, 0o700))
		id := s.AddAccount(SeedAccount{})
		failed := func() bool { return log.count("state file") > 0 }
		require.Eventually(t, failed, 10*time.Second, 10*time.Millisecond)
		s.Adjust(id, "1")
		time.Sleep(2 * statefile.Every)
		require.Equal(t, 1, log.count("state file"))
		if !recovers {
			require.ErrorContains(t, s.Close(), "StateFile")
			continue
		}
		require.NoError(t, os.Remove(inTheWay)) // the empty directory is removed as a leftover
		require.NoError(t, s.Close())
		require.Equal(t, "1.00", started(t, Options{StateFile: path}).Balance(id))
	}
}
