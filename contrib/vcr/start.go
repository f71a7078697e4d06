package prepaidvcr

import (
	"os"
	"testing"
)

// ModeVariable is the environment variable by which [Start] records instead of replaying.
const ModeVariable = "PREPAID_VCR"

// recordWord is its value for that.
const recordWord = "record"

// Start opens the cassette at path for a test and stops it with the test. It replays, or records when PREPAID_VCR is
// "record", whatever options say of the mode. The test fails when the cassette is missing or does not pass [Check], when
// it cannot be written, or when recorded requests were not made. A recording of a test that failed is dropped.
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
		t.Fatalf("%v (%s=%s records it)", err, ModeVariable, recordWord)
	}
	t.Cleanup(func() {
		if t.Failed() {
			recorder.discard()
			return
		}
		if err := recorder.Stop(); err != nil {
			t.Error(err)
		}
	})
	return recorder
}
