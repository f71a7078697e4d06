// Package retry is the rule that only the client, or a program that checks the outcome, repeats a money call.
package retry

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = calls.Rule("retry", "report money calls that are repeated without their outcome", run)

func run(found *calls.Result) {
	r := &rule{found}
	for _, call := range r.Calls {
		if call.Kind == calls.Unkeyed || call.Kind == calls.Creation {
			r.again(call)
		}
	}
	for _, fn := range r.Funcs {
		for call := range calls.All[ssa.CallInstruction](fn) {
			r.call(call)
		}
	}
}

type rule struct{ *calls.Result }

const twice = "after a lost response this may repeat the effect; decide by the outcome, and read back first"

// again reports a call without a request ID that is made again, or whose order is sent into a channel again, after an unknown
// outcome.
func (r *rule) again(call *calls.Call) {
	second, between := r.Again(call)
	if slices.ContainsFunc(second, func(next *calls.Call) bool { return !r.looks(next, next.Instr == call.Instr) }) {
		r.Report(call.Pos, call.Name+" is made again after an error: "+twice)
		return
	}
	payment := r.Payment(call)
	for instr := range between {
		if send, ok := instr.(*ssa.Send); ok && related(r.Parts(send.X, ""), payment) && !r.elsewhere(send, payment) {
			r.Report(call.Pos, call.Name+" goes back to its queue after an error: "+twice)
			return
		}
	}
}

// elsewhere reports whether a payment was received from another channel than the one that it is sent to.
func (r *rule) elsewhere(send *ssa.Send, payment []calls.Part) bool {
	return slices.ContainsFunc(payment, func(p calls.Part) bool {
		received, ok := p.Value.(*ssa.UnOp)
		return ok && received.Op == token.ARROW && !calls.Same(r.Parts(received.X, ""), r.Parts(send.Chan, ""))
	})
}

// looks reports whether a call is Issue with Again, which searches before it creates.
func (r *rule) looks(call *calls.Call, itself bool) bool {
	return call.Params != calls.None && calls.Named(call.Arg(call.Params).Type(), calls.SDK+".IssueParams") &&
		slices.ContainsFunc(r.Parts(call.Arg(call.Params), "Again"), func(p calls.Part) bool {
			constant, ok := p.Value.(*ssa.Const)
			return !ok && !itself || ok && constant.Value != nil && constant.Value.String() == "true"
		})
}

// related reports whether a value contains a part of a payment that is not constant.
func related(value, payment []calls.Part) bool {
	return slices.ContainsFunc(value, func(a calls.Part) bool {
		return !calls.Is[*ssa.Const](a.Value) && a.Text != "" && slices.ContainsFunc(payment, func(b calls.Part) bool { return a.Value == b.Value })
	})
}

// call reports a call of a retry library with a function that makes a money call and ignores the outcome.
func (r *rule) call(instr ssa.CallInstruction) {
	list, again := r.Reruns(instr)
	if !again || slices.ContainsFunc(list, r.Asks) || r.asksWithin(instr) {
		return
	}
	for _, call := range r.Calls {
		if !slices.Contains(list, call.In) || call.Kind == calls.Record {
			continue
		}
		name := calls.Callee(instr.Common()).Pkg().Name() + "." + calls.Callee(instr.Common()).Name()
		wrong := "it repeats what was refused, and its last error hides that an earlier attempt may have paid; " +
			"the client repeats a transfer where that is safe: send the same params again later, by the outcome"
		if call.Kind != calls.Keyed {
			wrong = twice
		}
		r.Report(r.Pos(instr), call.Name+" is run again by "+name+", which does not know outcomes: "+wrong)
		return
	}
}

// asksWithin reports whether an option of a call, such as retry.RetryIf(transport.NotSent), asks for the outcome.
func (r *rule) asksWithin(instr ssa.CallInstruction) bool {
	for n := range ast.Preorder(r.Expr(instr)) {
		if id, ok := n.(*ast.Ident); ok {
			object, _ := r.Pass.TypesInfo.Uses[id].(*types.Func)
			if id.Name == "Outcome" || calls.Judges(object) || object != nil && r.SSA.Prog.FuncValue(object) != nil && r.Asks(r.SSA.Prog.FuncValue(object)) {
				return true
			}
		}
	}
	return false
}
