package prepaidvcr

import (
	"os"
	"runtime"
	"testing"
)

// ModeVariable is the environment variable that makes [Start] record instead of replay.
const ModeVariable = "PREPAID_VCR"

// recordWord is ModeVariable's value for a recording.
const recordWord = "record"

// Start opens the cassette at path for a test and stops it with the test. It ignores options.Mode: it records if
// PREPAID_VCR is "record" (go test then needs -count=1, or it may use a cached result). Otherwise it replays. The test
// fails if the cassette is missing, fails [Check] or cannot be written, or if recorded requests were not made.
// Only a test that ran to its end without failing writes a cassette: if the test failed, was skipped or panicked, the
// recording is dropped, and the old cassette stays.
func Start(t testing.TB, path string, options Options) *Recorder {
	t.Helper()
	options.Mode = ModeReplay
	switch os.Getenv(ModeVariable) {
	case "":
	case recordWord:
		options.Mode = ModeRecord
	default:
		t.Fatalf("prepaidvcr: %s must be empty or %q", ModeVariable, recordWord)
	}
	recorder, err := New(path, options)
	if err != nil {
		t.Fatalf("%v (%s=%s go test -count=1 records it)", err, ModeVariable, recordWord)
	}
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() || unwinding() {
			recorder.discard()
			return
		}
		if err := recorder.Stop(); err != nil {
			t.Error(err)
		}
	})
	return recorder
}

// unwinding reports whether the caller runs because of a panic or runtime.Goexit, not because a function returned.
// During the cleanups of a panicking test, the test does not count as failed yet: only the stack shows the panic.
func unwinding() bool {
	const most = 256
	callers := make([]uintptr, most)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if frame.Function == "runtime.gopanic" || frame.Function == "runtime.Goexit" {
			return true
		}
		if !more {
			return false
		}
	}
}
