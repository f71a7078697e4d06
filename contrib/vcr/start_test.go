package prepaidvcr_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// watched is a user's test, run inside one of ours.
type watched struct {
	testing.TB
	cleanups []func()
	said     []string
	failed   bool
	skipped  bool
}

func (w *watched) Helper()          {}
func (w *watched) Failed() bool     { return w.failed }
func (w *watched) Skipped() bool    { return w.skipped }
func (w *watched) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }

func (w *watched) Error(values ...any) {
	w.failed = true
	w.said = append(w.said, fmt.Sprint(values...))
}

func (w *watched) Fatalf(format string, values ...any) {
	w.Error(fmt.Sprintf(format, values...))
	runtime.Goexit()
}

// inside runs body as a test and returns its state.
func inside(t *testing.T, body func(w *watched)) *watched {
	t.Helper()
	w, done := &watched{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range w.cleanups {
				f()
			}
		}()
		body(w)
	}()
	<-done
	return w
}

func TestStart(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "5.00")
	path := filepath.Join(t.TempDir(), "cassette")
	body := func(config prepaid.Config, id prepaid.AccountID, calls int, fail bool) func(*watched) {
		return func(w *watched) {
			recorder := prepaidvcr.Start(w, path, prepaidvcr.Options{})
			client, err := prepaid.NewClient(recorder.Config(config))
			require.NoError(t, err)
			for range calls {
				_, err = client.Accounts.Get(t.Context(), id)
				require.NoError(t, err)
			}
			require.NoError(t, client.Close())
			w.failed = w.failed || fail
		}
	}
	missing := inside(t, body(prepaid.Config{}, id, 1, false))
	require.Len(t, missing.said, 1)
	require.Contains(t, missing.said[0], "PREPAID_VCR=record go test -count=1 records it")

	t.Setenv(prepaidvcr.ModeVariable, "record")
	inside(t, body(srv.Config(), id, 1, true))
	require.NoFileExists(t, path+".yaml", "of a test that failed")
	require.Empty(t, inside(t, body(srv.Config(), id, 2, false)).said)
	require.FileExists(t, path+".yaml")

	t.Setenv(prepaidvcr.ModeVariable, "replay")
	require.Equal(t, []string{`prepaidvcr: PREPAID_VCR must be empty or "record"`}, inside(t, body(prepaid.Config{}, id, 1, false)).said)
	t.Setenv(prepaidvcr.ModeVariable, "")
	require.NoError(t, srv.Close())
	require.Empty(t, inside(t, body(prepaid.Config{}, "any", 2, false)).said)
	unused := inside(t, body(prepaid.Config{}, "any", 1, false))
	require.Equal(t, []string{"prepaidvcr: recorded and not requested: Accounts.Get"}, unused.said)
	require.Empty(t, inside(t, body(prepaid.Config{}, "any", 1, true)).said, "a test that failed has said enough")
}

// A cassette that cannot be written is an error, and an older one remains.
func TestStopKeepsTheOldCassette(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "")
	directory := t.TempDir()
	file := filepath.Join(directory, "file")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	for _, path := range []string{filepath.Join(file, "cassette"), directory + "/x\x00y"} {
		recorder, client := open(t, path, recording, srv.Config())
		_, err := client.Accounts.Get(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, client.Close())
		failed, ok := errors.AsType[*prepaidvcr.CassetteError](recorder.Stop())
		require.True(t, ok)
		require.Contains(t, failed.Error(), "cannot be written")
	}
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is left lying about")
}
