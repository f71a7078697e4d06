package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"
)

// shortest is the least limit of a context that does not end a test by time.
const shortest = 10 * time.Second

// waiting are the functions that wait for real time or measure it.
const waiting = " time.Sleep time.After time.NewTimer time.NewTicker time.Tick time.AfterFunc time.Since context.WithDeadline " +
	"context.WithDeadlineCause os.StartProcess github.com/stretchr/testify/require.Never github.com/stretchr/testify/require.Neverf "

// use is a place in a declaration that waits, or that uses another declaration.
type use struct {
	name, at      string
	waits, bubble bool
}

// program has the declarations of the tests.
type program struct {
	directory string
	roots     []string         // tests, fuzz targets and examples that run
	uses      map[string][]use // by declaration: function, type or variable
	bubbles   map[string]bool  // functions that run a parameter in a bubble, and synctest.Test
}

// load reads the packages of a module with their tests.
func load(directory string) (*program, error) {
	all, err := packages.Load(&packages.Config{Dir: directory, Tests: true, Mode: packages.LoadSyntax}, "./...")
	if err != nil {
		return nil, err
	}
	p := &program{uses: make(map[string][]use), bubbles: map[string]bool{"testing/synctest.Test": true}}
	if p.directory, err = filepath.Abs(directory); err != nil {
		return nil, err
	}
	for known := 0; known < len(p.bubbles); { // a function may run its parameter with a function of another package
		known = len(p.bubbles)
		p.eachFile(all, (*reader).findBubbles)
	}
	p.eachFile(all, (*reader).read)
	if packages.PrintErrors(all) > 0 {
		err = errors.New("the tests do not compile")
	}
	return p, err
}

// eachFile calls read for each file of tests.
func (p *program) eachFile(all []*packages.Package, read func(*reader, *ast.File)) {
	seen := make(map[string]bool)
	for _, one := range all {
		for _, file := range one.Syntax {
			name, err := filepath.Rel(p.directory, one.Fset.Position(file.Pos()).Filename)
			directory := filepath.ToSlash(filepath.Dir(name))
			ofTests := strings.HasSuffix(name, "_test.go") || strings.HasPrefix(directory, "internal/tests/") ||
				strings.HasSuffix(directory, "test") && directory != "prepaidtest"
			if err == nil && ofTests && !strings.HasPrefix(name, "..") && !seen[name] {
				seen[name] = true
				read(&reader{program: p, info: one.TypesInfo, pkg: one, file: name}, file)
			}
		}
	}
}

// reader reads one declaration of a file after another.
type reader struct {
	*program
	info        *types.Info
	pkg         *packages.Package
	file        string
	declaration string
	hasBubble   bool // so it may run the functions of a table in a bubble
}

// nameOf names a function, or a type or variable of a package; "" for anything else.
func nameOf(object types.Object) string {
	if function, ok := object.(*types.Func); ok {
		return function.Origin().FullName()
	}
	if object == nil || object.Pkg() == nil || object.Parent() != object.Pkg().Scope() {
		return ""
	}
	return object.Pkg().Path() + "." + object.Name()
}

// findBubbles finds the functions that run a parameter in a bubble: they have a function as a parameter, and a bubble.
func (r *reader) findBubbles(file *ast.File) {
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && r.runsBubble(function) {
			object := r.info.Defs[function.Name].(*types.Func)
			for parameter := range object.Signature().Params().Variables() {
				if _, ok := parameter.Type().Underlying().(*types.Signature); ok {
					r.bubbles[nameOf(object)] = true
				}
			}
		}
	}
}

func (r *reader) runsBubble(function *ast.FuncDecl) (found bool) {
	ast.Inspect(function, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && r.bubbles[nameOf(typeutil.Callee(r.info, call))]
		return !found
	})
	return found
}

func (r *reader) read(file *ast.File) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			r.readFunction(d)
		case *ast.GenDecl: // a variable or a type runs where it is used
			for _, spec := range d.Specs {
				r.hasBubble = false
				switch s := spec.(type) {
				case *ast.TypeSpec:
					r.declare(s.Name, s, d.Doc)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						r.declare(name, s, d.Doc)
					}
				}
			}
		}
	}
}

func (r *reader) readFunction(function *ast.FuncDecl) {
	name := function.Name.Name
	object, ok := r.info.Defs[function.Name].(*types.Func)
	if !ok || strings.HasPrefix(name, "Benchmark") {
		return
	}
	if receiver := object.Signature().Recv(); receiver != nil { // a method may be called through an interface where its type is used
		of := strings.TrimPrefix(types.TypeString(receiver.Origin().Type(), nil), "*")
		of, _, _ = strings.Cut(of, "[")
		r.uses[of] = append(r.uses[of], use{name: nameOf(object)})
	} else if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example") {
		r.roots = append(r.roots, nameOf(object))
	}
	r.hasBubble = r.runsBubble(function)
	if function.Body != nil {
		r.declare(function.Name, function.Body, function.Doc)
	}
}

func (r *reader) declare(name *ast.Ident, node ast.Node, comment *ast.CommentGroup) {
	r.declaration = nameOf(r.info.Defs[name])
	r.walk(node, comment != nil && slices.ContainsFunc(comment.List, func(c *ast.Comment) bool { return c.Text == "//waits:bubble" }))
}

// walk records the uses and the waits below a node.
func (r *reader) walk(node ast.Node, bubble bool) {
	add := func(n ast.Node, name string, waits bool) {
		at := fmt.Sprintf("%s:%d", r.file, r.pkg.Fset.Position(n.Pos()).Line)
		r.uses[r.declaration] = append(r.uses[r.declaration], use{name, at, waits, bubble})
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			called := nameOf(typeutil.Callee(r.info, n))
			if r.bubbles[called] {
				r.walk(n.Fun, bubble)
				for _, argument := range n.Args {
					r.walk(argument, true)
				}
				return false
			}
			if strings.HasPrefix(called, "context.WithTimeout") && r.isShort(n.Args[1]) {
				add(n, called+" of less than "+shortest.String(), true)
			}
		case *ast.CompositeLit:
			for _, element := range n.Elts {
				value := element
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					value = pair.Value
				}
				_, runs := r.info.TypeOf(value).Underlying().(*types.Signature)
				r.walk(element, bubble || runs && r.hasBubble)
			}
			if n.Type != nil {
				r.walk(n.Type, bubble)
			}
			return false
		case *ast.Ident:
			if name := nameOf(r.info.Uses[n]); name != "" {
				add(n, name, strings.Contains(waiting, " "+name+" "))
			}
		}
		return true
	})
}

// isShort reports whether an expression is a constant duration below shortest. Nanoseconds are a value that nothing waits for.
func (r *reader) isShort(value ast.Expr) bool {
	found := r.info.Types[value].Value
	if found == nil || found.Kind() != constant.Int {
		return false
	}
	duration, exact := constant.Int64Val(found)
	return exact && time.Duration(duration) >= time.Microsecond && time.Duration(duration) < shortest
}

// faults lists the places that wait outside a bubble, in order.
func (p *program) faults() []string {
	reached := make(map[string]bool)
	var faults []string
	var reach func(declaration string)
	reach = func(declaration string) {
		if reached[declaration] {
			return
		}
		reached[declaration] = true
		for _, u := range p.uses[declaration] {
			if u.waits && !u.bubble {
				faults = append(faults, fmt.Sprintf("%s: %s outside a synctest bubble", u.at, u.name))
			} else if !u.bubble {
				reach(u.name)
			}
		}
	}
	for _, root := range p.roots {
		reach(root)
	}
	slices.Sort(faults)
	return faults
}
