// Package outcome is the rule that the error of a money call is returned or recorded, and is not taken for a failure.
package outcome

import (
	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = calls.Rule("outcome", "report errors of money calls that are dropped, or taken for a failure", run)

func run(found *calls.Result) {
	for _, call := range found.Calls {
		after(found, call)
		if call.Err == calls.None || call.Recorded {
			continue
		}
		value := call.Value(call.Err)
		switch {
		case value == nil:
			found.Report(call.Pos, "the error of "+call.Name+" is dropped: "+consequence(call.Kind))
		case call.Kind == calls.Record: // nothing was sent: a comparison with nil shows everything
		case !found.Forgotten(call):
		case !calls.FateOf(value).Used:
			found.Report(call.Pos, "the error of "+call.Name+" is only compared with nil: "+consequence(call.Kind))
		default:
			found.Report(call.Pos, "the error of "+call.Name+" is forgotten on some path: "+consequence(call.Kind))
		}
	}
}

func consequence(kind calls.Kind) string {
	switch kind {
	case calls.Creation:
		return "the account may exist, and the next try creates a second one; return it or record it"
	case calls.Record:
		return "the program goes on as if the payment or the decision were stored; return it or record it"
	case calls.Keyed, calls.Unkeyed:
	}
	return "the money may have moved, and nothing records it; return it, record it or call prepaid.OutcomeOf"
}
