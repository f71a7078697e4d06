//go:build linux

package netcut

import (
	"flag"
	"log"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs all tests at once: they wait.
func TestMain(m *testing.M) {
	if text := os.Getenv(payerVariable); text != "" {
		os.Exit(payerMain(text))
	}
	if err := flag.Set("test.parallel", "100"); err != nil {
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m)
}
