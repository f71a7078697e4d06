package faults

import (
	"flag"
	"log"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs more tests at once than there are cores: most of them wait.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m)
}
