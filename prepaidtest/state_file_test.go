package prepaidtest

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
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
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.json")
		s := started(t, Options{InMemory: true, StateFile: path})
		info, err := os.Stat(path)
		require.NoError(t, err, "a file that cannot be written shows at once")
		if runtime.GOOS != "windows" {
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		}
		id := s.AddAccount(SeedAccount{Balance: "7"})
		time.Sleep(statefile.Every)
		synctest.Wait()
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), string(id), "written while it runs")
		s.Adjust(id, "1")
		require.NoError(t, s.Close())

		s = started(t, Options{InMemory: true, StateFile: path})
		require.Equal(t, "8.00", s.Balance(id), "written on Close")
		require.NoError(t, s.Close())
		left, err := filepath.Glob(path + "*")
		require.NoError(t, err)
		require.ElementsMatch(t, []string{path, path + ".lock"}, left)
	})
}

func TestWithStateFile_WritesNothingWithoutAChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.json")
		s := started(t, Options{InMemory: true, StateFile: path})
		id := s.AddAccount(SeedAccount{})
		require.NoError(t, s.Close())
		before, err := os.Stat(path)
		require.NoError(t, err)

		s = started(t, Options{InMemory: true, StateFile: path})
		s.SetStatus(id, "active")
		time.Sleep(2 * statefile.Every)
		require.NoError(t, s.Close())
		after, err := os.Stat(path)
		require.NoError(t, err)
		require.True(t, os.SameFile(before, after), "each write makes another file")
		require.Equal(t, before.ModTime(), after.ModTime())
	})
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

func TestWithStateFile_ReportsAFailureOnce(t *testing.T) {
	t.Parallel()
	for _, recovers := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			path, log := filepath.Join(t.TempDir(), "state.json"), new(strings.Builder)
			s := started(t, Options{InMemory: true, StateFile: path, Logger: slog.New(slog.NewTextHandler(log, nil))})
			inTheWay := filepath.Join(path+".tmp", "x")
			require.NoError(t, os.MkdirAll(inTheWay, 0o700))
			id := s.AddAccount(SeedAccount{})
			for range 3 {
				time.Sleep(statefile.Every)
				synctest.Wait()
				require.Equal(t, 1, strings.Count(log.String(), "state file"))
				s.Adjust(id, "1")
			}
			if !recovers {
				require.ErrorContains(t, s.Close(), "StateFile")
				return
			}
			require.NoError(t, os.Remove(inTheWay)) // the empty directory is removed as a leftover
			require.NoError(t, s.Close())
			require.Equal(t, "3.00", started(t, Options{InMemory: true, StateFile: path}).Balance(id))
		})
	}
}
