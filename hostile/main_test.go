package hostile_test

import (
	"testing"

	"github.com/cardprograms/prepaid/hostile"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

func TestMain(m *testing.M) {
	hostile.Worker("leased", leased)
	hostile.Worker("journal", journaled)
	hostile.Worker("sloppy", sloppy)
	hostile.Worker("wired", wired)
	hostile.Worker("payer", payAll) // does not return in a process that a run has started
	harness.Main(m, 4)
}
