//go:build linux

package netcut

import (
	"os"
	"testing"

	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// TestMain runs all tests at once: they wait.
func TestMain(m *testing.M) {
	if text := os.Getenv(payerVariable); text != "" {
		os.Exit(payerMain(text))
	}
	harness.Main(m, 100)
}
