package journalfile

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The test binary runs itself as the process to kill or lock out.
func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "pay":
		os.Exit(payAll())
	case "resume":
		os.Exit(resumeAll())
	case "open":
		os.Exit(openOnce())
	}
	goleak.VerifyTestMain(m)
}
