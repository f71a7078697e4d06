package prepaidvcr_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// endVariable is how TestThatEnds ends, pathVariable its cassette.
const (
	endVariable  = "PREPAID_VCR_TEST_END"
	pathVariable = "PREPAID_VCR_TEST_PATH"
)

// TestThatEnds is run by the next test, in its own process.
func TestThatEnds(t *testing.T) {
	end := os.Getenv(endVariable)
	if end == "" {
		t.SkipNow()
	}
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	recorder := prepaidvcr.Start(t, os.Getenv(pathVariable), prepaidvcr.Options{})
	client, err := prepaid.NewClient(recorder.Config(srv.Config()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	if end != "no calls" {
		_, err = client.Accounts.Summary(t.Context(), account(srv, ""))
		require.NoError(t, err)
	}
	switch end {
	case "panic":
		panic("boom")
	case "index":
		beyond := len(os.Args)
		_ = os.Args[beyond]
	case "skip":
		t.Skip("no more of it")
	case "fail":
		t.FailNow()
	case "cleanup":
		t.Cleanup(func() { panic("boom") })
	}
}

// Only a real test that returned without failing replaces its cassette.
func TestOnlyAWholeRecordingIsWritten(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	for _, end := range []string{"panic", "index", "skip", "fail", "cleanup", "no calls", "well"} {
		path := filepath.Join(t.TempDir(), "cassette.yaml")
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
		command := exec.CommandContext(t.Context(), program, "-test.run=^TestThatEnds$", "-test.v")
		command.Env = append(os.Environ(), prepaidvcr.ModeVariable+"=record", endVariable+"="+end, pathVariable+"="+path)
		output, err := command.CombinedOutput()
		content, reading := os.ReadFile(path)
		require.NoError(t, reading)
		if end == "well" {
			require.NoError(t, err, string(output))
			require.Contains(t, string(content), "/status")
			continue
		}
		require.Equal(t, "old", string(content), end)
		require.Equal(t, end == "skip", err == nil, string(output))
	}
}

// A test that is skipped in a replay has no unused requests.
func TestSkippedReplay(t *testing.T) {
	t.Parallel()
	w := inside(t, func(w *watched) {
		prepaidvcr.Start(w, "testdata/payout", prepaidvcr.Options{})
		w.skipped = true
	})
	require.Empty(t, w.said)
}

// Stop called directly: not in a panic, not without requests, and not over a file that another process wrote.
func TestStopRefuses(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "")
	path := filepath.Join(t.TempDir(), "cassette")
	recorded := func(calls int) *prepaidvcr.Recorder {
		recorder, client := open(t, path, recording, srv.Config())
		for range calls {
			_, err := client.Accounts.Summary(t.Context(), id)
			require.NoError(t, err)
		}
		require.NoError(t, client.Close())
		return recorder
	}
	refused := func(err error, rule string) {
		t.Helper()
		failed, ok := errors.AsType[*prepaidvcr.CassetteError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, path+".yaml", failed.Path)
		require.Contains(t, failed.Rule, rule)
	}
	refused(recorded(0).Stop(), "no request was recorded")
	func() {
		defer func() { require.NotNil(t, recover()) }()
		recorder := recorded(1)
		defer func() { refused(recorder.Stop(), "did not run to its end") }()
		panic("boom")
	}()
	require.NoFileExists(t, path+".yaml")
	first, second := recorded(1), recorded(2)
	require.NoError(t, first.Stop())
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	refused(second.Stop(), "changed during the recording")
	after, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	require.Equal(t, string(content), string(after))
	require.NoError(t, os.WriteFile(path+".yaml", []byte("version: 2\ninteractions: []\n"), 0o600))
	_, err = prepaidvcr.New(path, prepaidvcr.Options{})
	refused(err, "has no requests")
}

// A client that outlives its recording sends nothing unrecorded.
func TestRequestAfterStop(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "")
	recorder, client := open(t, filepath.Join(t.TempDir(), "cassette"), recording, srv.Config())
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	_, err := client.Accounts.Summary(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, recorder.Stop())
	sent := len(srv.Requests())
	_, err = client.Accounts.Summary(t.Context(), id)
	require.ErrorContains(t, err, "the recording has ended")
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
	require.Len(t, srv.Requests(), sent)
}
