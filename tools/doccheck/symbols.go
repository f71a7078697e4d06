package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// kind is the kind of a symbol.
type kind string

const (
	kindPackage  kind = "package"
	kindFunction kind = "function"
	kindMethod   kind = "method"
	kindType     kind = "type"
	kindField    kind = "field"
	kindConstant kind = "constant"
	kindVariable kind = "variable"
)

// symbol is one public name.
type symbol struct {
	kind     kind
	name     string // "Account", "Account.ID", "webhook.Handler.ServeHTTP"
	owner    string // type of a field or method; name of a constant's type
	doc      string
	wire     string // JSON name of a field, or literal value of a constant
	foreign  bool   // belongs to a package other than the first
	calls    bool   // is a service method with a context; other methods send nothing
	position token.Position
}

// base returns the last part of the name.
func (s symbol) base() string { return s.name[strings.LastIndexByte(s.name, '.')+1:] }

// collector gathers the symbols of one package.
type collector struct {
	files   *token.FileSet
	prefix  string // "webhook." or empty
	symbols []symbol
}

// readPackage returns the public names of the package in directory, without test files.
func readPackage(directory string, prefixed bool) ([]symbol, error) {
	names, err := filepath.Glob(filepath.Join(directory, "*.go"))
	if err != nil {
		return nil, err
	}
	c := &collector{files: token.NewFileSet()}
	var parsed []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(c.files, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	if len(parsed) == 0 {
		return nil, fmt.Errorf("no Go files in %s", directory)
	}
	c.collect(parsed, prefixed)
	return c.symbols, nil
}

func (c *collector) collect(files []*ast.File, prefixed bool) {
	story := symbol{kind: kindPackage, name: files[0].Name.Name, position: c.files.Position(files[0].Package)}
	for _, file := range files {
		story.doc += text(file.Doc)
	}
	c.symbols = append(c.symbols, story)
	if prefixed {
		c.prefix = story.name + "."
	}
	for _, file := range files {
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				c.function(d)
			case *ast.GenDecl:
				c.general(d)
			}
		}
	}
}

func (c *collector) add(k kind, owner string, name *ast.Ident, doc *ast.CommentGroup, wire string) {
	if !name.IsExported() {
		return
	}
	full := c.prefix + name.Name
	if k == kindField || k == kindMethod {
		full = c.prefix + owner + "." + name.Name
	}
	if owner != "" {
		owner = c.prefix + owner
	}
	c.symbols = append(c.symbols, symbol{
		kind: k, name: full, owner: owner, doc: text(doc), wire: wire,
		foreign: c.prefix != "", position: c.files.Position(name.Pos()),
	})
}

func (c *collector) function(d *ast.FuncDecl) {
	if d.Recv == nil {
		c.add(kindFunction, "", d.Name, d.Doc, "")
		return
	}
	if owner := typeName(d.Recv.List[0].Type); ast.IsExported(owner) {
		before := len(c.symbols)
		c.add(kindMethod, owner, d.Name, d.Doc, "")
		if len(c.symbols) > before {
			c.symbols[before].calls = strings.HasSuffix(owner, "Service") && takesContext(d.Type)
		}
	}
}

func takesContext(f *ast.FuncType) bool {
	if len(f.Params.List) == 0 {
		return false
	}
	of, ok := f.Params.List[0].Type.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "Context"
}

// general reads the specs of one declaration. If it has no parentheses, its comment belongs to its only spec.
func (c *collector) general(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			c.add(kindType, "", s.Name, own(s.Doc, d), "")
			if s.Name.IsExported() {
				c.members(s.Name.Name, s.Type)
			}
		case *ast.ValueSpec:
			c.values(d, s)
		}
	}
}

func (c *collector) values(d *ast.GenDecl, s *ast.ValueSpec) {
	k := kindVariable
	if d.Tok == token.CONST {
		k = kindConstant
	}
	for i, name := range s.Names {
		wire := ""
		if k == kindConstant && i < len(s.Values) {
			wire = literal(s.Values[i])
		}
		c.add(k, typeName(s.Type), name, own(s.Doc, d), wire)
	}
}

// members reads the fields of a struct, including nested fields, and the methods of an interface.
func (c *collector) members(owner string, of ast.Expr) {
	switch t := of.(type) {
	case *ast.StructType:
		for _, field := range t.Fields.List {
			names := field.Names
			if len(names) == 0 { // embedded
				names = []*ast.Ident{{Name: typeName(field.Type), NamePos: field.Pos()}}
			}
			for _, name := range names {
				c.add(kindField, owner, name, field.Doc, jsonName(field.Tag))
				if name.IsExported() {
					c.members(owner+"."+name.Name, field.Type)
				}
			}
		}
	case *ast.InterfaceType:
		for _, method := range t.Methods.List {
			for _, name := range method.Names {
				c.add(kindMethod, owner, name, method.Doc, "")
			}
		}
	}
}

// typeName returns the name of a type without pointer and type parameters.
func typeName(of ast.Expr) string {
	switch t := of.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}

// own returns the comment of a spec or, if the declaration has no parentheses, the comment of the declaration.
func own(doc *ast.CommentGroup, d *ast.GenDecl) *ast.CommentGroup {
	if doc == nil && !d.Lparen.IsValid() {
		return d.Doc
	}
	return doc
}

// literal returns the value of a literal without quotes, or "" for any other expression.
func literal(value ast.Expr) string {
	basic, ok := value.(*ast.BasicLit)
	if !ok {
		return ""
	}
	if unquoted, err := strconv.Unquote(basic.Value); err == nil {
		return unquoted
	}
	return basic.Value
}

// jsonName returns the JSON name of a field, or "".
func jsonName(tag *ast.BasicLit) string {
	if tag == nil {
		return ""
	}
	value, err := strconv.Unquote(tag.Value)
	if err != nil {
		return ""
	}
	tags := reflect.StructTag(value)
	if tags.Get("wire") != "" { // stored, not sent under this name
		return ""
	}
	name, _, _ := strings.Cut(tags.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// text returns a comment as one line.
func text(doc *ast.CommentGroup) string {
	return strings.Join(strings.Fields(doc.Text()), " ")
}
