package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// output is the file generated from tags. wiregen reads no generated files.
const output = "wire_gen.go"

// pkg is a parsed package. It is not type-checked: without the generated file it does not compile.
type pkg struct {
	name    string
	types   map[string]ast.Expr
	methods map[string]bool // "Type.method"
	lists   map[string][]string

	constants map[string][]string // the exported constants of a type, in order
}

func load(directory string) (*pkg, error) {
	names, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		return nil, err
	}
	p := &pkg{types: map[string]ast.Expr{}, methods: map[string]bool{}, lists: map[string][]string{}, constants: map[string][]string{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_gen.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.name = file.Name.Name
		for _, declaration := range file.Decls {
			p.add(declaration)
		}
	}
	if len(p.lists) == 0 {
		return nil, errors.New("no list of types: want var _ = []wireReadable{…} or []wireWritable{…}")
	}
	return p, nil
}

func (p *pkg) add(declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			p.methods[typeName(d.Recv.List[0].Type)+"."+d.Name.Name] = true
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				p.types[s.Name.Name] = s.Type
			case *ast.ValueSpec:
				if d.Tok == token.CONST && s.Type != nil && ast.IsExported(s.Names[0].Name) {
					p.constants[typeName(s.Type)] = append(p.constants[typeName(s.Type)], s.Names[0].Name)
				}
				if len(s.Values) == 1 && s.Names[0].Name == "_" {
					p.addList(s.Values[0])
				}
			}
		}
	}
}

// addList adds the types of []wireReadable{(*A)(nil), B{}}.
func (p *pkg) addList(value ast.Expr) {
	list, ok := value.(*ast.CompositeLit)
	if !ok {
		return
	}
	array, ok := list.Type.(*ast.ArrayType)
	if !ok {
		return
	}
	kind := typeName(array.Elt)
	if kind != "wireReadable" && kind != "wireWritable" {
		return
	}
	for _, element := range list.Elts {
		p.lists[kind] = append(p.lists[kind], typeName(element))
	}
}

// typeName returns the name T of T, *T, (*T)(nil) or T{}. It returns "" for any other expression. It also returns "" for types of other
// packages.
func typeName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ParenExpr:
		return typeName(e.X)
	case *ast.CallExpr:
		return typeName(e.Fun)
	case *ast.CompositeLit:
		return typeName(e.Type)
	case *ast.IndexExpr:
		return typeName(e.X)
	}
	return ""
}

// underlying returns the underlying type of a name; nil for a type of another package.
func (p *pkg) underlying(name string) ast.Expr {
	for {
		expr, ok := p.types[name]
		if !ok {
			switch name {
			case "string", "bool", "int", "int64":
				return ast.NewIdent(name)
			}
			return nil
		}
		next, ok := expr.(*ast.Ident)
		if !ok {
			return expr
		}
		name = next.Name
	}
}

// member is a struct field that is a JSON member.
type member struct {
	field, name string
	of          ast.Expr
	optional    bool
	further     bool // wire:"members": its own members, not one
}

// members returns the members of a struct, and an error for an unknown kind of field.
func (p *pkg) members(name string) ([]member, error) {
	fields, ok := p.underlying(name).(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("%s is not a struct of this package", name)
	}
	var members []member
	for _, field := range fields.Fields.List {
		if len(field.Names) != 1 {
			return nil, fmt.Errorf("%s has a field that is embedded, or shares its type", name)
		}
		if !field.Names[0].IsExported() {
			continue
		}
		m := member{field: field.Names[0].Name, of: field.Type}
		tag, err := tagOf(field)
		if err != nil {
			return nil, err
		}
		options := ""
		m.name, options, _ = strings.Cut(tag.Get("json"), ",")
		m.optional = options == "omitzero"
		switch {
		case m.name == "-" && options == "", tag.Get("wire") == "-":
			continue
		case tag.Get("wire") == "members":
			m.further = true
		case m.name == "" || options != "" && !m.optional || strings.ContainsAny(m.name, `'"\`):
			return nil, fmt.Errorf("%s.%s: unknown tag: %s", name, m.field, tag)
		}
		members = append(members, m)
	}
	return members, nil
}

func tagOf(field *ast.Field) (reflect.StructTag, error) {
	if field.Tag == nil {
		return "", nil
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	return reflect.StructTag(tag), err
}
