package funding_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/funding"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestFunding(t *testing.T) {
	t.Parallel()
	vettest.Run(t, funding.Analyzer, "dropped", "asked")
}
