package hostile_test

import (
	"flag"
	"log"
	"testing"

	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/tests/built"
)

// TestMain is also the worker of most runs: Worker does not return in a process that a run has started. Runs wait more than they
// work, so more of them run at once than there are cores.
func TestMain(m *testing.M) {
	hostile.Worker("leased", leased)
	hostile.Worker("journal", journaled)
	hostile.Worker("sloppy", sloppy)
	hostile.Worker("wired", wired)
	playRole()
	if err := flag.Set("test.parallel", "8"); err != nil {
		log.Fatal(err)
	}
	built.Main(m, map[string]string{"../..": "./cmd/prepaid-hostile"})
}
