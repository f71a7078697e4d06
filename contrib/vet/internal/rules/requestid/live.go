package requestid

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// A walk is fast only if it forgets: two paths that differ in nothing that is read later are one path.

// liveness says which values of a function a block, or one after it, reads.
type liveness map[*ssa.BasicBlock]map[ssa.Value]bool

func (r *rule) liveIn(b *ssa.BasicBlock) map[ssa.Value]bool {
	fn := b.Parent()
	live, ok := r.live[fn]
	if !ok {
		live = liveness{}
		live.of(fn)
		r.live[fn] = live
	}
	return live[b]
}

func (l liveness) of(fn *ssa.Function) {
	var deferred []ssa.Value // they are read when the function ends
	for _, block := range fn.Blocks {
		for _, instr := range block.Instrs {
			if instr, ok := instr.(*ssa.Defer); ok {
				for _, operand := range instr.Operands(nil) {
					deferred = append(deferred, *operand)
				}
			}
		}
	}
	for _, block := range fn.Blocks {
		for _, instr := range block.Instrs {
			switch instr := instr.(type) {
			case *ssa.Phi:
				for i, edge := range instr.Edges {
					l.read(edge, block.Preds[i])
				}
				l.read(instr, block) // widening reads the last value
				continue
			case *ssa.RunDefers:
				for _, v := range deferred {
					l.read(v, block)
				}
			}
			for _, operand := range instr.Operands(nil) {
				l.read(*operand, block)
			}
		}
	}
}

// read notes that a value is read in a block, or when it is left.
func (l liveness) read(v ssa.Value, in *ssa.BasicBlock) {
	switch v.(type) {
	case nil, *ssa.Const, *ssa.Function, *ssa.Global, *ssa.Builtin:
		return
	}
	if instr, ok := v.(ssa.Instruction); ok && instr.Block() == in {
		if _, phi := v.(*ssa.Phi); !phi {
			return
		}
	}
	if l[in] == nil {
		l[in] = map[ssa.Value]bool{}
	}
	if l[in][v] {
		return
	}
	l[in][v] = true
	for _, before := range in.Preds {
		l.read(v, before)
	}
}

// collect forgets the memory of a function that nothing leads to: neither these values nor other memory. A function that has returned
// has its result.
func collect(fr *frame, st *state, from ...value) {
	own := frameName(fr) + fr.fn.String() + ":t"
	groups := map[string][]string{} // cells by the register that points there
	var reached strings.Builder
	for _, v := range from {
		v.mention(&reached)
	}
	for cell, v := range st.cells {
		register, ok := strings.CutPrefix(strings.TrimLeft(cell, "!*<-"), own)
		if !ok {
			reached.WriteString(cell)
			v.mention(&reached)
			continue
		}
		n := 0
		for n < len(register) && '0' <= register[n] && register[n] <= '9' {
			n++
		}
		register = own + register[:n]
		groups[register] = append(groups[register], cell)
	}
	for found := true; found && len(groups) > 0; {
		found = false
		text := reached.String()
		for register, cells := range groups {
			if !mentions(text, register) {
				continue
			}
			found = true
			for _, cell := range cells {
				reached.WriteString(cell)
				st.cells[cell].mention(&reached)
			}
			delete(groups, register)
		}
	}
	for _, cells := range groups {
		for _, cell := range cells {
			delete(st.cells, cell)
		}
	}
}

// mentions reports whether a text has a register, and not only one with more digits.
func mentions(text, register string) bool {
	for {
		i := strings.Index(text, register)
		if i < 0 {
			return false
		}
		text = text[i+len(register):]
		if text == "" || text[0] < '0' || '9' < text[0] {
			return true
		}
	}
}

// mention writes the names of all that a value leads to.
func (v value) mention(to *strings.Builder) {
	to.WriteString(v.name)
	to.WriteByte(' ')
	for _, at := range v.points {
		to.WriteString(at)
		to.WriteByte(' ')
	}
	for _, list := range [][]value{v.bound, v.parts} {
		for _, inner := range list {
			inner.mention(to)
		}
	}
	for _, inner := range v.fields {
		inner.mention(to)
	}
}

// mayPay reports whether a path from a block may come to a sending, here or in a caller. Otherwise nothing more is to be found in phase 1.
func (w *walk) mayPay(fr *frame, b *ssa.BasicBlock) bool {
	if w.pays(b) {
		return true
	}
	for ; fr.caller != nil; fr = fr.caller {
		if fr.caller.again {
			return true
		}
		block := fr.at.Block()
		after := block.Instrs[slices.Index(block.Instrs, fr.at)+1:]
		if slices.ContainsFunc(after, w.leads) || slices.ContainsFunc(block.Succs, w.pays) {
			return true
		}
	}
	return false
}

// pays reports whether a path from a block may come to a sending in its function.
func (r *rule) pays(b *ssa.BasicBlock) bool {
	fn := b.Parent()
	paying, ok := r.paying[fn]
	if !ok {
		paying = map[*ssa.BasicBlock]bool{}
		r.paying[fn] = paying
		var up func(*ssa.BasicBlock)
		up = func(b *ssa.BasicBlock) {
			if !paying[b] {
				paying[b] = true
				for _, before := range b.Preds {
					up(before)
				}
			}
		}
		for _, block := range fn.Blocks {
			if slices.ContainsFunc(block.Instrs, r.leads) {
				up(block)
			}
		}
	}
	return paying[b]
}

// leads reports whether an instruction may lead to a sending: it is one, or calls a function that matters, or one that is not known.
func (r *rule) leads(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.RunDefers:
		return slices.ContainsFunc(instr.Parent().Blocks, func(b *ssa.BasicBlock) bool {
			return slices.ContainsFunc(b.Instrs, func(i ssa.Instruction) bool { _, ok := i.(*ssa.Defer); return ok && r.leads(i) })
		})
	case ssa.CallInstruction:
		common := instr.Common()
		if r.starts(instr) {
			return true
		}
		if fn := bodyOf(common.StaticCallee()); fn != nil && (r.matters[fn] || r.follow[fn] || fn.Synthetic != "") {
			return true
		}
		if _, builtin := common.Value.(*ssa.Builtin); !builtin && !common.IsInvoke() && common.StaticCallee() == nil {
			return !calls.Named(common.Value.Type(), "context.CancelFunc")
		}
		return slices.ContainsFunc(common.Args, func(arg ssa.Value) bool {
			_, ok := arg.Type().Underlying().(*types.Signature)
			return ok
		})
	}
	return false
}
