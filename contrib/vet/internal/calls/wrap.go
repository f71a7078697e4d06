package calls

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// wrap finds the functions that are money calls for their callers: they make a given payment and return the error.
func (r *Result) wrap() {
	r.wrappers = map[*ssa.Function]Func{}
	for found := true; found; { // if a wrapper calls another wrapper that is declared later, it is found in the next round
		found = false
		for _, fn := range r.Funcs {
			if _, known := r.wrappers[fn]; known {
				continue
			}
			f, ok := r.wrapped(fn)
			if !ok {
				continue
			}
			found = true
			r.wrappers[fn] = f
			if object, ok := fn.Object().(*types.Func); ok && object.Pkg() == r.pass.Pkg {
				r.pass.ExportObjectFact(object, &wrapper{f})
			}
		}
	}
}

func (r *Result) wrapped(fn *ssa.Function) (Func, bool) {
	if object, ok := fn.Object().(*types.Func); ok {
		if _, known := r.Model.Money[fullName(object)]; known {
			return Func{}, false
		}
	}
	results := fn.Signature.Results()
	for _, call := range r.in(fn) {
		value := call.Value(call.Err)
		if value == nil || !isGiven(fn, call) {
			continue
		}
		fate := FateOf(value)
		if len(fate.Returned) == 0 {
			continue
		}
		f := Func{
			Kind: call.Kind, Name: name(fn), Params: None, Key: keyOf(fn, call),
			Err: fate.Returned[0], Result: None, Recorded: fate.Recorded || call.Recorded,
			Own: call.Own || !Makes(fn, Writes) && slices.ContainsFunc(r.Key(call), func(p Part) bool { return p.New != "" && p.New != Clock && p.Value.Parent() == fn }),
		}
		for i := range results.Len() {
			if r.Model.result(results.At(i).Type()) {
				f.Result = i
			}
		}
		for i := range fn.Signature.Params().Len() {
			if _, ok := r.Model.Params[typeName(fn.Signature.Params().At(i).Type())]; ok {
				f.Params = i
			}
		}
		return f, true
	}
	return Func{}, false
}

// name returns the name of a function for messages.
func name(fn *ssa.Function) string {
	if fn.Parent() != nil {
		return "the function literal"
	}
	if receiver := fn.Signature.Recv(); receiver != nil {
		return TypeBase(receiver.Type()) + "." + fn.Name()
	}
	return fn.Name()
}

// isGiven reports whether a function passes a given value to the call: a parameter, or a field of its receiver. The result is
// always true for a function literal.
func isGiven(fn *ssa.Function, call *Call) bool {
	if fn.Parent() != nil {
		return true
	}
	g := given{fn: fn, seen: map[ssa.Value]bool{}}
	if call.Params == None && call.Key.Param == None {
		return slices.ContainsFunc(call.Instr.Common().Args, g.from)
	}
	return g.from(call.Arg(call.Params)) || g.from(call.Arg(call.Key.Param))
}

type given struct {
	fn   *ssa.Function
	seen map[ssa.Value]bool
}

func (g *given) from(value ssa.Value) bool {
	if value == nil || g.seen[value] {
		return false
	}
	g.seen[value] = true
	switch v := value.(type) {
	case *ssa.Parameter:
		return !Named(v.Type(), "context.Context") && (g.fn.Signature.Recv() == nil || v != g.fn.Params[0])
	case *ssa.FieldAddr:
		if g.receiver(v.X) || g.from(v.X) {
			return true
		}
	case *ssa.Alloc:
		if slices.ContainsFunc(*v.Referrers(), g.written) {
			return true
		}
	}
	instr, ok := value.(ssa.Instruction)
	return ok && slices.ContainsFunc(Operands(instr), g.from)
}

// written follows the values that an instruction stores in a variable or a part of it.
func (g *given) written(ref ssa.Instruction) bool {
	switch ref := ref.(type) {
	case *ssa.Store:
		return g.from(ref.Val)
	case *ssa.FieldAddr, *ssa.IndexAddr:
		for _, ref := range *ref.(ssa.Value).Referrers() {
			if store, ok := ref.(*ssa.Store); ok && g.from(store.Val) {
				return true
			}
		}
	}
	return false
}

func (g *given) receiver(value ssa.Value) bool {
	return g.fn.Signature.Recv() != nil && value == g.fn.Params[0]
}

// keyOf is the parameter that has the request ID of the call.
func keyOf(fn *ssa.Function, call *Call) Source {
	none := Source{Param: None}
	found := none
	if call.Key.Param == None {
		return none
	}
	for i, at := range places(call.Arg(call.Key.Param), call.Key.Field) {
		source := parameter(fn, at)
		if source.Param == None || i > 0 && source != found {
			return none
		}
		found = source
	}
	return found
}

// parameter returns the parameter of fn, or the field of a parameter, at a place.
func parameter(fn *ssa.Function, at place) Source {
	value, field := at.value, at.field
	if v, ok := value.(*ssa.FieldAddr); ok {
		root, path := fieldsOf(v)
		value, field = root, join(path, field)
	}
	skip := 0
	if fn.Signature.Recv() != nil {
		skip = 1
	}
	for i, p := range fn.Params {
		if p == value && i >= skip {
			return Source{i - skip, field}
		}
	}
	return Source{Param: None}
}

// Makes reports whether a function makes one of these calls.
func Makes(fn *ssa.Function, these func(*ssa.CallCommon) bool) bool {
	for call := range All[*ssa.Call](fn) {
		if these(call.Common()) {
			return true
		}
	}
	return false
}
