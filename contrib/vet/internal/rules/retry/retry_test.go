package retry_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/retry"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestRetry(t *testing.T) {
	t.Parallel()
	vettest.Run(t, retry.Analyzer, "again", "example.com/attempt", "again/pay")
}
