// Package funding is the rule that a program checks the decision in the result of a funding call.
package funding

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = calls.Rule("funding", "report funding calls whose result is not asked whether they were approved", run)

func run(found *calls.Result) {
	for _, call := range found.Calls {
		if call.Result == calls.None || call.Value(call.Err) == nil { // rule outcome is for errors
			continue
		}
		if !calls.Named(call.Instr.Common().Signature().Results().At(call.Result).Type(), calls.Decision) {
			continue
		}
		switch value := call.Value(call.Result); {
		case value == nil:
			found.Report(call.Pos, "the result of "+call.Name+" is dropped: "+consequence)
		case !(asked{}).any(value):
			found.Report(call.Pos, "the result of "+call.Name+" is never asked for its outcome: "+consequence)
		}
	}
}

const consequence = "a nil error is no approval: a decline would count as a movement; read Approved, or return the result"

// asked looks for code that reads the decision of a result, or passes the result on.
type asked map[ssa.Value]bool // the values that it has seen

func (a asked) any(value ssa.Value) bool {
	if a[value] || value.Referrers() == nil {
		return false
	}
	a[value] = true
	return slices.ContainsFunc(*value.Referrers(), func(ref ssa.Instruction) bool { return a.asks(value, ref) })
}

func (a asked) asks(value ssa.Value, ref ssa.Instruction) bool {
	switch ref := ref.(type) {
	case *ssa.BinOp:
		return !calls.ComparesWithNil(ref)
	case *ssa.Phi:
		return a.any(ref)
	case *ssa.FieldAddr:
		return calls.Verdict(calls.FieldName(ref.X.Type(), ref.Field))
	case *ssa.Call:
		callee := calls.Callee(ref.Common())
		ownMethod := callee != nil && callee.Signature().Recv() != nil && len(ref.Call.Args) > 0 && ref.Call.Args[0] == value
		return !ownMethod || calls.Verdict(callee.Name())
	case *ssa.Store:
		if local, ok := ref.Addr.(*ssa.Alloc); ok && ref.Val == value {
			return slices.ContainsFunc(*local.Referrers(), func(ref ssa.Instruction) bool {
				load, ok := ref.(*ssa.UnOp)
				if !ok { // in a literal
					store, ok := ref.(*ssa.Store)
					return !ok || store.Addr != local
				}
				return a.any(load)
			})
		}
	}
	return true
}
