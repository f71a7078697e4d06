// Package webhook is the rule that a message is handled once, and then acknowledged.
package webhook

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = calls.Rule("webhook", "report messages that are paid twice, acknowledged before the work is done, or lost", run)

type rule struct{ *calls.Result }

func run(found *calls.Result) {
	r := &rule{found}
	for _, call := range r.Calls {
		if call.Kind != calls.Record {
			r.early(call)
		}
	}
	for _, fn := range r.Funcs {
		if r.handles(fn) {
			r.acknowledged(fn)
			r.fresh(fn)
		}
	}
}

// handles reports whether a function handles messages.
func (r *rule) handles(fn *ssa.Function) bool {
	results := fn.Signature.Results()
	return results.Len() == 1 && calls.IsError(results.At(0).Type()) &&
		slices.ContainsFunc(fn.Params, func(param *ssa.Parameter) bool { return calls.Named(param.Type(), calls.Message) })
}

// acknowledged reports work in a handler that is not done when the handler returns nil.
func (r *rule) acknowledged(fn *ssa.Function) {
	waits := r.waits(fn)
	for instr := range calls.All[ssa.CallInstruction](fn) {
		switch instr := instr.(type) {
		case *ssa.Go:
			if !waits {
				r.Report(r.Pos(instr), "the message is acknowledged while a goroutine still works on it: if the process ends, it is lost; "+
					"do the work before the function returns, or put the message into a durable queue")
			}
		case *ssa.Call:
			if !waits && r.works(instr) && r.swallowed(instr) {
				r.Report(r.Pos(instr), "after an error of "+calls.Callee(instr.Common()).Name()+" the message is acknowledged, and lost; return the error")
			}
		}
	}
}

// fresh reports a payment under a new request ID in a handler.
func (r *rule) fresh(fn *ssa.Function) {
	const fresh = "a webhook message can arrive more than once, and is paid under a new request ID each time; derive the ID from that of the message"
	for _, call := range r.Calls {
		if call.In != fn || call.Kind != calls.Keyed {
			continue
		}
		if call.Own {
			r.Report(call.Pos, fresh)
		}
		for _, p := range r.Key(call) {
			if made, ok := p.Value.(*ssa.Call); ok && p.New != "" && p.New != calls.Clock {
				r.Report(r.Pos(made), fresh)
			}
		}
	}
}

// waits reports whether a function waits for goroutines.
func (r *rule) waits(fn *ssa.Function) bool {
	for instr := range calls.All[ssa.Instruction](fn) {
		switch instr := instr.(type) {
		case *ssa.Select:
			return true
		case *ssa.UnOp:
			if instr.Op == token.ARROW {
				return true
			}
		case *ssa.Call:
			if calls.Calls(instr.Common(), "(*sync.WaitGroup).Wait", "(*golang.org/x/sync/errgroup.Group).Wait") {
				return true
			}
		}
	}
	return false
}

// works reports whether a call does work for a message, and can fail: it is not of the SDK, and does not only read the message.
func (r *rule) works(call *ssa.Call) bool {
	callee := calls.Callee(call.Common())
	return callee != nil && callee.Pkg() != nil && calls.ReturnsError(call.Common().Signature()) && !calls.Pure(callee) && callee.Pkg().Path() != "encoding/json" &&
		(!calls.OwnsPackage(callee.Pkg()) || r.Find(call) != nil)
}

// swallowed reports whether a function acknowledges the message after an error of a call that reaches only logs.
func (r *rule) swallowed(instr *ssa.Call) (calm bool) {
	work := calls.Plain(instr)
	if work.Value(work.Err) == nil {
		return false
	}
	r.After(work, true, func(next ssa.Instruction) bool {
		switch next := next.(type) {
		case ssa.CallInstruction: // others may handle the error
			callee := calls.Callee(next.Common())
			return calls.Logs(next.Common()) || callee != nil && calls.Pure(callee) && callee.Pkg().Path() != "errors" || calls.Is[*ssa.Builtin](next.Common().Value)
		case *ssa.Send, *ssa.MapUpdate:
			return false
		case *ssa.Return:
			calm = calm || calls.IsNil(next.Results[0])
		}
		return true
	})
	return calm
}

// early reports a claim that is marked as done before the payment.
func (r *rule) early(call *calls.Call) {
	for mark := range calls.All[*ssa.Call](call.In) {
		if calls.Calls(mark.Common(), calls.Done) && calls.Precedes(mark, call.Instr) {
			r.Report(r.Pos(mark), "this is marked as done before "+call.Name+" is made: if that fails, or the process ends in between, it is never made; mark it afterwards")
			return
		}
	}
}
