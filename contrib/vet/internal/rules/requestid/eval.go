package requestid

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// binary evaluates comparisons with what a walk knows, and finds counters.
func (w *walk) binary(fr *frame, v *ssa.BinOp, st *state) value {
	x, y := w.value(fr, v.X, st), w.value(fr, v.Y, st)
	result := join(st.phase, "("+x.name+v.Op.String()+y.name+")", x, y)
	switch v.Op {
	case token.EQL, token.NEQ:
		if equal, ok := w.equal(v, x, y, st); ok {
			result.known = isFalse
			if equal == (v.Op == token.EQL) {
				result.known = isTrue
			}
			result.verdict = false
		} else if x.failure && w.sentinel(v.Y) != allows || y.failure && w.sentinel(v.X) != allows {
			result.verdict = true
		}
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		result.known = ordered(v, x, y, st.phase)
	case token.ADD, token.SUB:
		if st.phase == 1 && counts(v) && result.age != other {
			result.age = counted
			result.source = &source{kind: counter}
		}
	}
	return result
}

// counts reports whether v is a variable of a loop plus or minus a constant, which the variable is next.
func counts(v *ssa.BinOp) bool {
	phi, ok := v.X.(*ssa.Phi)
	if _, fixed := v.Y.(*ssa.Const); !ok || !fixed {
		return false
	}
	for _, edge := range phi.Edges {
		if edge == v {
			return true
		}
	}
	return false
}

func (w *walk) equal(v *ssa.BinOp, x, y value, st *state) (equal, ok bool) {
	if y.known != isNil && x.known == isNil {
		x, y = y, x
	}
	if y.known == isNil {
		switch {
		case x.known == isNil:
			return true, true
		case x.known == notNil, x.ageIn(st.phase) == made,
			st.first != nil && x.name == st.first.id.name && x.ageIn(st.phase) == same:
			return false, true
		}
		return false, false
	}
	c, other := v.Y, x
	if _, ok := v.X.(*ssa.Const); ok {
		c, other = v.X, y
	}
	constantValue, ok := c.(*ssa.Const)
	if !ok || constantValue.Value == nil {
		return false, false
	}
	switch other.known {
	case outcomeUnknown, outcomeApplied:
		if name := w.outcomes[constantValue.Value.ExactString()]; name != "" {
			return name == "OutcomeUnknown" && other.known == outcomeUnknown || name == "OutcomeApplied" && other.known == outcomeApplied, true
		}
	case serverError:
		n, exact := constant.Int64Val(constantValue.Value)
		return false, exact && n < 500
	case isTrue, isFalse:
		if constantValue.Value.Kind() == constant.Bool {
			return constant.BoolVal(constantValue.Value) == (other.known == isTrue), true
		}
	}
	if other.ageIn(st.phase) == counted && constantValue.Value.Kind() == constant.Int && constant.Sign(constantValue.Value) <= 0 {
		return false, true
	}
	return false, false
}

// ordered compares a counter with 0 and 1, and a status with the class of errors that prove nothing.
func ordered(v *ssa.BinOp, x, y value, p phase) known {
	op, c, of := v.Op, v.Y, x
	if _, ok := v.X.(*ssa.Const); ok {
		c, of = v.X, y
		op = map[token.Token]token.Token{token.LSS: token.GTR, token.LEQ: token.GEQ, token.GTR: token.LSS, token.GEQ: token.LEQ}[op]
	}
	limit, ok := c.(*ssa.Const)
	if !ok || limit.Value == nil || limit.Value.Kind() != constant.Int {
		return anything
	}
	n, _ := constant.Int64Val(limit.Value)
	least := int64(500)
	if of.ageIn(p) == counted {
		least = 1
	} else if of.known != serverError {
		return anything
	}
	switch {
	case op == token.GTR && n < least, op == token.GEQ && n <= least:
		return isTrue
	case op == token.LSS && n <= least, op == token.LEQ && n < least:
		return isFalse
	}
	return anything
}

// says is what a sentinel or a type of an error proves.
type says uint8

const (
	// allows: the outcome may be unknown.
	allows says = iota
	// proves: it is not.
	proves
	// unclear: only its author knows.
	unclear
)

// sentinel says what it proves that an error is this one.
func (w *walk) sentinel(v ssa.Value) says {
	if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
		v = load.X
	}
	switch v := v.(type) {
	case *ssa.Const:
		return allows
	case *ssa.Global:
		switch {
		case w.inSDK(v.Pkg.Pkg):
			if v.Name() == "ErrOutcomeUnknown" || v.Name() == "ErrServer" {
				return allows
			}
			return proves
		case standard(v.Pkg.Pkg):
			return allows
		}
	}
	return unclear
}

// errorType says what it proves that an error has this type.
func (w *walk) errorType(t types.Type) says {
	for {
		p, ok := types.Unalias(t).(*types.Pointer)
		if !ok {
			break
		}
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	switch {
	case !ok:
		return allows // an interface with Timeout, for example
	case named.Obj().Pkg() == nil, standard(named.Obj().Pkg()):
		return allows
	case w.inSDK(named.Obj().Pkg()):
		switch named.Obj().Name() {
		case "CallError", "APIError", "TransportError", "DecodeError":
			return allows
		}
		return proves
	}
	return unclear
}

// asserted is the result of x.(T).
func (w *walk) asserted(v *ssa.TypeAssert, x value, name string, p phase) value {
	held := x
	if !v.CommaOk {
		return held
	}
	ok := value{name: name + "#1", phase: p}
	if x.failure {
		ok = w.is(w.errorType(v.AssertedType), ok)
	} else if x.known == isNil {
		ok.known = isFalse
	}
	return value{parts: []value{held, ok}}
}

// is says whether an error whose outcome is unknown is what was asked for.
func (w *walk) is(s says, v value) value {
	switch s {
	case proves:
		v.known = isFalse
	case unclear:
		v.verdict = true
	case allows:
	}
	return v
}

// standard reports whether a package is one of the standard library whose errors say nothing about a payment.
func standard(pkg *types.Package) bool {
	first, _, _ := strings.Cut(pkg.Path(), "/")
	switch first {
	case "context", "crypto", "errors", "io", "net", "os", "syscall":
		return true
	}
	return false
}
