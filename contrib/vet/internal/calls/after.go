package calls

import (
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

type after struct {
	*Result
	call    *Call
	failed  bool
	decides bool // a condition about the payment ends the path
	see     func(ssa.Instruction, map[ssa.Value]truth) bool
	renewed map[ssa.Instruction]bool // each makes another payment: after it, held[nil] holds
	visited map[ssa.Instruction]bool
	seen    map[*ssa.BasicBlock][]map[ssa.Value]truth
}

// After walks the paths after a call: if failed is true, after an unknown outcome, otherwise after success. A path ends where
// see() returns false, or at a condition about the payment that does not show the outcome. The result has the instructions on all paths.
func (r *Result) After(c *Call, failed bool, see func(ssa.Instruction) bool) map[ssa.Instruction]bool {
	a := after{Result: r, call: c, failed: failed, decides: c.Kind != 0, see: func(instr ssa.Instruction, _ map[ssa.Value]truth) bool { return see(instr) }}
	a.walk()
	return a.visited
}

// Again returns the calls that may make the payment of a call a second time after an unknown outcome, but not after success. The
// instructions between are those on all paths.
func (r *Result) Again(c *Call) (second []*Call, between map[ssa.Instruction]bool) {
	payment := r.Payment(c)
	renewed := Renewed(payment)
	between = r.After(c, true, func(instr ssa.Instruction) bool {
		call, ok := instr.(*ssa.Call)
		if !ok {
			return !renewed[instr]
		}
		next := r.Find(call)
		repeats := next != nil && next.Kind == c.Kind && (c.Kind == Keyed || alike(c, next)) && (call == c.Instr || Same(payment, r.Payment(next)))
		if repeats {
			second = append(second, next)
		}
		return !repeats && !renewed[instr]
	})
	second = slices.DeleteFunc(second, func(next *Call) bool {
		return r.After(c, false, func(instr ssa.Instruction) bool { return instr != next.Instr && !renewed[instr] })[next.Instr]
	})
	return second, between
}

// alike reports whether two calls do the same: one wraps the other, or both call the same function.
func alike(a, b *Call) bool {
	return a.Name == b.Name || a.Callee == nil || b.Callee == nil || b.Wrapper
}

// Forgotten reports whether there is a path on which the call fails and the error reaches nothing before the function
// returns, or before the same instruction makes a call for another payment.
func (r *Result) Forgotten(c *Call) (forgotten bool) {
	read := FateOf(c.Value(c.Err)).Used
	a := after{Result: r, call: c, failed: true, renewed: Renewed(slices.Concat(r.Key(c), r.Payment(c)))}
	a.see = func(instr ssa.Instruction, held map[ssa.Value]truth) bool {
		has := func(v ssa.Value) bool { return held[v] == theError }
		switch instr := instr.(type) {
		case *ssa.Phi, *ssa.UnOp:
			return true
		case *ssa.BinOp:
			if ComparesWithNil(instr) {
				return true
			}
		case *ssa.Store:
			return !has(instr.Val) || !read || tracked(instr.Addr)
		case *ssa.Call:
			if instr == c.Instr { // a repeat of the same payment resolves the first call
				forgotten = forgotten || held[nil] == holds
				return false
			}
		case *ssa.If:
			return !a.asks(instr.Cond, 0)
		case *ssa.Return:
			forgotten = forgotten || !slices.ContainsFunc(instr.Results, has)
			return false
		}
		return !slices.ContainsFunc(Operands(instr), has)
	}
	a.walk()
	return forgotten
}

// asks reports whether a condition reads a further result of a wrapper, such as a status.
func (a *after) asks(v ssa.Value, depth int) bool {
	if result, ok := v.(*ssa.Extract); ok {
		return result.Tuple == a.call.Instr.Value() && result.Index != a.call.Err && result.Index != a.call.Result
	}
	instr, ok := v.(ssa.Instruction)
	return ok && depth < 5 && slices.ContainsFunc(Operands(instr), func(operand ssa.Value) bool { return a.asks(operand, depth+1) })
}

// tracked reports whether the walk follows the values of a variable: no closure has it.
func tracked(address ssa.Value) bool {
	local, ok := address.(*ssa.Alloc)
	return ok && !slices.ContainsFunc(*local.Referrers(), func(ref ssa.Instruction) bool { _, ok := ref.(*ssa.MakeClosure); return ok })
}

func (a *after) walk() {
	a.visited, a.seen = map[ssa.Instruction]bool{}, map[*ssa.BasicBlock][]map[ssa.Value]truth{}
	start, ok := a.call.Instr.(*ssa.Call)
	if !ok {
		return
	}
	held := map[ssa.Value]truth{}
	if value := a.call.Value(a.call.Err); value != nil {
		held[value] = theError
	}
	a.through(start.Block(), slices.Index(start.Block().Instrs, ssa.Instruction(start))+1, held)
}

func (a *after) through(block *ssa.BasicBlock, from int, held map[ssa.Value]truth) {
	for _, instr := range block.Instrs[from:] {
		held = a.hold(instr, held)
		a.visited[instr] = true
		if !a.see(instr, held) {
			return
		}
	}
	taken := unsettled
	if condition, ok := block.Instrs[len(block.Instrs)-1].(*ssa.If); ok {
		taken = a.eval(condition.Cond, held)
	}
	for i, next := range block.Succs {
		if taken == unsettled || taken == holds && i == 0 || taken == fails && i == 1 {
			a.enter(block, next, held)
		}
	}
}

// hold returns what is known after an instruction.
func (a *after) hold(instr ssa.Instruction, held map[ssa.Value]truth) map[ssa.Value]truth {
	var to ssa.Value
	known := unsettled
	switch instr := instr.(type) {
	case *ssa.Store: // into a variable
		if local, ok := instr.Addr.(*ssa.Alloc); ok {
			to, known = local, a.known(instr.Val, held)
		}
	case *ssa.UnOp:
		if instr.Op == token.MUL {
			to, known = instr, held[instr.X]
		}
	}
	if a.renewed[instr] {
		known = holds
	} else if to == nil {
		return held
	}
	held = maps.Clone(held)
	held[to] = known
	return held
}

func (a *after) enter(from, to *ssa.BasicBlock, held map[ssa.Value]truth) {
	edge := slices.Index(to.Preds, from)
	next := maps.Clone(held)
	for _, instr := range to.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		next[phi] = a.known(phi.Edges[edge], held)
	}
	if slices.ContainsFunc(a.seen[to], func(before map[ssa.Value]truth) bool { return maps.Equal(before, next) }) || len(a.seen[to]) > 8 {
		return
	}
	a.seen[to] = append(a.seen[to], next)
	a.through(to, 0, next)
}

// known is the analysis state of a stored value, which may be the error or the result of a condition.
func (a *after) known(v ssa.Value, held map[ssa.Value]truth) truth {
	if held[v] == theError || !types.Identical(v.Type().Underlying(), types.Typ[types.Bool]) {
		return held[v]
	}
	return a.eval(v, held)
}

// truth is the known result of a condition.
type truth uint8

const (
	unsettled truth = iota
	holds
	fails
	theError
	asked // another condition about the payment decides
)

func says(yes bool) truth {
	if yes {
		return holds
	}
	return fails
}

func (a *after) eval(condition ssa.Value, held map[ssa.Value]truth) truth {
	if known := held[condition]; known == holds || known == fails {
		return known
	}
	switch v := condition.(type) {
	case *ssa.Const:
		return says(constant.BoolVal(v.Value))
	case *ssa.Call:
		if !a.failed && slices.ContainsFunc(v.Call.Args, func(arg ssa.Value) bool { return held[arg] == theError }) && types.Identical(v.Type(), types.Typ[types.Bool]) {
			return fails // a function that asks about an error returns false for a nil error
		}
		if found := a.evalCall(v); found != unsettled {
			return found
		}
	case *ssa.Extract:
		if call, ok := v.Tuple.(*ssa.Call); ok && v.Index == 1 && Calls(call.Common(), "errors.AsType") {
			return a.as(call.Common().Signature().Results().At(0).Type())
		}
	case *ssa.BinOp:
		if found := a.compared(v, held); found != unsettled {
			return found
		}
	}
	if a.decides && a.depends(condition, 0) {
		return asked
	}
	return unsettled
}

// compared evaluates comparisons: with nil, of outcomes, of a request ID with "", and of an attempt's number with the first.
func (a *after) compared(op *ssa.BinOp, held map[ssa.Value]truth) truth {
	x := op.X
	c, ok := op.Y.(*ssa.Const)
	if !ok || op.Op != token.EQL && op.Op != token.NEQ && op.Op != token.GTR {
		return unsettled
	}
	equal := op.Op == token.EQL
	switch {
	case c.IsNil() && held[x] == theError:
		return says(equal != a.failed)
	case c.IsNil() && x == a.call.Value(a.call.Result) && x != nil:
		return says(equal == a.failed)
	case c.Value == nil:
	case Named(x.Type(), SDK+".Outcome"):
		name := "OutcomeApplied"
		if a.failed {
			name = "OutcomeUnknown"
		}
		outcome := types.Unalias(x.Type()).(*types.Named).Obj().Pkg().Scope().Lookup(name).(*types.Const)
		return says(equal == constant.Compare(c.Value, token.EQL, outcome.Val()))
	case c.Value.Kind() == constant.String && constant.StringVal(c.Value) == "" && Named(x.Type(), ID):
		return says(!equal)
	case c.Value.Kind() == constant.Int && counts(x, c):
		return says(!equal)
	}
	return unsettled
}

// counts reports whether v is a loop counter that begins with first.
func counts(v ssa.Value, first *ssa.Const) bool {
	phi, ok := v.(*ssa.Phi)
	return ok && slices.ContainsFunc(phi.Edges, func(edge ssa.Value) bool {
		c, ok := edge.(*ssa.Const)
		return ok && c.Value != nil && constant.Compare(c.Value, token.EQL, first.Value)
	})
}

// vague are errors of the service that do not say whether the money moved.
var vague = []string{"ErrServer", "ErrNotFound", "ErrForbidden", "ErrConflict", "ErrBadRequest", "ErrUnauthorized"}

func (a *after) evalCall(call *ssa.Call) truth {
	common := call.Common()
	callee := Callee(common)
	switch {
	case callee == nil:
	case Judges(callee): // after a failure there is no proof
		if types.Identical(call.Type(), types.Typ[types.Bool]) {
			return says(!a.failed)
		}
	case Calls(common, "errors.Is"):
		if name := a.Sentinel(common.Args[1]); name != "" && !slices.Contains(vague, name) {
			return says(false)
		}
		return a.vague()
	case Calls(common, "errors.As"):
		if boxed, ok := common.Args[1].(*ssa.MakeInterface); ok {
			return a.as(boxed.X.Type().Underlying().(*types.Pointer).Elem())
		}
	case callee.Signature().Recv() != nil && Named(callee.Signature().Recv().Type(), Decision) && Verdict(callee.Name()):
		return says(!a.failed)
	}
	return unsettled
}

// as returns "fails" for error types that exclude an unknown outcome.
func (a *after) as(t types.Type) truth {
	if Owns(t) && slices.Contains([]string{"ValidationError", "TokenError", "RefusedError", "ChangedError"}, TypeBase(t)) {
		return fails
	}
	return a.vague()
}

// vague is the result of a test for an error that does not show the outcome.
func (a *after) vague() truth {
	if a.failed {
		return unsettled
	}
	return fails
}

// Sentinel is the name of an error variable of the SDK, or "".
func (r *Result) Sentinel(v ssa.Value) string {
	if load, ok := v.(*ssa.UnOp); ok {
		if global, ok := load.X.(*ssa.Global); ok && OwnsPackage(global.Pkg.Pkg) {
			return global.Name()
		}
	}
	return ""
}

// Judges reports whether a function of the SDK tests an error or reads its outcome.
func Judges(callee *types.Func) bool {
	return callee != nil && OwnsPackage(callee.Pkg()) && callee.Signature().Recv() == nil &&
		callee.Signature().Params().Len() > 0 && IsError(callee.Signature().Params().At(0).Type())
}

// Asks reports whether a function, or a literal in it, asks the SDK about an error or reads its outcome.
func (r *Result) Asks(fn *ssa.Function) bool {
	for instr := range All[ssa.Instruction](fn) {
		switch instr := instr.(type) {
		case *ssa.Call:
			if Judges(Callee(instr.Common())) {
				return true
			}
		case *ssa.FieldAddr:
			if FieldName(instr.X.Type(), instr.Field) == "Outcome" {
				return true
			}
		}
	}
	return slices.ContainsFunc(fn.AnonFuncs, r.Asks)
}

// depends reports whether a condition uses a result of another function, which may look the payment up.
func (a *after) depends(v ssa.Value, depth int) bool {
	if call, ok := v.(*ssa.Call); ok {
		callee := Callee(call.Common())
		switch {
		case call == a.call.Instr:
			return false
		case callee == nil:
			_, builtin := call.Call.Value.(*ssa.Builtin)
			return !builtin && len(call.Call.Args) > 0
		case Judges(callee):
			return true
		case Pure(callee) || callee.Pkg() == nil:
		case call.Call.StaticCallee() != nil && call.Call.StaticCallee().Blocks != nil:
			return a.Asks(call.Call.StaticCallee()) || !Steady(call.Call.StaticCallee(), 0) // it reads data elsewhere
		default:
			return len(call.Call.Args) > 0
		}
	}
	instr, ok := v.(ssa.Instruction)
	if _, phi := v.(*ssa.Phi); !ok || phi && depth > 0 || depth > 6 {
		return false
	}
	return slices.ContainsFunc(Operands(instr), func(operand ssa.Value) bool { return a.depends(operand, depth+1) })
}

// Precedes reports whether an instruction always runs before another.
func Precedes(instr, next ssa.Instruction) bool {
	if instr.Block() == next.Block() {
		return slices.Index(instr.Block().Instrs, instr) < slices.Index(next.Block().Instrs, next)
	}
	return instr.Block().Dominates(next.Block())
}
