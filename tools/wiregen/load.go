package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// The files generated from tags. wiregen does not read them.
const (
	output       = "wire_gen.go"
	redactOutput = "redact_gen.go" // Format and LogValue of the structs that have redacted members
)

// pkg is the client's package. Without the generated files, it has type errors.
type pkg struct {
	*packages.Package
	lists [2][]*types.Named // wireReadable and wireWritable
}

func load(directory string) (*pkg, error) {
	directory, err1 := filepath.Abs(directory)
	const ignored = "//go:build ignore\n\npackage ignored\n"
	all, err2 := packages.Load(&packages.Config{Dir: directory, Mode: packages.LoadSyntax, Overlay: map[string][]byte{
		filepath.Join(directory, output): []byte(ignored), filepath.Join(directory, redactOutput): []byte(ignored),
	}}, ".")
	if err := cmp.Or(err1, err2); err != nil || len(all) != 1 {
		return nil, fmt.Errorf("%d packages in %s: %w", len(all), directory, err)
	}
	p := &pkg{Package: all[0]}
	for _, fault := range p.Errors {
		if fault.Kind == packages.ParseError {
			return nil, fault
		}
	}
	for _, file := range p.Syntax {
		ast.Inspect(file, p.addList)
	}
	return p, nil
}

// addList adds the types of []wireReadable{(*A)(nil), B{}}.
func (p *pkg) addList(node ast.Node) bool {
	if list, ok := node.(*ast.CompositeLit); ok {
		if i := slices.Index([]string{"[]wireReadable", "[]wireWritable"}, types.ExprString(list.Type)); i >= 0 {
			for _, element := range list.Elts {
				p.lists[i] = append(p.lists[i], named(p.TypesInfo.TypeOf(element)))
			}
		}
	}
	return true
}

// named returns the declared type T of T or *T; nil for another type.
func named(of types.Type) *types.Named {
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	declared, _ := of.(*types.Named)
	return declared
}

// has reports whether a type has one of these methods, not counting promoted ones.
func has(of *types.Named, methods ...string) bool {
	return slices.ContainsFunc(slices.Collect(of.Methods()), func(m *types.Func) bool { return slices.Contains(methods, m.Name()) })
}

// member is a struct field that is a JSON member.
type member struct {
	field, name string
	of          types.Type
	optional    bool
	further     bool // wire:"members": its own members, not one
	required    bool
}

// members returns the members of a struct, and an error for an unknown kind of field.
func members(of *types.Named) ([]member, error) {
	fields, ok := of.Underlying().(*types.Struct)
	if !ok {
		return nil, fmt.Errorf("%s is not a struct", of.Obj().Name())
	}
	var members []member
	for i := range fields.NumFields() {
		field, tag := fields.Field(i), reflect.StructTag(fields.Tag(i))
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		alternative, required := tag.Lookup("required")
		m := member{field.Name(), name, field.Type(), options == "omitzero", tag.Get("wire") == "members", required}
		switch {
		case !field.Exported(), name == "-" && options == "", tag.Get("wire") == "-":
			continue
		case alternative != "", !m.further && (name == "" || options != "" && !m.optional):
			return nil, fmt.Errorf("%s.%s: unknown tag: %s", of.Obj().Name(), m.field, tag)
		}
		members = append(members, m)
	}
	return members, nil
}
