// Package prepaidvet has analyzers that find mistakes with money in programs that use the SDK. Run them with the program
// cmd/prepaidvet, as a plugin of golangci-lint (package plugin), or in a driver of your own.
package prepaidvet

import (
	"golang.org/x/tools/go/analysis"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/funding"
	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/iterator"
	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/journal"
	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/outcome"
	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/requestid"
	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/retry"
	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/webhook"
)

// Analyzers returns all rules, each with a section in the README of this module.
func Analyzers() []*analysis.Analyzer {
	return []*analysis.Analyzer{
		funding.Analyzer,
		iterator.Analyzer,
		journal.Analyzer,
		outcome.Analyzer,
		requestid.Analyzer,
		retry.Analyzer,
		webhook.Analyzer,
	}
}
