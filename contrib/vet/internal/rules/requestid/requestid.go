// Package requestid is the rule that a payment keeps its request ID.
package requestid

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = calls.Rule("requestid", "report payments that are sent again under a new request ID, and request IDs that a second run does not make again", run)

type rule struct {
	*calls.Result
	done map[token.Pos]bool
}

func run(found *calls.Result) {
	r := &rule{found, map[token.Pos]bool{}}
	if calls.OwnsPackage(r.Pass.Pkg) {
		return
	}
	for _, call := range r.Calls {
		if call.Kind == calls.Keyed {
			r.again(call)
			r.unstored(call)
		}
	}
	for _, fn := range r.Funcs {
		for instr := range calls.All[ssa.Instruction](fn) {
			if call, ok := instr.(*ssa.Call); ok {
				r.rerun(call)
				r.reused(call)
			}
			r.unstable(instr)
		}
	}
}

func (r *rule) report(pos token.Pos, message string) {
	if !r.done[pos] {
		r.done[pos] = true
		r.Report(pos, message)
	}
}

const (
	cost  = " after an error: if the first one has moved the money, it moves twice; "
	anew  = "the payment is sent again under a new request ID" + cost + "make the ID once, before the first request, and store it"
	owner = " makes a new request ID each time, and is called again" + cost + "make the ID once, store it, and pass it in"
)

// again reports a second attempt of a payment, after an unknown outcome, under an ID that is made in between.
func (r *rule) again(call *calls.Call) {
	second, between := r.Again(call)
	for _, next := range second {
		if next.Own {
			r.report(next.Pos, next.Name+owner)
			continue
		}
		for _, p := range r.Key(next) {
			made, ok := p.Value.(*ssa.Call)
			switch {
			case ok && p.New != "" && p.New != calls.Clock && between[made]:
				r.report(r.Pos(made), anew)
			case next.Instr == call.Instr && numbers(p, call):
				r.report(call.Pos, "the payment is sent again under a request ID with the number of the attempt"+cost+"leave the number out")
			}
		}
	}
}

// numbers reports whether a part is the counter of a loop around a call.
func numbers(p calls.Part, call *calls.Call) bool {
	phi, ok := p.Value.(*ssa.Phi)
	if !ok || !p.Changes || !phi.Block().Dominates(call.Instr.Block()) {
		return false
	}
	basic, ok := phi.Type().Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

// rerun reports a function that makes an ID and pays, and that a library or helper reruns.
func (r *rule) rerun(instr *ssa.Call) {
	list, _ := r.Reruns(instr)
	for _, call := range r.Calls {
		if call.Kind != calls.Keyed || !slices.Contains(list, call.In) || r.Asks(call.In) {
			continue
		}
		if call.Own {
			r.report(call.Pos, call.Name+owner)
		}
		for _, p := range r.Key(call) {
			if made, ok := p.Value.(*ssa.Call); ok && p.New != "" && made.Parent() == call.In {
				r.report(r.Pos(made), anew)
			}
		}
	}
}

// final are the errors after which a new ID is forbidden.
var final = []string{"ErrRequestIDReused", "ErrRequestIDExpired", "ErrWindow", "ErrChanged"}

// reused reports a new ID in the branch for one of the errors in final.
func (r *rule) reused(test *ssa.Call) {
	if !calls.Calls(test.Common(), "errors.Is") {
		return
	}
	name := r.Sentinel(test.Call.Args[1])
	condition, ok := test.Block().Instrs[len(test.Block().Instrs)-1].(*ssa.If)
	if !ok || condition.Cond != test || !slices.Contains(final, name) || len(test.Block().Succs[0].Preds) > 1 {
		return
	}
	var found []*ssa.Call
	for _, block := range test.Parent().Blocks {
		if !test.Block().Succs[0].Dominates(block) {
			continue
		}
		for _, instr := range block.Instrs {
			if r.unsent(instr) {
				return
			}
			if call, ok := instr.(*ssa.Call); ok && r.makes(call) {
				found = append(found, call)
			}
		}
	}
	for _, made := range found {
		r.report(r.Pos(made), "a new request ID after "+name+": the payment recorded under the old one may have been made, so it is paid twice; let a person decide which is right")
	}
}

// unsent reports whether an instruction reads the runs of an entry, or records that its payment was not made.
func (r *rule) unsent(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.FieldAddr:
		return calls.FieldName(instr.X.Type(), instr.Field) == "Runs"
	case *ssa.Call:
		return calls.Calls(instr.Common(), calls.NotMoved)
	}
	return false
}

// makes reports whether a call makes a request ID, perhaps in a helper that stores it or pays.
func (r *rule) makes(call *ssa.Call) bool {
	money := r.Find(call)
	if calls.Calls(call.Common(), calls.Derived, calls.Fresh) || money != nil && money.Own ||
		calls.Named(call.Type(), calls.ID) && made(r.Parts(call, "")) {
		return true
	}
	fresh := false
	if fn := call.Call.StaticCallee(); fn != nil {
		for instr := range calls.All[ssa.Instruction](fn) {
			if r.unsent(instr) {
				return false
			}
			inner, ok := instr.(*ssa.Call)
			fresh = fresh || ok && calls.Calls(inner.Common(), calls.Fresh)
		}
	}
	return fresh
}

// unstable reports an ID, or its text, that is made from the time or a random value: each run makes another ID.
func (r *rule) unstable(instr ssa.Instruction) {
	value, _ := instr.(ssa.Value)
	for _, of := range r.sources(instr) {
		for _, p := range r.Parts(of, "") {
			if p.New != calls.Clock && p.New != calls.Random || p.Value.Parent() == instr.Parent() && r.handed(p.Value, value) || r.handed(value, nil) {
				continue
			}
			advice := "use DeriveRequestID, or NewRequestID and store it"
			if calls.Is[*ssa.Call](value) {
				advice = "derive it from the payment's own day, which is stored"
			}
			name := calls.Callee(p.Value.(*ssa.Call).Common()).FullName()
			r.report(value.Pos(), "request ID made from "+p.New+" ("+name+"): a run that repeats the payment makes another ID and pays twice; "+advice)
		}
	}
}

// sources are the values from which an instruction makes a request ID. A text that may also be given is none.
func (r *rule) sources(instr ssa.Instruction) (from []ssa.Value) {
	value, ok := instr.(ssa.Value)
	if !ok || !calls.Named(value.Type(), calls.ID) {
		return nil
	}
	switch v := instr.(type) {
	case *ssa.ChangeType, *ssa.Convert:
		from = calls.Operands(instr)
	case *ssa.Call:
		fn := v.Call.StaticCallee()
		derives := calls.Calls(v.Common(), calls.Derived) || fn != nil && fn.Blocks != nil && calls.Steady(fn, 0)
		if derives && slices.ContainsFunc(v.Call.Args, func(arg ssa.Value) bool { return ofData(r.Parts(arg, "")) }) {
			from = v.Call.Args
		}
	}
	return slices.DeleteFunc(slices.Clone(from), func(of ssa.Value) bool {
		phi, ok := of.(*ssa.Phi)
		return ok && slices.ContainsFunc(phi.Edges, func(edge ssa.Value) bool { return !made(r.Parts(edge, "")) })
	})
}

func (r *rule) handed(v, id ssa.Value) bool {
	uses, _ := r.Handed(v, id, nil)
	return len(uses) > 0
}

// ofData reports whether a value is made of more than constants, times and new request IDs.
func ofData(of []calls.Part) bool {
	return slices.ContainsFunc(of, func(p calls.Part) bool {
		call, ok := p.Value.(*ssa.Call)
		pure := ok && calls.Callee(call.Common()) != nil && calls.Pure(calls.Callee(call.Common()))
		return p.New == calls.Random || p.New == "" && !calls.Is[*ssa.Const](p.Value) && !pure
	})
}

func made(of []calls.Part) bool {
	return slices.ContainsFunc(of, func(p calls.Part) bool { return p.New != "" })
}

// unstored reports an ID that a function makes, sends, and then stores. A journal stores it first.
func (r *rule) unstored(call *calls.Call) {
	if strings.HasPrefix(call.Name, "Journal.") {
		return
	}
	for _, p := range r.Key(call) {
		at, ok := p.Value.(*ssa.Call)
		if !ok || p.New != calls.NewID || at.Parent() != call.In {
			continue
		}
		uses, returned := r.Handed(at, nil, call.Instr)
		if slices.ContainsFunc(uses, stores) && !returned && !slices.ContainsFunc(uses, func(use ssa.Instruction) bool { return !calls.Precedes(call.Instr, use) }) {
			r.report(r.Pos(at), "the request ID is not stored before "+call.Name+" sends it: a program that ends in between makes another one and pays twice; "+
				"store it with the payment first")
		}
	}
}

// stores reports whether a use of an ID can store it: a call with results but no error only reads.
func stores(use ssa.Instruction) bool {
	call, ok := use.(ssa.CallInstruction)
	return !ok || call.Common().Signature().Results().Len() == 0 || calls.ReturnsError(call.Common().Signature())
}
