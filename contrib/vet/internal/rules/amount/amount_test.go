package amount_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/amount"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestAmount(t *testing.T) {
	t.Parallel()
	vettest.Run(t, amount.Analyzer, "rounded", "rounded/convert")
}
