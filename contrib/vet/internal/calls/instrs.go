package calls

import (
	"iter"

	"golang.org/x/tools/go/ssa"
)

// All are the instructions of one type in a function, without those of its literals.
func All[T ssa.Instruction](fn *ssa.Function) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, block := range fn.Blocks {
			for _, instr := range block.Instrs {
				if found, ok := instr.(T); ok && !yield(found) {
					return
				}
			}
		}
	}
}

// Operands are the values that an instruction uses.
func Operands(instr ssa.Instruction) (values []ssa.Value) {
	for _, operand := range instr.Operands(nil) {
		if *operand != nil {
			values = append(values, *operand)
		}
	}
	return values
}

// loads are the values that are read from an address.
func loads(address ssa.Value) (values []ssa.Value) {
	for _, ref := range *address.Referrers() {
		if load, ok := ref.(*ssa.UnOp); ok {
			values = append(values, load)
		}
	}
	return values
}

// eachUse calls use for each instruction that uses one of the values, except the values that it has seen before.
func eachUse(seen map[ssa.Value]bool, use func(ssa.Value, ssa.Instruction), values ...ssa.Value) {
	for _, value := range values {
		if value == nil || seen[value] || value.Referrers() == nil {
			continue
		}
		seen[value] = true
		for _, ref := range *value.Referrers() {
			use(value, ref)
		}
	}
}
