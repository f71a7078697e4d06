// Package journal is the rule that an opened journal is closed.
package journal

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = calls.Rule("journal", "report journals that are not closed on some path", run)

func run(found *calls.Result) {
	for _, fn := range found.Funcs {
		for call := range calls.All[*ssa.Call](fn) {
			if !calls.Calls(call.Common(), calls.Open) {
				continue
			}
			opened := calls.Plain(call)
			if journal := opened.Value(0); journal == nil || left(found, opened, journal) {
				found.Report(found.Pos(call), "the journal is not closed on some path: its file stays locked, and the next run of the process cannot open it; "+
					"close it with defer, and return the error of Close")
			}
		}
	}
}

// left reports whether a path after the opening returns before anything closes or keeps the journal.
func left(found *calls.Result, opened *calls.Call, journal ssa.Value) bool {
	ends := false
	found.After(opened, false, func(instr ssa.Instruction) bool {
		if ends || instr != opened.Instr && slices.Contains(calls.Operands(instr), journal) && keeps(instr) {
			return false
		}
		if _, ok := instr.(*ssa.Return); ok {
			ends = true
		}
		return true
	})
	return ends
}

// keeps reports whether an instruction closes a journal, defers Close, or passes the journal on. Calls of its other methods do not count.
func keeps(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.BinOp:
		return false
	case *ssa.Call:
		callee := calls.Callee(instr.Common())
		return callee == nil || callee.Signature().Recv() == nil || callee.Name() == "Close"
	}
	return true
}
