package calls

import (
	"go/token"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Forgotten reports whether there is a path on which the call fails and the error reaches nothing before the function
// returns, or before the same instruction makes a call for another payment.
func (c *Call) Forgotten() bool {
	value := c.Value(c.Err)
	start, ok := c.Instr.(*ssa.Call)
	if value == nil || !ok {
		return false
	}
	w := walk{
		call: c, start: start, other: c.Value(c.Result), variables: FateOf(value).Used,
		seen: map[*ssa.BasicBlock][][]ssa.Value{},
	}
	block := start.Block()
	return w.through(block, slices.Index(block.Instrs, ssa.Instruction(start))+1, []ssa.Value{value})
}

// walk is a walk over the paths of a function with the values that have the error.
type walk struct {
	call  *Call
	start *ssa.Call
	other ssa.Value // the result returned with the error: nil if and only if there is an error
	// variables means that a store in a variable is enough, because the variable is read.
	variables bool
	path      []*ssa.BasicBlock
	seen      map[*ssa.BasicBlock][][]ssa.Value
}

// through walks on from an instruction of a block.
func (w *walk) through(block *ssa.BasicBlock, from int, held []ssa.Value) bool {
	for _, instr := range block.Instrs[from:] {
		switch instr := instr.(type) {
		case *ssa.Phi:
			continue
		case *ssa.Extract:
			if instr.Tuple == w.start {
				continue
			}
		case *ssa.BinOp:
			if ComparesWithNil(instr) {
				continue
			}
		case *ssa.Call:
			if instr == w.start {
				if !w.another() { // a repeat of the same payment resolves the first call
					return false
				}
				held = slices.DeleteFunc(slices.Clone(held), func(v ssa.Value) bool { return v == w.call.Value(w.call.Err) })
				if len(held) == 0 {
					return true
				}
				continue
			}
		case *ssa.Store:
			if !w.variables {
				continue
			}
		case *ssa.Return:
			return !uses(instr, held)
		case *ssa.Panic:
			return false
		}
		if uses(instr, held) {
			return false
		}
	}
	if condition, ok := block.Instrs[len(block.Instrs)-1].(*ssa.If); ok && w.asks(condition.Cond, 0) {
		return false
	}
	for i, next := range block.Succs {
		if condition, ok := block.Instrs[len(block.Instrs)-1].(*ssa.If); ok && w.impossible(condition.Cond, i == 0, held) {
			continue
		}
		if w.enter(block, next, held) {
			return true
		}
	}
	return false
}

// enter goes to the next block and adds the variables that get the error there.
func (w *walk) enter(from, to *ssa.BasicBlock, held []ssa.Value) bool {
	w.path = append(w.path, to)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	edge := slices.Index(to.Preds, from)
	after := map[ssa.Value]bool{}
	for _, v := range held {
		after[v] = true
	}
	for _, instr := range to.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		if slices.Contains(held, phi.Edges[edge]) {
			after[phi] = true
		} else {
			delete(after, phi)
		}
	}
	if len(after) == 0 {
		return true
	}
	next := slices.SortedFunc(maps.Keys(after), func(a, b ssa.Value) int { return int(a.Pos()) - int(b.Pos()) })
	for _, before := range w.seen[to] {
		if slices.Equal(before, next) {
			return false
		}
	}
	w.seen[to] = append(w.seen[to], next)
	return w.through(to, 0, next)
}

// impossible reports whether a branch cannot be taken after an error.
func (w *walk) impossible(condition ssa.Value, taken bool, held []ssa.Value) bool {
	op, ok := condition.(*ssa.BinOp)
	if !ok || !ComparesWithNil(op) {
		return false
	}
	value := op.X
	if IsNil(value) {
		value = op.Y
	}
	isNil := taken == (op.Op == token.EQL)
	return slices.Contains(held, value) && isNil || value == w.other && value != nil && !isNil
}

// asks reports whether a condition reads the call's response: from a result other than the error, such as a status, or
// from a variable into which the call decodes the response.
func (w *walk) asks(v ssa.Value, depth int) bool {
	switch v := v.(type) {
	case *ssa.Extract:
		return v.Tuple == w.start && v.Index != w.call.Err && v.Index != w.call.Result
	case *ssa.Alloc:
		return slices.ContainsFunc(w.start.Call.Args, func(arg ssa.Value) bool {
			boxed, ok := arg.(*ssa.MakeInterface)
			return ok && boxed.X == v
		})
	}
	instr, ok := v.(ssa.Instruction)
	return ok && depth < 5 && slices.ContainsFunc(Operands(instr), func(operand ssa.Value) bool { return w.asks(operand, depth+1) })
}

// another reports whether the repeated call at the end of the path is for another payment.
func (w *walk) another() bool {
	param, field := w.call.Key.Param, w.call.Key.Field
	if param == None {
		param, field = w.call.Params, ""
	}
	if param == None {
		return false
	}
	loop := map[*ssa.BasicBlock]bool{}
	for _, block := range w.path {
		loop[block] = true
	}
	for _, origin := range Origins(w.call.Arg(param), field) {
		if changes(origin, loop, map[ssa.Value]bool{}) {
			return true
		}
	}
	return false
}

// changes reports whether a value differs in each round: it comes from a range clause, a counter or a channel.
func changes(value ssa.Value, loop map[*ssa.BasicBlock]bool, seen map[ssa.Value]bool) bool {
	instr, ok := value.(ssa.Instruction)
	if !ok || seen[value] || !loop[instr.Block()] {
		return false
	}
	seen[value] = true
	switch v := value.(type) {
	case *ssa.Phi, *ssa.Next:
		return true
	case *ssa.UnOp:
		if v.Op == token.ARROW {
			return true
		}
	}
	return slices.ContainsFunc(Operands(instr), func(operand ssa.Value) bool { return changes(operand, loop, seen) })
}

func uses(instr ssa.Instruction, held []ssa.Value) bool {
	return slices.ContainsFunc(Operands(instr), func(operand ssa.Value) bool { return slices.Contains(held, operand) })
}
