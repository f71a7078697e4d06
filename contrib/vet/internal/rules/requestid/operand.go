package requestid

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// value is what is known of an operand.
func (w *walk) value(fr *frame, v ssa.Value, st *state) value {
	if known, ok := fr.env[v]; ok {
		return known
	}
	switch v := v.(type) {
	case *ssa.Const:
		known := value{name: "const " + v.String()}
		switch {
		case v.IsNil():
			known.known = isNil
		case v.Value == nil:
		case v.Value.Kind() == constant.Bool:
			known.known = isFalse
			if constant.BoolVal(v.Value) {
				known.known = isTrue
			}
		case v.Value.Kind() == constant.String:
			known.known = notNil
			if constant.StringVal(v.Value) == "" {
				known.known = isNil
			}
		}
		return known
	case *ssa.Function:
		return value{known: notNil, name: v.String(), closure: v}
	case *ssa.Global:
		return value{known: notNil, name: v.String()}
	}
	return value{name: local(v)}
}

// local is the name of a value of a function.
func local(v ssa.Value) string {
	if v.Parent() == nil {
		return v.Name()
	}
	return v.Parent().String() + ":" + v.Name()
}

func (w *walk) isParams(t types.Type) bool {
	for name := range w.calls.Model.Params {
		if calls.Named(t, name) {
			return true
		}
	}
	return false
}

// eval is the value of an instruction that is not a call.
func (w *walk) eval(fr *frame, instr ssa.Value, st *state) value {
	get := func(v ssa.Value) value { return w.value(fr, v, st) }
	p, name := st.phase, local(instr)
	switch v := instr.(type) {
	case *ssa.Alloc:
		at := value{known: notNil, name: frameName(fr) + name}
		forget(st, "*"+at.name)
		delete(st.cells, "!*"+at.name)
		st.cells["*"+at.name] = zero(v.Type().Underlying().(*types.Pointer).Elem())
		return at
	case *ssa.MakeClosure:
		closure := value{known: notNil, name: name, closure: v.Fn.(*ssa.Function)}
		for _, b := range v.Bindings {
			closure.bound = append(closure.bound, get(b))
		}
		return closure
	case *ssa.MakeChan:
		delete(st.cells, "<-"+name)
		return value{known: notNil, name: name}
	case *ssa.MakeInterface:
		made := get(v.X)
		if _, ok := v.X.Type().Underlying().(*types.Pointer); ok {
			made.points = []string{"*" + made.name}
		} else {
			made.known = notNil
		}
		return made
	case *ssa.ChangeInterface:
		return get(v.X)
	case *ssa.ChangeType:
		return w.conversion(fr, v, v.X, get(v.X), st)
	case *ssa.Convert:
		return w.conversion(fr, v, v.X, get(v.X), st)
	case *ssa.FieldAddr:
		base := get(v.X)
		return value{
			known: notNil, age: base.age, phase: base.phase, source: base.source, name: base.name + fieldName(v.X.Type(), v.Field),
			guard: base.guard, failure: base.failure,
		}
	case *ssa.Field:
		return get(v.X).field(fieldName(v.X.Type(), v.Field), p)
	case *ssa.IndexAddr:
		return element(get(v.X), get(v.Index), p)
	case *ssa.Index:
		return element(get(v.X), get(v.Index), p)
	case *ssa.Lookup:
		return element(get(v.X), get(v.Index), p)
	case *ssa.Extract:
		return part(get(v.Tuple), v.Index, name, p)
	case *ssa.Next, *ssa.Range:
		return value{age: other, phase: p, name: name}
	case *ssa.TypeAssert:
		return w.asserted(v, get(v.X), name, p)
	case *ssa.UnOp:
		switch v.Op {
		case token.MUL:
			return w.load(fr, v.X, st)
		case token.ARROW:
			received, ok := st.cells["<-"+get(v.X).name]
			if !ok {
				received = value{age: other, phase: p, name: name}
			}
			if v.CommaOk {
				return value{parts: []value{received, {}}}
			}
			return received
		case token.NOT:
			negated := get(v.X)
			switch negated.known {
			case isTrue:
				negated.known = isFalse
			case isFalse:
				negated.known = isTrue
			}
			return negated
		}
		return join(p, name, get(v.X))
	case *ssa.BinOp:
		return w.binary(fr, v, st)
	case *ssa.Slice:
		if array, ok := v.X.(*ssa.Alloc); ok {
			return listed(get(array), name, st)
		}
	}
	var of []value
	for _, operand := range instr.(ssa.Instruction).Operands(nil) {
		if *operand != nil {
			of = append(of, get(*operand))
		}
	}
	return join(p, fmt.Sprintf("%T(%s)", instr, names(of)), of...)
}

// frameName distinguishes the variables of a function that calls itself.
func frameName(fr *frame) string {
	_, again := fr.depth(fr.fn)
	return strings.Repeat("^", again-1)
}

func zero(t types.Type) value {
	v := value{name: "zero"}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString != 0 {
			v.known = isNil
		}
		if t.Info()&types.IsBoolean != 0 {
			v.known = isFalse
		}
	case *types.Interface, *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature:
		v.known = isNil
	}
	return v
}

// element is an element of a list or map: of another payment if the index counts.
func element(of, index value, p phase) value {
	v := join(p, of.name+"["+index.name+"]", of, index)
	if index.ageIn(p) == counted {
		v.age, v.source = other, nil
	}
	return v
}

// listed is a list of arguments.
func listed(array value, name string, st *state) value {
	var of []value
	var points []string
	var names strings.Builder
	for _, cell := range slices.Sorted(maps.Keys(st.cells)) {
		if strings.HasPrefix(cell, "*"+array.name+"[") {
			of = append(of, st.cells[cell])
			points = append(points, st.cells[cell].points...)
			names.WriteString(st.cells[cell].name + ",")
		}
	}
	list := join(st.phase, name, of...)
	list.name, list.points = "["+names.String()+"]", points
	return list
}

func part(of value, index int, name string, p phase) value {
	if index < len(of.parts) {
		found := of.parts[index]
		if found.name == "" {
			found.name = name
		}
		return found
	}
	of.name = name
	of.known = anything
	return of
}
