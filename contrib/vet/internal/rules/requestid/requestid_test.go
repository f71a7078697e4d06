package requestid_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/requestid"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestRule(t *testing.T) {
	t.Parallel()
	vettest.Run(t, requestid.Analyzer, "example.com/loops", "example.com/right", "example.com/timed", "example.com/closures", "example.com/ids", "example.com/retry", "example.com/wrapper", "example.com/caller", "example.com/stored")
}
