package journal_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/journal"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestJournal(t *testing.T) {
	t.Parallel()
	vettest.Run(t, journal.Analyzer, "closed")
}
