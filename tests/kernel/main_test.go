//go:build linux

package kernel

import (
	"os"
	"testing"

	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// TestMain is also the payer, the client and the proxy of the links. It runs all tests at once: they wait.
func TestMain(m *testing.M) {
	if text := os.Getenv(payerVariable); text != "" {
		os.Exit(payerMain(text))
	}
	if address := os.Getenv(dialVariable); address != "" {
		os.Exit(dialMain(address))
	}
	if address := os.Getenv(tunnelVariable); address != "" {
		os.Exit(tunnelMain(address))
	}
	harness.Main(m, 100)
}
