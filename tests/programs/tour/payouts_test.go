package tour

import (
	"regexp"
	"testing"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/internal/tests/transcript"
)

// docs/tour.md shows this program's real output.
func TestTourOfPayouts(t *testing.T) {
	t.Parallel()
	pgtest.Start(t, pgtest.Options{}) // or skips the test
	shown := transcript.Session(t, nil, "cd examples/apps/payouts", "go run .")
	transcript.Require(t, "docs/tour.md", "payouts", shown, func(text string) string {
		return regexp.MustCompile(`\d+ posted again`).ReplaceAllString(text, "N posted again")
	})
}
