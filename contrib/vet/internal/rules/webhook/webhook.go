// Package webhook is the rule that a message is handled once, and then acknowledged.
package webhook

import (
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:     "webhook",
	Doc:      "report messages that are paid twice, acknowledged before the work is done, or lost",
	URL:      calls.Prepaid().Guide + "#webhook",
	Requires: []*analysis.Analyzer{calls.Analyzer},
	Run:      run,
}

type rule struct {
	*calls.Result
	pass *analysis.Pass
}

func run(pass *analysis.Pass) (any, error) {
	r := &rule{calls.Of(pass), pass}
	for _, call := range r.Calls {
		if call.Kind.Sends() {
			r.early(call)
		}
	}
	for _, fn := range r.Funcs {
		if r.handles(fn) {
			r.handler(fn)
		}
	}
	return nil, nil
}

// handles reports whether a function handles messages.
func (r *rule) handles(fn *ssa.Function) bool {
	results := fn.Signature.Results()
	return results.Len() == 1 && calls.IsError(results.At(0).Type()) &&
		slices.ContainsFunc(fn.Params, func(param *ssa.Parameter) bool { return calls.Named(param.Type(), r.Model.Message) })
}

func (r *rule) handler(fn *ssa.Function) {
	waits := false
	var started []*ssa.Go
	for instr := range calls.All[ssa.Instruction](fn) {
		switch instr := instr.(type) {
		case *ssa.Go:
			started = append(started, instr)
		case *ssa.UnOp:
			waits = waits || instr.Op.String() == "<-"
		case *ssa.Select:
			waits = true
		case *ssa.Call:
			callee := calls.Callee(instr.Common())
			waits = waits || callee != nil && callee.Name() == "Wait"
			if callee != nil && !waits {
				r.swallowed(instr)
			}
		}
	}
	for _, instr := range started {
		if !waits {
			r.Reportf(r.pass, r.Pos(instr), "the message is acknowledged while a goroutine still works on it: if the process ends, it is lost; "+
				"do the work before the function returns, or put the message into a durable queue")
		}
	}
	for _, call := range r.Calls {
		if call.In != fn || call.Kind != calls.Keyed {
			continue
		}
		for _, p := range r.Key(call) {
			if made, ok := p.Value.(*ssa.Call); ok && p.New != "" && p.New != calls.Clock {
				r.Reportf(r.pass, r.Pos(made), "a webhook message can arrive more than once, and is paid under a new request ID each time; derive the ID from that of the message")
			}
		}
		if call.Own {
			r.Reportf(r.pass, call.Pos(), "a webhook message can arrive more than once, and "+call.Name+" pays it under a new request ID each time; derive the ID from that of the message")
		}
	}
}

// swallowed reports work in a function that acknowledges the message even if the work returns an error.
func (r *rule) swallowed(instr *ssa.Call) {
	results := instr.Common().Signature().Results()
	callee := calls.Callee(instr.Common())
	if results.Len() == 0 || !calls.IsError(results.At(results.Len()-1).Type()) || calls.Logs(instr.Common()) ||
		calls.Pure(callee) || callee.Name() == "Decode" || r.Model.OwnsPackage(callee.Pkg()) && r.Find(instr) == nil {
		return
	}
	work := &calls.Call{Func: calls.Func{Err: results.Len() - 1, Result: calls.None, Params: calls.None, Key: calls.Source{Param: calls.None}}, Instr: instr, In: instr.Parent()}
	if work.Value(work.Err) == nil {
		return
	}
	calm := false
	r.After(work, true, func(next ssa.Instruction) bool {
		switch next := next.(type) {
		case ssa.CallInstruction:
			callee := calls.Callee(next.Common())
			if _, builtin := next.Common().Value.(*ssa.Builtin); !builtin && (callee == nil || !calls.Logs(next.Common()) && !calls.Pure(callee)) {
				return false // it may handle the error
			}
			if callee != nil && calls.Calls(next.Common(), "errors.Is", "errors.As", "errors.AsType") {
				return false
			}
		case *ssa.Send, *ssa.MapUpdate:
			return false
		case *ssa.Return:
			c, ok := next.Results[0].(*ssa.Const)
			calm = calm || ok && c.IsNil()
		}
		return true
	})
	if calm {
		r.Reportf(r.pass, r.Pos(instr), "after an error of "+callee.Name()+" the message is acknowledged, and lost; return the error")
	}
}

// early reports a claim that is marked as done before the payment.
func (r *rule) early(call *calls.Call) {
	for mark := range calls.All[*ssa.Call](call.In) {
		if calls.Calls(mark.Common(), r.Model.Done) && calls.Precedes(mark, call.Instr) {
			r.Reportf(r.pass, r.Pos(mark), "this is marked as done before "+call.Name+" is made: if that fails, or the process ends in between, it is never made; mark it afterwards")
			return
		}
	}
}
