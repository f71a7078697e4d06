package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

// shortest is the least limit of an attempt or a context that does not end a test by time.
const shortest = 10 * time.Second

// place is a position in the code: in a function, and perhaps within the body of a bubble.
type place struct {
	at       string
	function string // the enclosing function
	bubble   bool
}

// program has the functions of the tests, with the places that use each function and the places that wait.
type program struct {
	directory string
	roots     map[string]bool // functions that run outside a bubble: tests and examples
	uses      map[string][]place
	methods   map[string][]string // for each type, its methods: they may be called through an interface, where the type is used
	waits     map[place]string
	bubbles   map[string]bool // functions that run a parameter in a bubble, and synctest.Test
}

// load reads the packages of a module with their tests.
func load(directory string) (*program, error) {
	all, err := packages.Load(&packages.Config{
		Dir: directory, Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports |
			packages.NeedExportFile | packages.NeedForTest | packages.NeedModule,
	}, "./...")
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(directory)
	if err != nil {
		return nil, err
	}
	p := &program{
		directory: absolute, roots: make(map[string]bool), uses: make(map[string][]place), methods: make(map[string][]string),
		waits: make(map[place]string), bubbles: map[string]bool{"testing/synctest.Test": true},
	}
	for known := 0; known < len(p.bubbles); { // a function may run its parameter with a function of another package
		known = len(p.bubbles)
		p.eachFile(all, (*reader).findBubbles)
	}
	p.eachFile(all, (*reader).read)
	for _, one := range all {
		for _, failure := range one.Errors {
			err = errors.Join(err, failure)
		}
	}
	return p, err
}

// eachFile calls read for each file of tests.
func (p *program) eachFile(all []*packages.Package, read func(*reader, *ast.File)) {
	seen := make(map[string]bool)
	for _, one := range all {
		for _, file := range one.Syntax {
			if name := one.Fset.Position(file.Pos()).Filename; p.isTest(name) && !seen[name] {
				seen[name] = true
				read(&reader{program: p, Package: one}, file)
			}
		}
	}
}

// isTest reports whether a file belongs to tests.
func (p *program) isTest(name string) bool {
	relative, err := filepath.Rel(p.directory, name)
	directory := filepath.ToSlash(filepath.Dir(relative))
	return err == nil && !strings.HasPrefix(relative, "..") && (strings.HasSuffix(name, "_test.go") ||
		strings.HasPrefix(directory, "internal/tests/") || strings.HasSuffix(directory, "test") && directory != "prepaidtest")
}

// reader reads one file.
type reader struct {
	*program
	*packages.Package

	function string
	depth    int  // of bubbles around the node
	anyValue bool // the function has a bubble, which may run the functions of a table
}

// findBubbles finds the functions that run a parameter in a bubble: they have a function as a parameter, and a bubble.
func (r *reader) findBubbles(file *ast.File) {
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || !r.hasBubble(function) {
			continue
		}
		object := r.TypesInfo.Defs[function.Name].(*types.Func)
		for parameter := range object.Signature().Params().Variables() {
			if _, ok := parameter.Type().Underlying().(*types.Signature); ok {
				r.program.bubbles[object.FullName()] = true
			}
		}
	}
}

// hasBubble reports whether a function calls one that runs a parameter in a bubble.
func (r *reader) hasBubble(function *ast.FuncDecl) (found bool) {
	ast.Inspect(function, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && r.program.bubbles[r.called(call)]
		return !found
	})
	return found
}

func (r *reader) read(file *ast.File) {
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			r.readGlobals(declaration)
			continue
		}
		object, ok := r.TypesInfo.Defs[function.Name].(*types.Func)
		if !ok {
			continue
		}
		name := function.Name.Name
		r.function = object.FullName()
		if receiver := object.Signature().Recv(); receiver != nil {
			owner := typeName(receiver.Type())
			r.methods[owner] = append(r.methods[owner], r.function)
		} else if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example") && hasOutput(file, function) {
			r.roots[r.function] = true
		}
		r.anyValue = r.hasBubble(function)
		r.depth = depthOf(function.Doc)
		if !strings.HasPrefix(name, "Benchmark") && function.Body != nil {
			r.walk(function.Body)
		}
	}
}

// readGlobals reads the declarations of variables and types: they run where they are used.
func (r *reader) readGlobals(declaration ast.Decl) {
	group, ok := declaration.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range group.Specs {
		r.function, r.depth, r.anyValue = "", depthOf(group.Doc), false
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			r.function = typeName(r.TypesInfo.Defs[spec.Name].Type())
		case *ast.ValueSpec:
			if spec.Names[0].Name != "_" {
				r.function = r.variable(r.TypesInfo.Defs[spec.Names[0]])
			}
		}
		r.walk(spec)
	}
}

// depthOf returns 1 if a comment says that the code runs in bubbles.
func depthOf(comment *ast.CommentGroup) int {
	if comment != nil && slices.ContainsFunc(comment.List, func(c *ast.Comment) bool { return c.Text == "//waits:bubble" }) {
		return 1
	}
	return 0
}

// variable names a global variable or a field, and all of a declaration by its first one.
func (r *reader) variable(object types.Object) string {
	at := r.Fset.Position(object.Pos())
	return fmt.Sprintf("%s at %s:%d", object.Name(), at.Filename, at.Line)
}

// hasOutput reports whether go test runs an example.
func hasOutput(file *ast.File, function *ast.FuncDecl) bool {
	return slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
		text := strings.ToLower(strings.TrimSpace(c.Text()))
		return function.Pos() < c.Pos() && c.End() < function.End() && (strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
	})
}

// walk notes the uses and the waits below a node.
func (r *reader) walk(node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if r.program.bubbles[r.called(n)] {
				r.walk(n.Fun)
				r.inBubble(n.Args)
				return false
			}
			if name := r.called(n); (name == "context.WithTimeout" || name == "context.WithTimeoutCause") && r.isShort(n.Args[1]) {
				r.waits[r.place(n)] = name + " of less than " + shortest.String()
			}
		case *ast.CompositeLit:
			r.composite(n)
			return false
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if field, ok := left.(*ast.SelectorExpr); ok && i < len(n.Rhs) {
					r.limit(r.TypesInfo.Uses[field.Sel], n.Rhs[i])
				}
			}
		case *ast.Ident:
			switch object := r.TypesInfo.Uses[n].(type) {
			case *types.Func:
				r.use(n, object)
			case *types.TypeName:
				name := typeName(object.Type())
				r.uses[name] = append(r.uses[name], r.place(n))
			case *types.Var:
				if object.Pkg() != nil && object.Parent() == object.Pkg().Scope() {
					name := r.variable(object.Origin())
					r.uses[name] = append(r.uses[name], r.place(n))
				}
			}
		}
		return true
	})
}

// composite walks a composite literal. Its functions run in bubbles if the enclosing function has one.
func (r *reader) composite(n *ast.CompositeLit) {
	fields, _ := r.TypesInfo.Types[n].Type.Underlying().(*types.Struct)
	for i, element := range n.Elts {
		var field types.Object
		if fields != nil && fields.NumFields() > i {
			field = fields.Field(i)
		}
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Key.(*ast.Ident); ok && fields != nil {
				field = r.TypesInfo.Uses[name]
			} else {
				r.walk(pair.Key)
			}
			element = pair.Value
		}
		r.limit(field, element)
		if _, ok := r.TypesInfo.Types[element].Type.Underlying().(*types.Signature); ok && r.anyValue {
			r.inBubble([]ast.Expr{element})
			continue
		}
		r.walk(element)
	}
	if n.Type != nil {
		r.walk(n.Type)
	}
}

// inBubble walks expressions whose functions run in a bubble.
func (r *reader) inBubble(all []ast.Expr) {
	r.depth++
	for _, one := range all {
		r.walk(one)
	}
	r.depth--
}

// called returns the full name of a called function, or "".
func (r *reader) called(call *ast.CallExpr) string {
	var name *ast.Ident
	switch function := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = function
	case *ast.SelectorExpr:
		name = function.Sel
	default:
		return ""
	}
	if function, ok := r.TypesInfo.Uses[name].(*types.Func); ok {
		return function.FullName()
	}
	return ""
}

// use notes the use of a function.
func (r *reader) use(name *ast.Ident, function *types.Func) {
	full := function.Origin().FullName()
	r.uses[full] = append(r.uses[full], r.place(name))
	switch full {
	case "time.Sleep", "time.After", "time.NewTimer", "time.NewTicker", "time.Tick", "time.AfterFunc", "time.Since",
		"context.WithDeadline", "context.WithDeadlineCause", "os.StartProcess", "(*os/exec.Cmd).Start", "(*os/exec.Cmd).Run",
		"(*os/exec.Cmd).Output", "(*os/exec.Cmd).CombinedOutput", "os/exec.Command", "os/exec.CommandContext",
		"github.com/stretchr/testify/require.Never", "github.com/stretchr/testify/require.Neverf":
		r.waits[r.place(name)] = full
	}
}

// limit notes a short AttemptTimeout of the client.
func (r *reader) limit(field types.Object, value ast.Expr) {
	if field != nil && field.Pkg() != nil && field.Name() == "AttemptTimeout" && field.Pkg().Path() == r.Module.Path && r.isShort(value) {
		r.waits[r.place(value)] = "an AttemptTimeout of less than " + shortest.String()
	}
}

// isShort reports whether an expression is a constant duration below shortest. Nanoseconds are a value that nothing waits for.
func (r *reader) isShort(value ast.Expr) bool {
	found := r.TypesInfo.Types[value].Value
	if found == nil || found.Kind() != constant.Int {
		return false
	}
	duration, exact := constant.Int64Val(found)
	return exact && time.Duration(duration) >= time.Microsecond && time.Duration(duration) < shortest
}

func (r *reader) place(n ast.Node) place {
	at := r.Fset.Position(n.Pos())
	relative, err := filepath.Rel(r.directory, at.Filename)
	return place{fmt.Sprintf("%s:%d", cmp.Or(relative, fmt.Sprint(err)), at.Line), r.function, r.depth > 0}
}

// typeName returns the full name of a named type, or of the type to which a pointer points.
func typeName(t types.Type) string {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return types.TypeString(named.Origin(), nil)
	}
	return ""
}

// faults lists the places that wait outside a bubble or start a process, in order.
func (p *program) faults() []string {
	outside, anywhere := p.reached(false), p.reached(true)
	var faults []string
	for _, at := range slices.SortedFunc(maps.Keys(p.waits), func(a, b place) int { return cmp.Compare(a.at, b.at) }) {
		what, from, reached := p.waits[at], "", false
		if strings.Contains(what, "os.StartProcess") || strings.Contains(what, "os/exec.") {
			from, reached = anywhere[at.function]
		} else if from, reached = outside[at.function]; reached {
			what, reached = what+" outside a synctest bubble", !at.bubble
		}
		if from != "" {
			what += ", reached from " + from
		}
		if reached {
			faults = append(faults, at.at+": "+what)
		}
	}
	return faults
}

// reached returns the functions and types that tests reach outside bubbles, or anywhere, each with a place that uses it.
func (p *program) reached(anywhere bool) map[string]string {
	found := map[string]string{"": ""} // declarations without a name
	uses := make(map[string][]string)
	from := make(map[[2]string]string)
	for name, places := range p.uses {
		for _, at := range places {
			if anywhere || !at.bubble {
				uses[at.function] = append(uses[at.function], name)
				from[[2]string{at.function, name}] = at.at
			}
		}
	}
	for owner, methods := range p.methods {
		uses[owner] = append(uses[owner], methods...)
	}
	next := []string{""}
	for name := range p.roots {
		found[name] = ""
		next = append(next, name)
	}
	for ; len(next) > 0; next = next[1:] {
		for _, name := range uses[next[0]] {
			if _, known := found[name]; !known {
				found[name] = cmp.Or(from[[2]string{next[0], name}], found[next[0]])
				next = append(next, name)
			}
		}
	}
	return found
}
