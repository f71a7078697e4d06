package prepaidvcr_test

import (
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

// inside runs body as a test and returns its state. Like package testing, it runs the cleanups during a panic.
func inside(t *testing.T, body func(w *watched)) *watched {
	t.Helper()
	w, done := &watched{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
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

// Only a test that ran to its end without failing replaces its cassette.
func TestStart(t *testing.T) {
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "5.00")
	path := filepath.Join(t.TempDir(), "cassette")
	body := func(calls int, end func(w *watched)) func(*watched) {
		return func(w *watched) {
			recorder := prepaidvcr.Start(w, path, prepaidvcr.Options{})
			client, err := prepaid.NewClient(recorder.Config(srv.Config()))
			require.NoError(t, err)
			for range calls {
				_, err = client.Accounts.Get(t.Context(), id)
				require.NoError(t, err)
			}
			require.NoError(t, client.Close())
			end(w)
		}
	}
	well, fails, skips := func(*watched) {}, func(w *watched) { w.failed = true }, func(w *watched) { w.skipped = true }
	missing := inside(t, body(1, well))
	require.Len(t, missing.said, 1)
	require.Contains(t, missing.said[0], "PREPAID_VCR=record go test -count=1 records it")

	t.Setenv(prepaidvcr.ModeVariable, "record")
	require.NoError(t, os.WriteFile(path+".yaml", []byte("old"), 0o600))
	for _, end := range []func(*watched){fails, skips, func(*watched) { panic("boom") }, func(*watched) { runtime.Goexit() }} {
		inside(t, body(1, end))
		content, err := os.ReadFile(path + ".yaml")
		require.NoError(t, err)
		require.Equal(t, "old", string(content))
	}
	require.Contains(t, inside(t, func(w *watched) { prepaidvcr.Start(w, path, prepaidvcr.Options{}) }).said[0], "no request was recorded")
	require.Empty(t, inside(t, body(2, well)).said)

	t.Setenv(prepaidvcr.ModeVariable, "replay")
	require.Equal(t, []string{`prepaidvcr: PREPAID_VCR must be empty or "record"`}, inside(t, body(1, well)).said)
	t.Setenv(prepaidvcr.ModeVariable, "")
	require.NoError(t, srv.Close())
	require.Empty(t, inside(t, body(2, well)).said)
	require.Equal(t, []string{"prepaidvcr: recorded and not requested: Accounts.Get"}, inside(t, body(1, well)).said)
	require.Empty(t, inside(t, body(1, fails)).said, "a test that failed has said enough")
	require.Empty(t, inside(t, body(1, skips)).said)
}

// A client that outlives its recording sends nothing unrecorded. A cassette that cannot be written is an error.
func TestRequestAfterStop(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "")
	recorder, client := open(t, t.TempDir()+"/x\x00y", prepaidvcr.Options{Mode: prepaidvcr.ModeRecord}, srv.Config())
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	_, err := client.Accounts.Summary(t.Context(), id)
	require.NoError(t, err)
	require.ErrorContains(t, recorder.Stop(), "cannot be written")
	sent := len(srv.Requests())
	_, err = client.Accounts.Summary(t.Context(), id)
	require.ErrorContains(t, err, "the recording has ended")
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
	require.Len(t, srv.Requests(), sent)
}
