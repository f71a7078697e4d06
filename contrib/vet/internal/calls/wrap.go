package calls

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// wrap finds the functions that are money calls for their callers: they make a given payment and return the error.
func (r *Result) wrap() {
	r.wrappers = map[*ssa.Function]Func{}
	r.settle(func(fn *ssa.Function) analysis.Fact {
		f, ok := r.wrapped(fn)
		if !ok {
			return nil
		}
		r.wrappers[fn] = f
		return &wrapper{f}
	})
}

// settle asks for facts about the functions, until there are no new ones: a function may call another that is declared later.
func (r *Result) settle(about func(*ssa.Function) analysis.Fact) {
	known := map[*ssa.Function]bool{}
	for found := true; found; {
		found = false
		for _, fn := range r.Funcs {
			if known[fn] {
				continue
			}
			fact := about(fn)
			if fact == nil {
				continue
			}
			found, known[fn] = true, true
			if object, ok := fn.Object().(*types.Func); ok && object.Pkg() == r.pass.Pkg {
				r.pass.ExportObjectFact(object, fact)
			}
		}
	}
}

func (r *Result) wrapped(fn *ssa.Function) (Func, bool) {
	if object, ok := fn.Object().(*types.Func); ok {
		if _, known := moneyCalls[object.FullName()]; known {
			return Func{}, false
		}
	}
	results := fn.Signature.Results()
	for _, call := range r.in(fn) {
		value := call.Value(call.Err)
		if value == nil || !r.isGiven(fn, call) {
			continue
		}
		fate := FateOf(value)
		if len(fate.Returned) == 0 {
			continue
		}
		f := Func{
			Kind: call.Kind, Name: name(fn), Params: None, Key: r.keyOf(fn, call),
			Err: fate.Returned[0], Result: result(results), Recorded: fate.Recorded || call.Recorded,
			Own: call.Own || r.own(fn, call),
		}
		for i := range fn.Signature.Params().Len() {
			if _, ok := paramTypes[typeName(fn.Signature.Params().At(i).Type())]; ok {
				f.Params = i
			}
		}
		return f, true
	}
	return Func{}, false
}

// own reports whether a function makes the request ID of the call and stores it nowhere.
func (r *Result) own(fn *ssa.Function, call *Call) bool {
	return slices.ContainsFunc(r.Key(call), func(p Part) bool {
		if p.New == "" || p.New == Clock || p.Value.Parent() != fn {
			return false
		}
		uses, _ := r.Handed(p.Value, nil, call.Instr)
		return len(uses) == 0
	})
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

// isGiven reports whether a function passes a given value to the call: a parameter, a field of its receiver, or a value that
// another function makes from them. The result is always true for a function literal.
func (r *Result) isGiven(fn *ssa.Function, call *Call) bool {
	return fn.Parent() != nil || slices.ContainsFunc(slices.Concat(r.Payment(call), r.Key(call)), func(p Part) bool {
		if made, ok := p.Value.(*ssa.Call); ok {
			return slices.ContainsFunc(made.Call.Args, func(arg ssa.Value) bool { return slices.ContainsFunc(r.Parts(arg, ""), isGiven) })
		}
		return isGiven(p)
	})
}

func isGiven(p Part) bool {
	param, ok := p.Value.(*ssa.Parameter)
	return ok && !Named(param.Type(), "context.Context")
}

// keyOf is the parameter that has the request ID of the call.
func (r *Result) keyOf(fn *ssa.Function, call *Call) Source {
	parts := r.Key(call)
	if len(parts) != 1 {
		return Source{Param: None}
	}
	i := slices.IndexFunc(fn.Params, func(p *ssa.Parameter) bool { return p == parts[0].Value })
	if fn.Signature.Recv() != nil {
		i--
	}
	if i < 0 {
		return Source{Param: None}
	}
	return Source{i, parts[0].Field}
}
