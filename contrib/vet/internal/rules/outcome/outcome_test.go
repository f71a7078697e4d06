package outcome_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/outcome"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
	vettest.Run(t, outcome.Analyzer, "dropped", "fixed", "compared", "handled", "across", "example.com/unknown")
}
