package calls

import (
	"go/ast"
	"iter"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
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

// Summary is the summary of the called function. If this package has the body, here() makes it, otherwise a fact has it.
func Summary[S any, F interface {
	*S
	analysis.Fact
}](pass *analysis.Pass, common *ssa.CallCommon, here func(*ssa.Function) F) F {
	if fn := common.StaticCallee(); fn != nil {
		if fn.Origin() != nil {
			fn = fn.Origin()
		}
		if fn.Blocks != nil {
			return here(fn)
		}
	}
	summary := F(new(S))
	if callee := Callee(common); callee != nil && !common.IsInvoke() {
		pass.ImportObjectFact(callee, summary)
	}
	return summary
}

// Literal is the first instruction that makes a function literal, or nil.
func Literal(fn *ssa.Function) ssa.Instruction {
	for instr := range All[ssa.Instruction](fn.Parent()) {
		if uses(instr, []ssa.Value{fn}) {
			return instr
		}
	}
	return nil
}

// Enclosing are an expression and the nodes around it, from the inside out.
func (r *Result) Enclosing(expr ast.Expr) []ast.Node {
	for _, file := range r.pass.Files {
		if file.FileStart <= expr.Pos() && expr.Pos() < file.FileEnd {
			path, _ := astutil.PathEnclosingInterval(file, expr.Pos(), expr.End())
			return path
		}
	}
	return nil
}
