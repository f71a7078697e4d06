package requestid

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// call returns the result of a call that ends in one way, and otherwise goes on after it, as often as it can end in different ways.
func (w *walk) call(fr *frame, instr ssa.CallInstruction, st *state, k then) (result value, one bool) {
	common := instr.Common()
	args := make([]value, len(common.Args))
	for i, arg := range common.Args {
		args[i] = w.value(fr, arg, st)
	}
	var target value
	if !common.IsInvoke() {
		target = w.value(fr, common.Value, st)
	}
	if s := w.sendingOf(fr, instr, target, args, st); s != nil {
		w.send(instr, s, args, st, k)
		return value{}, false
	}
	if body := bodyOf(target.closure); body != nil && w.follows(fr, body) {
		w.enter(fr, instr, body, target.bound, args, st, k)
		return value{}, false
	}
	callee := calls.Callee(common)
	if index, again, ok := w.repeats(callee, common, args); ok {
		w.repeat(fr, instr, args[index], again, 1, st, k)
		return value{}, false
	}
	if result, ok := w.library(fr, callee, instr, args, st); ok {
		return result, true
	}
	for _, arg := range args {
		if body := bodyOf(arg.closure); body != nil && w.follows(fr, body) {
			w.runs(fr, instr, arg, args, st, k)
			return value{}, false
		}
	}
	return w.opaque(instr, callee, args, st), true
}

// bodyOf is the function to follow, nil if its source is in another package.
func bodyOf(fn *ssa.Function) *ssa.Function {
	if fn != nil && len(fn.Blocks) == 0 && fn.Origin() != nil {
		fn = fn.Origin()
	}
	if fn == nil || len(fn.Blocks) == 0 {
		return nil
	}
	return fn
}

// follows reports whether a walk goes into a function: one that may matter, or a small one.
func (w *walk) follows(fr *frame, fn *ssa.Function) bool {
	all, same := fr.depth(fn)
	return all < 6 && same < 2 && (w.matters[fn] || w.follow[fn] || fn.Synthetic != "" || len(fn.Blocks) <= 5)
}

func (w *walk) enter(fr *frame, instr ssa.CallInstruction, fn *ssa.Function, bound, args []value, st *state, k then) {
	inner := &frame{fn: fn, env: map[ssa.Value]value{}, caller: fr, at: instr}
	inner.key = w.stateKey(fr, instr.Block(), st) + instr.String() + local2(instr)
	for i, param := range fn.Params {
		if i < len(args) {
			inner.env[param] = args[i]
		} else {
			inner.env[param] = value{age: other, phase: st.phase, name: local(param)}
		}
	}
	for i, free := range fn.FreeVars {
		if i < len(bound) {
			inner.env[free] = bound[i]
		}
	}
	w.block(inner, fn.Blocks[0], nil, st, func(st *state, result value) {
		collect(inner, st, result)
		key := w.stateKey(fr, instr.Block(), st) + "returns to" + inner.key + result.key()
		if !w.seen[key] {
			w.seen[key] = true
			k(st, result)
		}
	})
}

func local2(instr ssa.Instruction) string {
	if v, ok := instr.(ssa.Value); ok {
		return v.Name()
	}
	return ""
}

// runs follows a literal that a function is given which is not known, once. The function is taken to return its error.
func (w *walk) runs(fr *frame, instr ssa.CallInstruction, closure value, args []value, st *state, k then) {
	w.enter(fr, instr, bodyOf(closure.closure), closure.bound, nil, st, func(st *state, result value) {
		k(st, w.with(instr, last(result, bodyOf(closure.closure)), st))
	})
}

// repeat follows a function that is given to a retry library, at most twice.
func (w *walk) repeat(fr *frame, instr ssa.CallInstruction, closure value, onlyAgain bool, run int, st *state, k then) {
	body := bodyOf(closure.closure)
	if body == nil || !w.follows(fr, body) {
		k(st, w.opaque(instr, nil, nil, st))
		return
	}
	inner := fr.clone()
	inner.key += strings.Repeat("+", run)
	inner.again = true
	w.enter(inner, instr, body, closure.bound, nil, st, func(st *state, result value) {
		err := last(result, body)
		if err.known != notNil || err.final || onlyAgain && !err.again || run == 2 {
			k(st.clone(), w.with(instr, err, st))
		}
		if err.known != isNil && !err.final && (!onlyAgain || err.again) && run < 2 {
			w.repeat(fr, instr, closure, onlyAgain, run+1, st, k)
		}
	})
}

// last is the error that a function returns.
func last(result value, fn *ssa.Function) value {
	results := fn.Signature.Results()
	if results.Len() == 0 || !isError(results.At(results.Len()-1).Type()) {
		return value{}
	}
	if results.Len() == 1 {
		return result
	}
	return part(result, results.Len()-1, "", 0)
}

// with is the result of a call that ends with an error, if its last result is one.
func (w *walk) with(instr ssa.CallInstruction, err value, st *state) value {
	results := instr.Common().Signature().Results()
	unknown := value{age: other, phase: st.phase, name: resultName(instr)}
	switch n := results.Len(); {
	case n == 0 || !isError(results.At(n-1).Type()):
		return unknown
	case n == 1:
		return err
	default:
		tuple := value{name: resultName(instr)}
		for range n - 1 {
			tuple.parts = append(tuple.parts, unknown)
		}
		tuple.parts = append(tuple.parts, err)
		return tuple
	}
}

func resultName(instr ssa.CallInstruction) string {
	if v := instr.Value(); v != nil {
		return local(v)
	}
	return ""
}

// opaque is the result of a call of which nothing is known.
func (w *walk) opaque(instr ssa.CallInstruction, callee *types.Func, args []value, st *state) value {
	common := instr.Common()
	result := value{age: other, phase: st.phase, name: resultName(instr)}
	receiver := 0
	if !common.IsInvoke() && common.Signature().Recv() != nil {
		receiver = 1
	}
	for i, arg := range args {
		w.keep(arg, common.Args[i], st)
		result.failure = result.failure || arg.failure
		if i >= receiver && ofPayment(common.Args[i]) {
			result.guard = true
		}
		if _, ok := common.Args[i].Type().Underlying().(*types.Pointer); ok && (i >= receiver || w.writes(common)) {
			clobber(st, "*"+arg.name)
		}
		for _, at := range arg.points {
			clobber(st, at)
		}
	}
	result.verdict = result.failure
	return result
}

// writes reports whether a method may change its receiver. It is not followed into other functions.
func (w *walk) writes(common *ssa.CallCommon) bool {
	fn := bodyOf(common.StaticCallee())
	if fn == nil || len(fn.Params) == 0 {
		return true
	}
	for _, block := range fn.Blocks {
		for _, instr := range block.Instrs {
			if store, ok := instr.(*ssa.Store); ok && rootOf(store.Addr) == fn.Params[0] {
				return true
			}
		}
	}
	return false
}

func rootOf(addr ssa.Value) ssa.Value {
	for {
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			addr = v.X
		case *ssa.IndexAddr:
			addr = v.X
		default:
			return addr
		}
	}
}

// ofPayment reports whether an argument may identify a payment.
func ofPayment(arg ssa.Value) bool {
	if _, ok := arg.(*ssa.Const); ok {
		return false
	}
	t := arg.Type()
	if calls.Named(t, "context.Context") || calls.Named(t, "time.Time") || isError(t) {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Signature, *types.Chan:
		return false
	}
	return true
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }
