package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// writer collects the lines of one package.
type writer struct {
	pkg   *types.Package
	lines []string
}

// linesOf lists everything that a program can name in pkg, and the permitted uses. The lines are sorted, and equal in every
// Go version.
func linesOf(pkg *types.Package) []string {
	w := &writer{pkg: pkg}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch o := object.(type) {
		case *types.Const:
			w.add("const %s %s = %s", name, w.typ(o.Type()), o.Val().ExactString())
		case *types.Var:
			w.add("var %s %s", name, w.typ(o.Type()))
		case *types.Func:
			w.add("func %s%s", name, w.signature(o.Signature()))
		case *types.TypeName:
			w.typeName(o)
		}
	}
	slices.Sort(w.lines)
	return slices.Compact(w.lines)
}

func (w *writer) add(format string, values ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, values...))
}

// typ writes a type. Names of this package have no qualifier. Names of other packages have the import path, without this
// package's host and owner.
func (w *writer) typ(t types.Type) string {
	return types.TypeString(bare(t), func(p *types.Package) string {
		if p == w.pkg {
			return ""
		}
		return strings.TrimPrefix(p.Path(), strings.TrimSuffix(w.pkg.Path(), inRepository(w.pkg.Path())))
	})
}

func (w *writer) signature(s *types.Signature) string {
	return w.parameters(s.TypeParams()) + strings.TrimPrefix(w.typ(s), "func")
}

// parameters writes type parameters with their constraints.
func (w *writer) parameters(list *types.TypeParamList) string {
	if list.Len() == 0 {
		return ""
	}
	var each []string
	for p := range list.TypeParams() {
		each = append(each, p.Obj().Name()+" "+w.typ(p.Constraint()))
	}
	return "[" + strings.Join(each, ", ") + "]"
}

func (w *writer) typeName(o *types.TypeName) {
	if alias, ok := o.Type().(*types.Alias); ok {
		w.add("type %s%s = %s", o.Name(), w.parameters(alias.TypeParams()), w.typ(alias.Rhs()))
		return
	}
	named, _ := o.Type().(*types.Named) // unless it is an alias
	head, equality := "type "+o.Name()+w.parameters(named.TypeParams()), ""
	if u, ok := named.Underlying().(*types.Struct); ok {
		if !types.Comparable(named) { // a new field with this effect breaks code that uses ==
			equality = ", not comparable"
		}
		w.add("%s struct%s", head, equality)
		w.fields(o.Name(), u)
	} else { // an interface is one line with all methods: an added method breaks implementations
		w.add("%s %s", head, w.typ(named.Underlying()))
	}
	if !types.IsInterface(named) {
		w.methods(o.Name(), named)
	}
}

// fields lists the public fields with their tags, which are part of the JSON format. Fields of embedded unexported
// structs count: programs can name these fields.
func (w *writer) fields(owner string, s *types.Struct) {
	for i := range s.NumFields() {
		f := s.Field(i)
		if !f.Exported() {
			if inner, ok := f.Type().Underlying().(*types.Struct); ok && f.Embedded() {
				w.fields(owner, inner)
			}
			continue
		}
		tag, _, _ := strings.Cut(s.Tag(i), " required:") // it is not part of the format
		if tag != "" {
			tag = " `" + tag + "`"
		}
		kind := "field"
		if f.Embedded() {
			kind = "embedded"
		}
		w.add("%s %s.%s %s%s", kind, owner, f.Name(), w.typ(f.Type()), tag)
	}
}

// methods lists the methods of the value and of the pointer, including promoted methods.
func (w *writer) methods(owner string, named *types.Named) {
	values := types.NewMethodSet(named)
	for selection := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		m := selection.Obj()
		if !m.Exported() {
			continue
		}
		star := "*"
		if values.Lookup(m.Pkg(), m.Name()) != nil {
			star = ""
		}
		w.add("method (%s%s) %s%s", star, owner, m.Name(), strings.TrimPrefix(w.typ(selection.Type()), "func"))
	}
}

// bare returns a type without the names of parameters, which are not part of the API. Pointers, arrays and channels keep them.
func bare(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, bareTuple(t.Params()), bareTuple(t.Results()), t.Variadic())
	case *types.Slice:
		return types.NewSlice(bare(t.Elem()))
	case *types.Map:
		return types.NewMap(bare(t.Key()), bare(t.Elem()))
	case *types.Interface:
		var methods []*types.Func
		for m := range t.ExplicitMethods() {
			signature, _ := bare(m.Signature()).(*types.Signature)
			methods = append(methods, types.NewFunc(m.Pos(), m.Pkg(), m.Name(), signature))
		}
		if len(methods) > 0 { // else it keeps its name, such as any
			return types.NewInterfaceType(methods, slices.Collect(t.EmbeddedTypes())).Complete()
		}
	}
	return t
}

func bareTuple(tuple *types.Tuple) *types.Tuple {
	var all []*types.Var
	for v := range tuple.Variables() {
		all = append(all, types.NewParam(v.Pos(), v.Pkg(), "", bare(v.Type())))
	}
	return types.NewTuple(all...)
}
