package requestid

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// helpers are the functions of a package that does not know the SDK which may make an ID, or call a function again. The SSA form is
// built only if there are any.
func (r *rule) helpers() []*ssa.Function {
	var found []*types.Func
	for _, file := range r.pass.Files {
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.FuncDecl)
			if !ok || decl.Body == nil || !decl.Name.IsExported() {
				continue
			}
			object, ok := r.pass.TypesInfo.Defs[decl.Name].(*types.Func)
			if ok && (r.returnsID(object, decl) || r.callsParam(object, decl)) {
				found = append(found, object)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	prog := ssa.NewProgram(r.pass.Fset, ssa.BuilderMode(0))
	for _, imported := range r.pass.Pkg.Imports() {
		prog.CreatePackage(imported, nil, nil, true)
	}
	prog.CreatePackage(r.pass.Pkg, r.pass.Files, r.pass.TypesInfo, false).Build()
	var list []*ssa.Function
	for _, object := range found {
		list = append(list, prog.FuncValue(object))
	}
	return list
}

// returnsID reports whether a function returns a text and calls a source of IDs.
func (r *rule) returnsID(object *types.Func, decl *ast.FuncDecl) bool {
	results := object.Signature().Results()
	if results.Len() == 0 {
		return false
	}
	basic, ok := results.At(0).Type().Underlying().(*types.Basic)
	return ok && basic.Kind() == types.String && r.contains(decl, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return false
		}
		callee, ok := r.pass.TypesInfo.Uses[id].(*types.Func)
		return ok && fresh(callee)
	})
}

// callsParam reports whether a function has a loop and calls a function that it was given.
func (r *rule) callsParam(object *types.Func, decl *ast.FuncDecl) bool {
	params := map[types.Object]bool{}
	for param := range object.Signature().Params().Variables() {
		if returnsError(param.Type()) {
			params[param] = true
		}
	}
	return len(params) > 0 && r.contains(decl, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return true
		}
		return false
	}) && r.contains(decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		id, ok := call.Fun.(*ast.Ident)
		return ok && params[r.pass.TypesInfo.Uses[id]]
	})
}

func (r *rule) contains(decl *ast.FuncDecl, what func(ast.Node) bool) bool {
	for n := range ast.Preorder(decl.Body) {
		if what(n) {
			return true
		}
	}
	return false
}
