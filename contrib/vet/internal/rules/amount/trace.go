package amount

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

var compares = map[token.Token]bool{token.EQL: true, token.NEQ: true, token.LSS: true, token.LEQ: true, token.GTR: true, token.GEQ: true}

// tracer follows values back to floats and amounts.
type tracer struct {
	pass    *analysis.Pass
	found   *calls.Result
	results map[*ssa.Function]*result // also results that are incomplete
}

// result is the analysis of the first result of a function of this package.
func (t *tracer) result(fn *ssa.Function) *result {
	if r, ok := t.results[fn]; ok {
		return r
	}
	r := new(result)
	t.results[fn] = r
	for ret := range calls.All[*ssa.Return](fn) {
		if len(ret.Results) == 0 {
			continue
		}
		value := ret.Results[0]
		switch {
		case basic(value.Type(), types.IsFloat):
			m := t.money(value, map[ssa.Value]bool{})
			r.Money, r.Computed = r.Money || m.Money, r.Computed || m.Computed
		case basic(value.Type(), types.IsString|types.IsInteger):
			r.Rounded = r.Rounded || t.rounded(value, map[ssa.Value]bool{})
		}
	}
	return r
}

// of is the analysis of the first result of a call.
func (t *tracer) of(call *ssa.Call) *result {
	return calls.Summary(t.pass, call.Common(), t.result)
}

// rounded reports whether a number or text is, or was, a float that is neither constant nor random.
func (t *tracer) rounded(v ssa.Value, seen map[ssa.Value]bool) bool {
	if v == nil || seen[v] {
		return false
	}
	seen[v] = true
	if _, constant := v.(*ssa.Const); constant {
		return false
	}
	if basic(v.Type(), types.IsFloat) {
		return !random(v, map[ssa.Value]bool{})
	}
	switch v := v.(type) {
	case *ssa.Phi:
		return t.any(v.Edges, seen)
	case *ssa.Extract:
		return v.Index == 0 && t.rounded(v.Tuple, seen)
	case *ssa.Convert, *ssa.ChangeType, *ssa.MakeInterface:
		return t.any(calls.Operands(v.(ssa.Instruction)), seen)
	case *ssa.BinOp: // of integers, or "+" of texts
		return !compares[v.Op] && (t.rounded(v.X, seen) || t.rounded(v.Y, seen))
	case *ssa.UnOp:
		return v.Op == token.MUL && t.any(stored(v.X), seen)
	case *ssa.Slice:
		return t.any(calls.Elements(v), seen)
	case *ssa.Call:
		callee := calls.Callee(v.Common())
		switch {
		case calls.Calls(v.Common(), formats):
			return t.any(v.Common().Args, seen)
		case callee != nil && strings.HasPrefix(callee.FullName(), "strings.") && basic(v.Type(), types.IsString):
			return t.rounded(v.Common().Args[0], seen)
		}
		return t.of(v).Rounded
	}
	return false
}

func (t *tracer) any(values []ssa.Value, seen map[ssa.Value]bool) bool {
	return slices.ContainsFunc(values, func(v ssa.Value) bool { return t.rounded(v, seen) })
}

// formats are functions that make text of their arguments.
var formats = []string{
	"fmt.Sprint", "fmt.Sprintf", "fmt.Append", "fmt.Appendf", "strconv.FormatFloat", "strconv.AppendFloat", "strconv.FormatInt", "strconv.Itoa",
}

// random reports whether a float is made of a random float: such money is fictional.
func random(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	if call, ok := v.(*ssa.Call); ok {
		if callee := calls.Callee(call.Common()); callee != nil && callee.Pkg() != nil && strings.HasPrefix(callee.Pkg().Path(), "math/rand") {
			return true
		}
	}
	instr, ok := v.(ssa.Instruction)
	if !ok || !basic(v.Type(), types.IsNumeric) {
		return false
	}
	return slices.ContainsFunc(calls.Operands(instr), func(operand ssa.Value) bool { return random(operand, seen) })
}

// money follows a float back to an amount.
func (t *tracer) money(v ssa.Value, seen map[ssa.Value]bool) (r result) {
	if v == nil || seen[v] {
		return r
	}
	seen[v] = true
	join := func(values ...ssa.Value) {
		for _, v := range values {
			of := t.money(v, seen)
			r.Money, r.Computed = r.Money || of.Money, r.Computed || of.Computed
		}
	}
	switch v := v.(type) {
	case *ssa.Phi:
		join(v.Edges...)
	case *ssa.Extract:
		if v.Index == 0 {
			join(v.Tuple)
		}
	case *ssa.Convert:
		join(v.X)
	case *ssa.UnOp:
		join(append(stored(v.X), v.X)...)
	case *ssa.BinOp:
		r = t.arithmetic(v, seen)
	case *ssa.Call:
		callee := calls.Callee(v.Common())
		if callee == nil {
			return r
		}
		switch recv := callee.Signature().Recv(); {
		case recv != nil && t.amount(recv.Type()):
			r.Money = basic(v.Type(), types.IsString) || callee.Name() == "Cents"
		case callee.FullName() == "strconv.ParseFloat", callee.Pkg() != nil && callee.Pkg().Path() == "math":
			join(v.Common().Args...)
		default:
			of := t.of(v)
			r.Money, r.Computed = of.Money, of.Computed
		}
	}
	return r
}

// arithmetic: a sum, difference or multiple of money is money; so is money divided by a constant (another unit), but no other quotient.
func (t *tracer) arithmetic(op *ssa.BinOp, seen map[ssa.Value]bool) result {
	x, y := t.money(op.X, seen), t.money(op.Y, seen)
	switch op.Op {
	case token.ADD, token.SUB, token.MUL:
		return result{Money: x.Money || y.Money, Computed: (x.Money || y.Money) && basic(op.Type(), types.IsFloat)}
	case token.QUO:
		if _, constant := op.Y.(*ssa.Const); constant {
			return x
		}
	}
	return result{}
}

// stored are the values stored at the address of a local variable or its field.
func stored(address ssa.Value) []ssa.Value {
	var values []ssa.Value
	add := func(address ssa.Value) {
		for _, ref := range *address.Referrers() {
			if store, ok := ref.(*ssa.Store); ok && store.Addr == address {
				values = append(values, store.Val)
			}
		}
	}
	switch address := address.(type) {
	case *ssa.Alloc:
		add(address)
	case *ssa.FieldAddr:
		local, ok := address.X.(*ssa.Alloc)
		if !ok {
			return nil
		}
		for _, ref := range *local.Referrers() {
			if same, ok := ref.(*ssa.FieldAddr); ok && same.Field == address.Field {
				add(same)
			}
		}
	}
	return values
}

func basic(t types.Type, info types.BasicInfo) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}
