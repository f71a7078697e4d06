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

// ResultOf is the result of a call at an index. It is nil if the result is unused: assigned to _, or dropped with all results.
func ResultOf(call ssa.CallInstruction, result int) ssa.Value {
	value := call.Value()
	if value == nil || result < 0 {
		return nil
	}
	if call.Common().Signature().Results().Len() == 1 {
		if len(*value.Referrers()) == 0 {
			return nil
		}
		return value
	}
	for _, ref := range *value.Referrers() {
		if extract, ok := ref.(*ssa.Extract); ok && extract.Index == result && len(*extract.Referrers()) > 0 {
			return extract
		}
	}
	return nil
}
