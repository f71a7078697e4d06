// Package retry is the rule that only the client, or a program that checks the outcome, repeats a money call.
package retry

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:     "retry",
	Doc:      "report money calls that are repeated without their outcome",
	URL:      calls.Prepaid().Guide + "#retry",
	Requires: []*analysis.Analyzer{calls.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	r := &rule{calls.Of(pass), pass}
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
	return nil, nil
}

type rule struct {
	*calls.Result
	pass *analysis.Pass
}

const twice = "after a lost response it does the same again, a second time; look for what happened first, by the outcome"

// again reports a call without a request ID that is made again, or whose order is queued again, after an unknown outcome.
func (r *rule) again(call *calls.Call) {
	payment := r.Payment(call)
	renewed := calls.Renewed(payment)
	var second, queued ssa.Instruction
	r.After(call, true, func(instr ssa.Instruction) bool {
		switch instr := instr.(type) {
		case *ssa.Send:
			if related(r.Parts(instr.X, ""), payment) {
				queued = instr
			}
		case *ssa.Call:
			next := r.Find(instr)
			if next != nil && (instr == call.Instr || next.Kind == call.Kind && same(call, next) && calls.Same(payment, r.Payment(next))) {
				if !r.looks(next, instr == call.Instr) {
					second = instr
				}
				return false
			}
		}
		return !renewed[instr]
	})
	if second != nil && r.After(call, false, func(instr ssa.Instruction) bool { return instr != second && !renewed[instr] })[second] {
		return // also after success
	}
	switch {
	case second != nil:
		r.Reportf(r.pass, call.Pos(), call.Name+" is made again after an error: "+twice)
	case queued != nil:
		r.Reportf(r.pass, call.Pos(), call.Name+" goes back to its queue after an error: "+twice)
	}
}

// same reports whether two calls do the same: one wraps the other, or both call the same function.
func same(a, b *calls.Call) bool {
	return a.Name == b.Name || a.Callee == nil || b.Callee == nil || b.Wrapper
}

// looks reports whether a call is Issue with Again, which searches before it creates.
func (r *rule) looks(call *calls.Call, itself bool) bool {
	return call.Params != calls.None && calls.Named(call.Arg(call.Params).Type(), r.Model.Packages[0]+".IssueParams") &&
		slices.ContainsFunc(r.Parts(call.Arg(call.Params), "Again"), func(p calls.Part) bool {
			constant, ok := p.Value.(*ssa.Const)
			return !ok && !itself || ok && constant.Value != nil && constant.Value.String() == "true"
		})
}

// related reports whether a value contains a part of a payment that is not constant.
func related(value, payment []calls.Part) bool {
	return slices.ContainsFunc(value, func(a calls.Part) bool {
		_, constant := a.Value.(*ssa.Const)
		return !constant && a.Text != "" && slices.ContainsFunc(payment, func(b calls.Part) bool { return a.Value == b.Value })
	})
}

// call reports a call of a retry library with a function that makes a money call and ignores the outcome.
func (r *rule) call(instr ssa.CallInstruction) {
	list, again := r.Reruns(instr)
	if !again {
		return
	}
	var money *calls.Call
	for _, fn := range list {
		if money == nil {
			money = r.money(fn)
		}
		if r.Asks(fn) {
			return
		}
	}
	if money == nil || r.asksWithin(instr) {
		return
	}
	name := calls.Callee(instr.Common()).Pkg().Name() + "." + calls.Callee(instr.Common()).Name()
	wrong := "it repeats what was refused, and its last error hides that an earlier attempt may have paid; " +
		"the client repeats a transfer where that is safe: send the same params again later, by the outcome"
	if money.Kind != calls.Keyed {
		wrong = twice
	}
	r.Reportf(r.pass, r.Pos(instr), money.Name+" is run again by "+name+", which does not know outcomes: "+wrong)
}

// money is a money call that a function or one of its literals makes.
func (r *rule) money(fn *ssa.Function) *calls.Call {
	for instr := range calls.All[ssa.CallInstruction](fn) {
		if call := r.Find(instr); call != nil && call.Kind.Sends() {
			return call
		}
	}
	for _, literal := range fn.AnonFuncs {
		if call := r.money(literal); call != nil {
			return call
		}
	}
	return nil
}

// asksWithin reports whether a function among a call's arguments and options asks for the outcome.
func (r *rule) asksWithin(instr ssa.CallInstruction) bool {
	expr := r.Expr(instr)
	if expr == nil {
		return false
	}
	if slices.ContainsFunc(r.Funcs, func(fn *ssa.Function) bool {
		return fn.Parent() != nil && expr.Pos() <= fn.Pos() && fn.Pos() < expr.End() && r.Asks(fn)
	}) {
		return true
	}
	named := false // retry.RetryIf(transport.NotSent), or a function of the package
	ast.Inspect(expr, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if object, ok := r.pass.TypesInfo.Uses[id].(*types.Func); ok {
			fn := r.SSA.Prog.FuncValue(object)
			named = named || r.Judges(object) || fn != nil && r.Asks(fn)
		}
		return true
	})
	return named
}
