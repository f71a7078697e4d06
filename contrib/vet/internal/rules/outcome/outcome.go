// Package outcome is the rule that the error of a money call is not dropped.
package outcome

import (
	"golang.org/x/tools/go/analysis"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:     "outcome",
	Doc:      "report errors of money calls that are dropped",
	URL:      calls.Prepaid().Guide + "#outcome",
	Requires: []*analysis.Analyzer{calls.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	found := calls.Of(pass)
	for _, call := range found.Calls {
		if call.Err != calls.None && call.Value(call.Err) == nil {
			found.Reportf(pass, call.Pos(), "the error of "+call.Name+" is dropped: nobody learns whether the money moved")
		}
	}
	return nil, nil
}
