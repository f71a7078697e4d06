package calls

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Origins follows a value back through assignments, conversions, branches and local variables. If field is set ("RequestID",
// "Params.RequestID"), it follows the values stored in that field. It ends at parameters, calls, constants, fields of other
// values (*ssa.Field, or *ssa.FieldAddr) and variables of an enclosing function.
func Origins(value ssa.Value, field string) []ssa.Value {
	var values []ssa.Value
	for _, found := range places(value, field) {
		values = append(values, found.value)
	}
	return values
}

// places is Origins with the field of each value, "" for the value itself.
func places(value ssa.Value, field string) []place {
	o := origins{seen: map[place]bool{}}
	o.follow(value, field)
	return o.found
}

type place struct {
	value ssa.Value
	field string
}

type origins struct {
	seen  map[place]bool
	found []place
}

func (o *origins) follow(value ssa.Value, field string) {
	if value == nil || o.seen[place{value, field}] {
		return
	}
	o.seen[place{value, field}] = true
	switch v := value.(type) {
	case *ssa.Phi:
		for _, edge := range v.Edges {
			o.follow(edge, field)
		}
		return
	case *ssa.ChangeType, *ssa.Convert, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.TypeAssert: // the same value in another type
		o.follow(*v.(ssa.Instruction).Operands(nil)[0], field)
		return
	case *ssa.UnOp:
		if v.Op == token.MUL {
			o.load(v, field)
			return
		}
	case *ssa.Alloc: // the address of params passed as a pointer
		if field != "" {
			o.variable(v, field, place{v, field})
			return
		}
	}
	o.found = append(o.found, place{value, field})
}

func (o *origins) load(v *ssa.UnOp, field string) {
	switch address := v.X.(type) {
	case *ssa.Alloc:
		o.variable(address, field, place{v, field})
		return
	case *ssa.FieldAddr:
		root, path := fieldsOf(address)
		if outer, ok := root.(*ssa.FreeVar); ok {
			root = captured(outer)
		}
		if local, ok := root.(*ssa.Alloc); ok {
			o.variable(local, join(path, field), place{address, field})
			return
		}
		o.found = append(o.found, place{address, field})
		return
	case *ssa.FreeVar:
		if outer := captured(address); outer != nil {
			if local, ok := outer.(*ssa.Alloc); ok {
				o.variable(local, field, place{v, field})
				return
			}
			o.follow(outer, field)
			return
		}
	}
	o.found = append(o.found, place{v, field})
}

// variable follows the values stored in a local variable or its field. If no values are stored there, whole is the origin.
func (o *origins) variable(local *ssa.Alloc, field string, whole place) {
	before := len(o.found)
	o.stores(local, field)
	if len(o.found) == before {
		o.found = append(o.found, whole)
	}
}

func (o *origins) stores(address ssa.Value, field string) {
	for _, ref := range *address.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == address {
				o.follow(ref.Val, field)
			}
		case *ssa.FieldAddr:
			first, rest, _ := strings.Cut(field, ".")
			if field != "" && FieldName(address.Type(), ref.Field) == first {
				o.stores(ref, rest)
			}
		}
	}
}

// fieldsOf splits a field's address into the variable or pointer, and the field's path: "Params.RequestID".
func fieldsOf(address *ssa.FieldAddr) (root ssa.Value, path string) {
	path = FieldName(address.X.Type(), address.Field)
	if outer, ok := address.X.(*ssa.FieldAddr); ok {
		root, before := fieldsOf(outer)
		return root, join(before, path)
	}
	return address.X, path
}

func join(path, field string) string {
	if path == "" || field == "" {
		return path + field
	}
	return path + "." + field
}

// captured returns the enclosing function's value of a captured variable.
func captured(v *ssa.FreeVar) ssa.Value {
	fn := v.Parent()
	if fn.Parent() == nil {
		return nil
	}
	closure, ok := Literal(fn).(*ssa.MakeClosure)
	if !ok {
		return nil
	}
	return closure.Bindings[slices.Index(fn.FreeVars, v)]
}

// FieldName is the name of a field of a struct, or of the struct that a pointer points to.
func FieldName(t types.Type, index int) string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok && index < s.NumFields() {
		return s.Field(index).Name()
	}
	return ""
}
