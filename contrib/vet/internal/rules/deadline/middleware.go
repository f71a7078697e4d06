package deadline

import (
	"go/ast"
	"go/types"
	"strings"
)

// bounds is the fact that a function, such as a middleware, gives a request's context a deadline, or uses such a function.
type bounds struct{}

func (*bounds) AFact()         {}
func (*bounds) String() string { return "gives requests a deadline" }

// bounded is the fact that a package has such a middleware, in a program that uses the SDK.
type bounded struct{}

func (*bounded) AFact()         {}
func (*bounded) String() string { return "has a middleware for deadlines" }

// middlewares finds such functions in the syntax of any package, because the middlewares of frameworks do not use the
// SDK. Such a function makes a context with a deadline, and a request with a context.
func (r *rule) middlewares(program bool) {
	info := r.pass.TypesInfo
	for again := true; again; { // again: a function may use a function that is found later
		again = false
		for _, file := range r.pass.Files {
			for _, decl := range file.Decls {
				within, _ := decl.(*ast.FuncDecl)
				var object *types.Func
				if within != nil {
					object, _ = info.Defs[within.Name].(*types.Func)
				}
				deadline, given, uses := false, false, false
				ast.Inspect(decl, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					if !ok {
						return true
					}
					used, ok := info.Uses[id].(*types.Func)
					if !ok || used.Pkg() == nil || used == object {
						return true
					}
					switch name := used.Name(); {
					case used.Pkg().Path() == "context":
						deadline = deadline || strings.HasPrefix(name, "WithTimeout") || strings.HasPrefix(name, "WithDeadline")
					case name == "WithContext", name == "SetRequest", name == "SetUserContext", name == "SetContext":
						given = true
					}
					uses = uses || used.FullName() == "net/http.TimeoutHandler" || r.pass.ImportObjectFact(used.Origin(), new(bounds))
					return true
				})
				if uses && program {
					r.pass.ExportPackageFact(new(bounded))
				}
				if object != nil && (uses || deadline && given) && !r.pass.ImportObjectFact(object, new(bounds)) {
					r.pass.ExportObjectFact(object, new(bounds))
					again = true
				}
			}
		}
	}
}
