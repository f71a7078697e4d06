package process

import (
	"os"
	"testing"

	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// TestMain is also the process to kill or lock out.
func TestMain(m *testing.M) {
	if text := os.Getenv(jobVariable); text != "" {
		os.Exit(jobMain(text))
	}
	harness.Main(m, 8)
}
