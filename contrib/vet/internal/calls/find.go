package calls

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Call is a money call in the source.
type Call struct {
	Func
	// Instr is a *ssa.Call, *ssa.Go or *ssa.Defer.
	Instr ssa.CallInstruction
	// In is the function that makes the call, perhaps a literal.
	In *ssa.Function
	// Callee is the function or method, nil for a value of function type.
	Callee *types.Func
	// Wrapper is false for a call of the SDK, also through an interface or a value of function type.
	Wrapper bool

	// Pos is where to report the call.
	Pos token.Pos
}

// Plain is any other call, with its first result, and its last as the error.
func Plain(instr *ssa.Call) *Call {
	none := Source{Param: None}
	return &Call{Func: Func{Err: instr.Call.Signature().Results().Len() - 1, Params: None, Key: none}, Instr: instr, In: instr.Parent()}
}

// Operation is the name without its receiver.
func (c *Call) Operation() string { return c.Name[strings.LastIndex(c.Name, ".")+1:] }

// Arg is the argument for a parameter, nil for [None]. The receiver does not count.
func (c *Call) Arg(param int) ssa.Value {
	common := c.Instr.Common()
	i := param + len(common.Args) - common.Signature().Params().Len()
	if param < 0 || i < 0 || i >= len(common.Args) {
		return nil
	}
	return common.Args[i]
}

// Value is the result of the call at an index. It is nil if the result is unused: assigned to _, or dropped with all results.
func (c *Call) Value(result int) ssa.Value {
	value := c.Instr.Value()
	if value == nil || result < 0 {
		return nil
	}
	if c.Instr.Common().Signature().Results().Len() == 1 {
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

// Callee is the declared function or method that is called, nil for a literal or a value of function type. For an
// instance of a generic function, Callee is the generic function.
func Callee(common *ssa.CallCommon) *types.Func {
	if common.IsInvoke() {
		return common.Method.Origin()
	}
	fn := common.StaticCallee()
	if fn == nil {
		return nil
	}
	object, _ := fn.Object().(*types.Func)
	if object == nil {
		return nil
	}
	return object.Origin()
}

// Calls reports whether names has the function of a call, by [types.Func.FullName].
func Calls(common *ssa.CallCommon, names ...string) bool {
	callee := Callee(common)
	return callee != nil && slices.Contains(names, callee.FullName())
}

// in finds the money calls of a function, without those of its literals.
func (r *Result) in(fn *ssa.Function) []*Call {
	var found []*Call
	for instr := range All[ssa.CallInstruction](fn) {
		if call := r.Find(instr); call != nil {
			found = append(found, call)
		}
	}
	return found
}

// Find returns the money call of an instruction, or nil. The instruction may be in a function that the compiler added.
func (r *Result) Find(instr ssa.CallInstruction) *Call {
	common := instr.Common()
	call := &Call{Instr: instr, In: instr.Parent(), Pos: r.Pos(instr), Callee: Callee(common)}
	var ok bool
	if call.Callee != nil {
		if call.Func, ok = moneyCalls[call.Callee.FullName()]; ok {
			return call
		}
	}
	if fn := common.StaticCallee(); fn != nil {
		call.Wrapper = true
		call.Func, ok = r.wrappers[fn]
		if !ok && call.Callee != nil {
			fact := new(wrapper)
			ok = r.pass.ImportObjectFact(call.Callee, fact)
			call.Func = fact.Func
		}
	} else {
		call.Func, ok = r.bySignature(common)
	}
	if !ok {
		return nil
	}
	return call
}

// Pos is where to report an instruction: where the expression of a call begins.
func (r *Result) Pos(instr ssa.Instruction) token.Pos {
	if call, ok := instr.(ssa.CallInstruction); ok && r.Expr(call) != nil {
		return r.Expr(call).Pos()
	}
	return instr.Pos()
}

// Expr is a call in the source, nil for a call that the compiler adds.
func (r *Result) Expr(instr ssa.CallInstruction) *ast.CallExpr { return r.exprs[instr.Common().Pos()] }

// bySignature finds money calls through interfaces and values of function type: they take a context and the SDK's params, and
// return the SDK's result and an error.
func (r *Result) bySignature(common *ssa.CallCommon) (f Func, ok bool) {
	signature := common.Signature()
	results := signature.Results()
	if !ReturnsError(signature) {
		return Func{}, false
	}
	ctx := false
	for i := range signature.Params().Len() {
		t := signature.Params().At(i).Type()
		ctx = ctx || Named(t, "context.Context")
		if described, found := paramTypes[typeName(t)]; found && !ok {
			f, ok = described, true
			f.Params = i
			if f.Key.Field != "" {
				f.Key.Param = i
			}
		}
	}
	f.Err, f.Result = results.Len()-1, result(results)
	f.Name = "a function value"
	if common.IsInvoke() {
		f.Name = strings.TrimPrefix(TypeBase(common.Value.Type())+"."+common.Method.Name(), ".")
	}
	return f, ok && ctx && f.Result != None
}

// result is the index of a money call's result, or None.
func result(results *types.Tuple) int {
	for i := range results.Len() {
		if slices.Contains(resultTypes, typeName(results.At(i).Type())) {
			return i
		}
	}
	return None
}

// TypeBase is the name of a type, or of the type that it points to, without the package.
func TypeBase(t types.Type) string {
	name := typeName(t)
	return name[strings.LastIndex(name, ".")+1:]
}

// IsError reports whether a type is the interface error.
func IsError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }
