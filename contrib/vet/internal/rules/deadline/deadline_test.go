package deadline_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/deadline"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestDeadline(t *testing.T) {
	t.Parallel()
	vettest.Run(t, deadline.Analyzer, "serving", "service", "bounded", "bounded/payouts", "library", "library/cmd")
}
