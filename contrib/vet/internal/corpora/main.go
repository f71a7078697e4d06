// Corpora is prepaidvet with its rules mapped onto other SDKs, to look for false reports in programs that other people wrote:
//
//	go build -o /tmp/corpora ./internal/corpora
//	cd some/module && go vet -vettool=/tmp/corpora ./...
package main

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	prepaidvet "github.com/cardprograms/prepaid/contrib/vet"
	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

func main() { unitchecker.Main(mapped(payments())...) }

// mapped returns the rules for a model, and a rule that counts money calls.
func mapped(model *calls.Model) []*analysis.Analyzer {
	base := calls.New(model)
	rules := []*analysis.Analyzer{calls.On(found, base)}
	for _, rule := range prepaidvet.Analyzers() {
		rules = append(rules, calls.On(rule, base))
	}
	return rules
}

// found reports the money calls themselves: if a model finds no call, a run without reports proves nothing.
var found = &analysis.Analyzer{
	Name:     "found",
	Doc:      "report all money calls",
	Requires: []*analysis.Analyzer{calls.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, call := range calls.Of(pass).Calls {
			pass.Reportf(call.Pos(), "found: %s, wrapper: %t", call.Name, call.Wrapper)
		}
		return nil, nil
	},
}
