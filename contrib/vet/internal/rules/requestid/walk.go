package requestid

import (
	"crypto/sha256"
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// A walk follows the paths of a function from its start, through the functions and literals of the package that it calls. On each
// path it stops twice: at a sending, after which it goes on as if the sending had succeeded, and as if its outcome were unknown; and
// at the next sending, which is judged.
type walk struct {
	*rule
	root  *ssa.Function
	steps int
	seen  map[string]bool
	found *findings
}

// maxSteps is how much a walk does: a block counts once, and once more for each 16 cells of memory, since these are what costs time. A
// function with more is not judged: a part of its paths may not show that a loop goes on after success.
const maxSteps = 10_000

// state is what changes along a path.
type state struct {
	cells   map[string]value // memory, by address
	phase   phase
	first   *sending // nil in phase 0
	failed  bool
	guarded bool
}

func (st *state) clone() *state {
	c := *st
	c.cells = maps.Clone(st.cells)
	return &c
}

// frame is a function that is being followed.
type frame struct {
	fn     *ssa.Function
	env    map[ssa.Value]value
	defers []*ssa.Defer
	caller *frame
	at     ssa.Instruction // the call in the caller
	key    string
	again  bool // a library may call the function again
}

func (f *frame) clone() *frame {
	c := *f
	c.env, c.defers = maps.Clone(f.env), slices.Clone(f.defers)
	return &c
}

func (f *frame) depth(of *ssa.Function) (all, same int) {
	for ; f != nil; f = f.caller {
		all++
		if f.fn == of {
			same++
		}
	}
	return all, same
}

// outer is the instruction of the root that is being executed.
func (f *frame) outer(instr ssa.Instruction) ssa.Instruction {
	for ; f.caller != nil; f = f.caller {
		instr = f.at
	}
	return instr
}

// then goes on after a function or an instruction.
type then func(st *state, result value)

func (w *walk) start(fn *ssa.Function) {
	fr := &frame{fn: fn, env: map[ssa.Value]value{}, key: "root"}
	st := &state{cells: map[string]value{}}
	w.block(fr, fn.Blocks[0], nil, st, func(st *state, result value) { w.end(st, result) })
}

func (w *walk) block(fr *frame, b, from *ssa.BasicBlock, st *state, k then) {
	if w.steps += 1 + len(st.cells)/16; w.steps > maxSteps {
		return
	}
	if st.phase == 1 && !exported(w.root) && !w.mayPay(fr, b) {
		return
	}
	if from != nil {
		w.phis(fr, b, from, st)
	}
	if len(b.Preds) > 1 {
		live := w.liveIn(b)
		for v := range fr.env {
			if !live[v] {
				delete(fr.env, v)
			} else if instr, ok := v.(ssa.Instruction); ok && instr.Block() != nil && !instr.Block().Dominates(b) {
				delete(fr.env, v)
			}
		}
		collect(fr, st, slices.Collect(maps.Values(fr.env))...)
		key := w.stateKey(fr, b, st)
		if w.seen[key] {
			return
		}
		w.seen[key] = true
	}
	w.instrs(fr, b, 0, st, k)
}

func (w *walk) stateKey(fr *frame, b *ssa.BasicBlock, st *state) string {
	var s strings.Builder
	fmt.Fprint(&s, fr.key, "/", b.Index, st.phase, st.failed, st.guarded, len(fr.defers))
	if st.first != nil {
		s.WriteString(st.first.key())
	}
	lines := make([]string, 0, len(fr.env)+len(st.cells))
	live := w.liveIn(b)
	for v, known := range fr.env {
		if instr, ok := v.(ssa.Instruction); !live[v] && !(ok && instr.Block() == b) {
			continue
		}
		switch v.(type) {
		case *ssa.FieldAddr, *ssa.Field, *ssa.IndexAddr, *ssa.MakeInterface, *ssa.ChangeType, *ssa.ChangeInterface, *ssa.BinOp:
			continue // they follow from other values
		}
		lines = append(lines, v.Name()+"="+known.key())
	}
	for at, known := range st.cells {
		lines = append(lines, at+":"+known.key())
	}
	slices.Sort(lines)
	for _, line := range lines {
		s.WriteString("\n" + line)
	}
	sum := sha256.Sum256([]byte(s.String()))
	return string(sum[:])
}

func (w *walk) phis(fr *frame, b, from *ssa.BasicBlock, st *state) {
	edge := slices.Index(b.Preds, from)
	merged := map[ssa.Value]value{}
	for _, instr := range b.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		merged[phi] = widen(fr.env[phi], w.value(fr, phi.Edges[edge], st), local(phi), st)
	}
	maps.Copy(fr.env, merged)
}

// widen ends the names of a variable that each round of a loop makes from its last value. It may be about another payment.
func widen(last, next value, name string, st *state) value {
	if last.name != "" && next.name != last.name && strings.Contains(next.name, last.name) {
		next.name = name + "{}"
		if next.ageIn(st.phase) != counted {
			next.age, next.phase, next.source = other, st.phase, nil
		}
	}
	return next
}

func (w *walk) instrs(fr *frame, b *ssa.BasicBlock, from int, st *state, k then) {
	for i := from; i < len(b.Instrs); i++ {
		switch instr := b.Instrs[i].(type) {
		case *ssa.Phi, *ssa.DebugRef:
		case *ssa.If:
			w.branch(fr, b, instr, st, k)
			return
		case *ssa.Jump:
			w.block(fr, b.Succs[0], b, st, k)
			return
		case *ssa.Return:
			var result value
			if len(instr.Results) == 1 {
				result = w.value(fr, instr.Results[0], st)
			} else {
				for _, r := range instr.Results {
					result.parts = append(result.parts, w.value(fr, r, st))
				}
			}
			k(st, result)
			return
		case *ssa.Panic:
			return
		case *ssa.Defer:
			fr.defers = append(fr.defers, instr)
		case *ssa.RunDefers:
			w.unwind(fr, st, func(fr *frame, st *state) { w.instrs(fr, b, i+1, st, k) })
			return
		case *ssa.Go:
			if _, ok := w.call(fr, instr, st, func(st *state, _ value) { w.instrs(fr.clone(), b, i+1, st, k) }); !ok {
				return
			}
		case *ssa.Call:
			result, ok := w.call(fr, instr, st, func(st *state, result value) {
				next := fr.clone()
				next.env[instr] = result
				w.instrs(next, b, i+1, st, k)
			})
			if !ok {
				return
			}
			fr.env[instr] = result
		case *ssa.Select:
			fr.env[instr] = w.selects(fr, instr, st)
		case *ssa.Store:
			w.store(fr, instr, st)
		case *ssa.MapUpdate:
			w.keep(w.value(fr, instr.Key, st), instr.Key, st)
			w.keep(w.value(fr, instr.Value, st), instr.Value, st)
		case *ssa.Send:
			sent := w.value(fr, instr.X, st)
			w.keep(sent, instr.X, st)
			st.cells["<-"+w.value(fr, instr.Chan, st).name] = sent
		case ssa.Value:
			fr.env[instr] = w.eval(fr, instr, st)
		}
	}
}

// unwind runs the deferred functions.
func (w *walk) unwind(fr *frame, st *state, k func(*frame, *state)) {
	if len(fr.defers) == 0 {
		k(fr, st)
		return
	}
	next := fr.clone()
	last := next.defers[len(next.defers)-1]
	next.defers = next.defers[:len(next.defers)-1]
	if _, ok := w.call(next, last, st, func(st *state, _ value) { w.unwind(next.clone(), st, k) }); ok {
		w.unwind(next, st, k)
	}
}

func (w *walk) branch(fr *frame, b *ssa.BasicBlock, instr *ssa.If, st *state, k then) {
	cond := w.value(fr, instr.Cond, st)
	switch {
	case cond.known == isTrue:
		w.block(fr, b.Succs[0], b, st, k)
		return
	case cond.known == isFalse:
		w.block(fr, b.Succs[1], b, st, k)
		return
	case cond.verdict && st.failed: // what is not known may be the proof that nothing moved
		return
	}
	st.guarded = st.guarded || cond.guard && cond.phase == st.phase
	yes := fr.clone()
	w.learn(yes, instr.Cond, true, st)
	w.block(yes, b.Succs[0], b, st.clone(), k)
	w.learn(fr, instr.Cond, false, st)
	w.block(fr, b.Succs[1], b, st, k)
}

// learn notes what a condition says of an error in a branch: a function that returned one does not go on as if it had none.
func (w *walk) learn(fr *frame, condition ssa.Value, holds bool, st *state) {
	var of ssa.Value
	says := notNil
	switch condition := condition.(type) {
	case *ssa.BinOp:
		c, ok := condition.Y.(*ssa.Const)
		if !ok || !c.IsNil() || condition.Op != token.EQL && condition.Op != token.NEQ {
			return
		}
		of = condition.X
		if holds == (condition.Op == token.EQL) {
			says = isNil
		}
	case *ssa.Call:
		callee := calls.Callee(condition.Common())
		if !holds || callee == nil || callee.FullName() != "errors.Is" {
			return
		}
		of = condition.Common().Args[0]
	default:
		return
	}
	v := w.value(fr, of, st)
	v.known = says
	fr.env[of] = v
}
