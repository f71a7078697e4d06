package iterator_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/iterator"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestIterator(t *testing.T) {
	t.Parallel()
	vettest.Run(t, iterator.Analyzer, "lists")
}
