package prepaidvcr

import (
	"os"
	"runtime"
	"testing"
)

// ModeVariable is the environment variable that makes [Start] record instead of replay.
const ModeVariable = "PREPAID_VCR"

// recordWord is its value for that.
const recordWord = "record"

// Start opens the cassette at path for a test and stops it with the test. It replays, or records if PREPAID_VCR is
// "record", whatever the mode in options; go test then needs -count=1, or it uses its cached result. The test fails if
// the cassette is missing or does not pass [Check], if it cannot be written, or if recorded requests were not made. Only
// a test that ran to its end without failing writes a cassette: the recording of a test that failed, was skipped or
// panicked is dropped, and the older cassette stays.
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

// unwinding reports whether the caller is running because of a panic or of runtime.Goexit, not because a function
// returned. A test that panics has not failed yet when its cleanups run: only the stack shows it.
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
