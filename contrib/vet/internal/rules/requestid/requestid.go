// Package requestid is the rule that a payment has one request ID. The ID is made once, before the first attempt, and stored.
package requestid

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

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
			r.shared(call)
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
		if itself || calls.Same(payment, r.Payment(next)) || r.Covers(next, payment) {
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
				if calls.Calls(instr.Common(), r.Model.Fresh) || calls.Calls(instr.Common(), r.Model.Derived) || money != nil && money.Own ||
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
	if extract, ok := condition.(*ssa.Extract); ok {
		condition = extract.Tuple
	}
	call, ok := condition.(*ssa.Call)
	if !ok {
		return ""
	}
	switch common := call.Common(); {
	case calls.Calls(common, []string{"errors.Is"}):
		if name := r.Sentinel(common.Args[1]); slices.Contains(final, name) {
			return name
		}
	case calls.Calls(common, []string{"errors.AsType"}):
		if strings.HasSuffix(common.Signature().Results().At(0).Type().String(), "/journal.ChangedError") {
			return "ErrChanged"
		}
	case calls.Calls(common, []string{"errors.As"}):
		if boxed, ok := common.Args[1].(*ssa.MakeInterface); ok && strings.HasSuffix(boxed.X.Type().String(), "/journal.ChangedError") {
			return "ErrChanged"
		}
	}
	return ""
}

// shared reports an ID that two payments share, in a loop or in two calls.
func (r *rule) shared(call *calls.Call) {
	key := r.Key(call)
	if len(key) == 0 || call.Params == calls.None {
		return
	}
	const two = "two payments have the same request ID: the second one is not made, or is refused; derive an ID from the data of each"
	loop := calls.Cycle(call.Instr.Block())
	varies := slices.ContainsFunc(paid(r, call), func(p calls.Part) bool { return numbers(p, loop) || next(p, loop) })
	if varies && !calls.Varies(key, loop) && r.After(call, false, func(instr ssa.Instruction) bool { return instr != call.Instr })[call.Instr] {
		r.report(call.Pos(), two)
		return
	}
	if slices.ContainsFunc(key, func(p calls.Part) bool { return p.Changes && p.New == "" }) {
		return
	}
	var other *calls.Call
	between := r.After(call, false, func(instr ssa.Instruction) bool {
		if c, ok := instr.(*ssa.Call); ok && c != call.Instr && other == nil {
			if found := r.Find(c); found != nil && found.Kind == calls.Keyed && found.Params != calls.None && calls.Same(key, r.Key(found)) {
				other = found
			}
		}
		return other == nil
	})
	if other == nil {
		return
	}
	changed, renewed := false, false
	for instr := range between {
		if store, ok := instr.(*ssa.Store); ok {
			if field, ok := store.Addr.(*ssa.FieldAddr); ok {
				name := calls.FieldName(field.X.Type(), field.Field)
				changed = changed || slices.Contains(paying, name)
				renewed = renewed || name == "RequestID"
			}
		}
	}
	switch variable := sameVariable(call, other); {
	case variable && changed && !renewed,
		!variable && !call.Wrapper && !other.Wrapper && call.Operation() != other.Operation(),
		!variable && !calls.Same(paid(r, call), paid(r, other)) && len(paid(r, call)) > 0 && len(paid(r, other)) > 0:
		r.report(other.Pos(), two)
	}
}

var paying = []string{"Amount", "DestinationAccountID", "Destination"}

// paid are the parts of amount and destination.
func paid(r *rule, call *calls.Call) (of []calls.Part) {
	for _, field := range paying {
		if arg := call.Arg(call.Params); has(arg.Type(), field) {
			of = append(of, r.Parts(arg, field)...)
		}
	}
	return of
}

func has(t types.Type, field string) bool {
	s, ok := t.Underlying().(*types.Struct)
	for i := 0; ok && i < s.NumFields(); i++ {
		if s.Field(i).Name() == field {
			return true
		}
	}
	return false
}

// next reports whether a part is the next element of a map, or of a channel.
func next(p calls.Part, loop map[*ssa.BasicBlock]bool) bool {
	switch v := p.Value.(type) {
	case *ssa.Next:
		return loop[v.Block()]
	case *ssa.UnOp:
		return v.Op == token.ARROW && loop[v.Block()]
	}
	return false
}

// sameVariable reports whether two calls get the same variable.
func sameVariable(a, b *calls.Call) bool {
	x, ok := a.Arg(a.Params).(*ssa.UnOp)
	y, also := b.Arg(b.Params).(*ssa.UnOp)
	return ok && also && x.X == y.X
}
