// Package requestid is the rule that a payment has one request ID. The ID is made once, before the first attempt, and stored.
package requestid

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:     "requestid",
	Doc:      "report payments that are sent again under a new request ID, and request IDs that a second run does not make again",
	URL:      calls.Prepaid().Guide + "#requestid",
	Requires: []*analysis.Analyzer{calls.Analyzer},
	Run:      run,
}

type rule struct {
	*calls.Result
	pass *analysis.Pass
	done map[token.Pos]bool
}

func run(pass *analysis.Pass) (any, error) {
	r := &rule{calls.Of(pass), pass, map[token.Pos]bool{}}
	if r.SSA == nil || r.Model.OwnsPackage(pass.Pkg) {
		return nil, nil
	}
	for _, call := range r.Calls {
		if call.Kind == calls.Keyed {
			r.again(call)
			r.unstored(call)
		}
	}
	for _, fn := range r.Funcs {
		for _, block := range fn.Blocks {
			for _, instr := range block.Instrs {
				if call, ok := instr.(ssa.CallInstruction); ok {
					r.rerun(call)
				}
				r.site(instr)
			}
			r.reused(block)
		}
	}
	return nil, nil
}

func (r *rule) report(pos token.Pos, message string) {
	if pos.IsValid() && !r.done[pos] {
		r.done[pos] = true
		r.Reportf(r.pass, pos, message)
	}
}

const (
	cost  = " after an error: if the first one has moved the money, it moves twice; "
	anew  = "the payment is sent again under a new request ID" + cost + "make the ID once, before the first sending, and store it"
	owner = " makes a new request ID each time, and is called again" + cost + "make the ID once, store it, and pass it in"
)

// again reports a second attempt of a payment, after an unknown outcome, under an ID that is made in between.
func (r *rule) again(call *calls.Call) {
	payment, loop := r.Payment(call), calls.Cycle(call.Instr.Block())
	renewed := calls.Renewed(payment)
	var second []*calls.Call
	between := r.After(call, true, func(instr ssa.Instruction) bool {
		c, ok := instr.(*ssa.Call)
		if !ok {
			return !renewed[instr]
		}
		next := r.Find(c)
		if next == nil || next.Kind != calls.Keyed {
			return !renewed[instr]
		}
		itself := c == call.Instr
		if itself || calls.Same(payment, r.Payment(next)) {
			second = append(second, next)
		}
		return !itself && !slices.Contains(second, next)
	})
	for _, next := range second {
		if r.After(call, false, func(instr ssa.Instruction) bool { return instr != next.Instr && !renewed[instr] })[next.Instr] {
			continue // also after success
		}
		if next.Own {
			r.report(next.Pos(), next.Name+owner)
			continue
		}
		key := r.Key(next)
		for _, p := range key {
			if made, ok := p.Value.(ssa.Instruction); ok && p.New != "" && p.New != calls.Clock && between[made] {
				r.report(r.Pos(p.Value.(*ssa.Call)), anew)
			}
		}
		if next.Instr == call.Instr && slices.ContainsFunc(key, func(p calls.Part) bool { return numbers(p, loop) }) {
			r.report(call.Pos(), "the payment is sent again under a request ID with the number of the attempt"+cost+"leave the number out")
		}
	}
}

// numbers reports whether a part is the counter of a loop.
func numbers(p calls.Part, loop map[*ssa.BasicBlock]bool) bool {
	phi, ok := p.Value.(*ssa.Phi)
	if !ok || !p.Changes || !loop[phi.Block()] {
		return false
	}
	basic, ok := phi.Type().Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// rerun reports a function that makes an ID and pays, and that a library or helper reruns.
func (r *rule) rerun(instr ssa.CallInstruction) {
	list, again := r.Reruns(instr)
	for len(list) > 0 && again {
		fn := list[0]
		list = append(list[1:], fn.AnonFuncs...)
		for _, call := range r.Calls {
			if call.In != fn || call.Kind != calls.Keyed || r.Asks(fn) {
				continue
			}
			if call.Own {
				r.report(call.Pos(), call.Name+owner)
			}
			for _, p := range r.Key(call) {
				if p.New != "" && p.Value.Parent() == fn {
					r.report(r.Pos(p.Value.(*ssa.Call)), anew)
				}
			}
		}
	}
}

// final are the errors after which a new ID is forbidden.
var final = []string{"ErrRequestIDReused", "ErrRequestIDExpired", "ErrWindow", "ErrChanged"}

// reused reports a new ID in a branch for one of the errors in final.
func (r *rule) reused(block *ssa.BasicBlock) {
	name := ""
	for _, pred := range block.Preds {
		condition, ok := pred.Instrs[len(pred.Instrs)-1].(*ssa.If)
		if !ok || pred.Succs[0] != block {
			return
		}
		if name = r.spent(condition.Cond); name == "" {
			return
		}
	}
	if name == "" {
		return
	}
	var found []token.Pos
	for _, b := range block.Parent().Blocks {
		if !block.Dominates(b) {
			continue
		}
		for _, instr := range b.Instrs {
			switch instr := instr.(type) {
			case *ssa.FieldAddr:
				if calls.FieldName(instr.X.Type(), instr.Field) == "Runs" { // none was sent
					return
				}
			case *ssa.Call:
				if callee := calls.Callee(instr.Common()); callee != nil && callee.Name() == "NotMoved" {
					return
				}
				money := r.Find(instr)
				if calls.Calls(instr.Common(), r.Model.Fresh...) || calls.Calls(instr.Common(), r.Model.Derived...) || money != nil && money.Own ||
					calls.Named(instr.Type(), r.Model.ID) && made(r.Parts(instr, "")) {
					found = append(found, r.Pos(instr))
				}
			}
		}
	}
	for _, pos := range found {
		r.report(pos, "a new request ID after "+name+": the payment recorded under the old one may have been made, so it is paid twice; let a person decide which is right")
	}
}

// spent is the name of the error that a condition tests for, or "".
func (r *rule) spent(condition ssa.Value) string {
	if call, ok := condition.(*ssa.Call); ok && calls.Calls(call.Common(), "errors.Is") {
		if name := r.Sentinel(call.Call.Args[1]); slices.Contains(final, name) {
			return name
		}
	}
	return ""
}

// site reports an ID, or its text, that is made from the time or a random value: each run makes another ID.
func (r *rule) site(instr ssa.Instruction) {
	value, ok := instr.(ssa.Value)
	if !ok {
		return
	}
	var from []ssa.Value
	switch v := instr.(type) {
	case *ssa.ChangeType:
		from = []ssa.Value{v.X}
	case *ssa.Convert:
		from = []ssa.Value{v.X}
	case *ssa.Call:
		fn := v.Call.StaticCallee()
		if calls.Calls(v.Common(), r.Model.Derived...) || fn != nil && fn.Blocks != nil && calls.Steady(fn, 0) { // it converts
			from = v.Call.Args
		}
	}
	if len(from) == 0 || !calls.Named(value.Type(), r.Model.ID) || r.handed(value, nil) {
		return
	}
	for _, of := range from {
		if phi, ok := of.(*ssa.Phi); ok && slices.ContainsFunc(phi.Edges, func(edge ssa.Value) bool { return !made(r.Parts(edge, "")) }) {
			continue // it may also be the text of a request
		}
		for _, p := range r.Parts(of, "") {
			if p.New != calls.Clock && p.New != calls.Random || p.Value.Parent() == instr.Parent() && r.handed(p.Value, value) {
				continue
			}
			call, derived := instr.(*ssa.Call)
			if derived && !slices.ContainsFunc(call.Call.Args, func(arg ssa.Value) bool { return ofData(r.Parts(arg, "")) }) {
				continue
			}
			advice := "use DeriveRequestID, or NewRequestID and store it"
			if derived {
				advice = "derive it from the payment's own day, which is stored"
			}
			r.report(value.Pos(), "request ID made from "+p.New+" ("+p.Name+"): a run that repeats the payment makes another ID and pays twice; "+advice)
		}
	}
}

func (r *rule) handed(v, id ssa.Value) bool {
	uses, _ := r.Handed(v, id, nil)
	return len(uses) > 0
}

// ofData reports whether a value is made of more than constants, times and new request IDs.
func ofData(of []calls.Part) bool {
	return slices.ContainsFunc(of, func(p calls.Part) bool {
		_, constant := p.Value.(*ssa.Const)
		call, ok := p.Value.(*ssa.Call)
		return !constant && (p.New == calls.Random || p.New == "" && !(ok && calls.Callee(call.Common()) != nil && calls.Pure(calls.Callee(call.Common()))))
	})
}

func made(of []calls.Part) bool {
	return slices.ContainsFunc(of, func(p calls.Part) bool { return p.New != "" })
}

// unstored reports an ID that a function makes, sends, and then stores.
func (r *rule) unstored(call *calls.Call) {
	for _, p := range r.Key(call) {
		at, ok := p.Value.(*ssa.Call)
		if !ok || p.New != calls.NewID || p.Value.Parent() != call.In {
			continue
		}
		uses, returned := r.Handed(at, nil, call.Instr)
		if len(uses) > 0 && !returned && !slices.ContainsFunc(uses, func(use ssa.Instruction) bool { return !calls.Precedes(call.Instr, use) }) {
			r.report(r.Pos(at), "the request ID is not stored before "+call.Name+" sends it: a program that ends in between makes another one and pays twice; "+
				"store it with the payment first")
		}
	}
}
