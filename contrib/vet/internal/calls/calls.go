// Package calls is the base of prepaidvet's rules. It finds the money calls in a package: calls of the SDK itself, of
// interfaces with the SDK's methods, and of functions of the program, in any package, that pass a payment on.
package calls

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// Analyzer finds the calls of the SDK. Its result is a [*Result].
var Analyzer = &analysis.Analyzer{
	Name: "prepaidcalls",
	Doc:  "find calls that move money (used by the rules of prepaidvet)",
	Run: func(pass *analysis.Pass) (any, error) {
		return find(pass), nil
	},
	ResultType: reflect.TypeFor[*Result](),
	FactTypes:  []analysis.Fact{new(user), new(wrapper), new(maker), new(rerun)},
}

// Standard reports whether a package is of the standard library. That library makes no payments, and rules know its functions by name.
func Standard(pass *analysis.Pass) bool {
	first, _, _ := strings.Cut(pass.Pkg.Path(), "/")
	return (pass.Module == nil || pass.Module.Path == "") && !strings.Contains(first, ".")
}

// user is the fact that a package imports the SDK, directly or indirectly.
type user struct{}

func (*user) AFact() {}

// wrapper is the fact that a function makes a money call for its caller and returns the error. Such a function is a money call too.
type wrapper struct{ Func }

func (*wrapper) AFact() {}

// Result is the analysis of a package.
type Result struct {
	// SSA is nil if the package does not use the SDK.
	SSA *ssa.Package
	// Funcs are the functions of the source with their literals, in source order.
	Funcs []*ssa.Function
	// Calls are the money calls, in source order.
	Calls []*Call

	// Pass is the pass of the rule that reads the result.
	Pass *analysis.Pass

	pass     *analysis.Pass // of Analyzer: it has the facts
	wrappers map[*ssa.Function]Func
	exprs    map[token.Pos]*ast.CallExpr // by their left parentheses
}

func find(pass *analysis.Pass) *Result {
	r := &Result{pass: pass}
	used := r.inUse()
	if used || !Standard(pass) {
		loops(pass)
	}
	if !used {
		return r
	}
	r.build()
	r.makes()
	r.wrap()
	for _, fn := range r.Funcs {
		r.Calls = append(r.Calls, r.in(fn)...)
	}
	return r
}

// inUse reports whether the package is of the SDK, or imports it, directly or indirectly.
func (r *Result) inUse() bool {
	used := OwnsPackage(r.pass.Pkg) || slices.ContainsFunc(r.pass.Pkg.Imports(), func(imported *types.Package) bool {
		return OwnsPackage(imported) || r.pass.ImportPackageFact(imported, new(user))
	})
	if used {
		r.pass.ExportPackageFact(new(user))
	}
	return used
}

// build makes the SSA form of the package. The analyzer buildssa would make it for the standard library too.
func (r *Result) build() {
	prog := ssa.NewProgram(r.pass.Fset, ssa.BuilderMode(0))
	prog.SetNoReturn(noReturn)
	for _, imported := range r.pass.Pkg.Imports() {
		prog.CreatePackage(imported, nil, nil, true)
	}
	r.SSA = prog.CreatePackage(r.pass.Pkg, r.pass.Files, r.pass.TypesInfo, false)
	r.SSA.Build()

	r.exprs = map[token.Pos]*ast.CallExpr{}
	var add func(*ssa.Function)
	add = func(fn *ssa.Function) {
		r.Funcs = append(r.Funcs, fn)
		for _, literal := range fn.AnonFuncs {
			add(literal)
		}
	}
	add(r.SSA.Func("init")) // for the literals in package variables
	for _, file := range r.pass.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok {
				if object, ok := r.pass.TypesInfo.Defs[decl.Name].(*types.Func); ok {
					add(prog.FuncValue(object))
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				r.exprs[call.Lparen] = call
			}
			return true
		})
	}
}

// noReturn are the functions that end the program or the goroutine.
func noReturn(fn *types.Func) bool {
	switch fn.FullName() {
	case "os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf", "log.Panicln",
		"(*log.Logger).Fatal", "(*log.Logger).Fatalf", "(*log.Logger).Fatalln", "runtime.Goexit":
		return true
	}
	return false
}
