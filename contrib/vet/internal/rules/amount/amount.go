// Package amount is the rule that money does not go through float64.
package amount

import (
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:      "amount",
	Doc:       "report amounts that are made of a float64, or compared as one after arithmetic",
	URL:       calls.Prepaid().Guide + "#amount",
	Requires:  []*analysis.Analyzer{calls.Analyzer},
	Run:       run,
	FactTypes: []analysis.Fact{new(result)},
}

// result is a fact about a function: the origin of its first result.
type result struct {
	// Rounded: a number or text made of a float64.
	Rounded bool
	// Money: a float64 made of an amount. Computed: also changed by arithmetic.
	Money, Computed bool
}

func (*result) AFact() {}
func (r *result) String() string {
	switch {
	case r.Rounded:
		return "made of a float64"
	case r.Computed:
		return "computed of an amount as float64"
	}
	return "an amount as float64"
}

func run(pass *analysis.Pass) (any, error) {
	found := calls.Of(pass)
	if found.SSA == nil || found.Model.Amount == "" {
		return nil, nil
	}
	t := &tracer{pass: pass, found: found, results: map[*ssa.Function]*result{}}
	for _, fn := range found.Funcs {
		if object, ok := fn.Object().(*types.Func); ok && fn.Parent() == nil {
			if r := t.result(fn); *r != (result{}) {
				pass.ExportObjectFact(object, r)
			}
		}
		for instr := range calls.All[ssa.CallInstruction](fn) {
			t.maker(instr)
		}
		for op := range calls.All[*ssa.BinOp](fn) {
			t.comparison(op)
		}
	}
	return nil, nil
}

// maker reports a call that makes or changes an amount with a value that is or was a float.
func (t *tracer) maker(instr ssa.CallInstruction) {
	common := instr.Common()
	callee := calls.Callee(common)
	if callee == nil || callee.Pkg() == nil || !t.makes(callee.Signature()) {
		return
	}
	for _, arg := range common.Args {
		if t.rounded(arg, map[ssa.Value]bool{}) {
			t.found.Reportf(t.pass, t.found.Pos(instr), "an amount is made of a float64, which holds most decimal fractions only approximately: "+
				"int64(19.99*100) is 1998, and 0.1+0.2 is 0.30000000000000004; read it with ParseAmount or from JSON, and compute with the methods of Amount")
			return
		}
	}
}

// makes reports whether a function or method of this signature makes an amount from something else.
func (t *tracer) makes(s *types.Signature) bool {
	if recv := s.Recv(); recv != nil {
		return t.amount(recv.Type())
	}
	return s.Results().Len() > 0 && t.amount(s.Results().At(0).Type()) && s.Params().Len() == 1 && basic(s.Params().At(0).Type(), types.IsString|types.IsNumeric)
}

func (t *tracer) amount(typ types.Type) bool { return calls.Named(typ, t.found.Model.Amount) }

// comparison reports a comparison of two amounts as floats if at least one was computed. Without arithmetic, a comparison
// is right for amounts of less than 16 digits. A constant, a setting or a quotient does not count: it is a threshold.
func (t *tracer) comparison(op *ssa.BinOp) {
	if !compares[op.Op] || !basic(op.X.Type(), types.IsFloat) || sorts(op) {
		return
	}
	x, y := t.money(op.X, map[ssa.Value]bool{}), t.money(op.Y, map[ssa.Value]bool{})
	if x.Money && y.Money && (x.Computed || y.Computed) {
		t.found.Reportf(t.pass, op.Pos(), "amounts are compared as float64 after arithmetic, whose result is off by a fraction of a cent: "+
			"0.1+0.2 is more than 0.3; use Amount.Add, Sub, Mul and Compare")
	}
}

// sorts reports whether a comparison is the result of a less function: a display order moves no money.
func sorts(op *ssa.BinOp) bool {
	params := op.Parent().Signature.Params()
	if params.Len() != 2 || !types.Identical(params.At(0).Type(), params.At(1).Type()) {
		return false
	}
	for _, ref := range *op.Referrers() {
		if _, ok := ref.(*ssa.Return); !ok {
			return false
		}
	}
	return basic(params.At(0).Type(), types.IsInteger)
}
