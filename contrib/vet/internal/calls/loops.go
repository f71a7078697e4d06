package calls

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// loops finds the functions that run one of their parameters until it succeeds. It reads the syntax of any package: SSA exists
// only for packages that use the SDK, and such a function seldom uses the SDK.
func loops(pass *analysis.Pass) {
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			object, ok := pass.TypesInfo.Defs[decl.Name].(*types.Func)
			if !ok {
				continue
			}
			var bits uint64
			params := object.Signature().Params()
			for i := range params.Len() {
				f, ok := params.At(i).Type().Underlying().(*types.Signature)
				if !ok || f.Results().Len() == 0 || !IsError(f.Results().At(f.Results().Len()-1).Type()) {
					continue
				}
				if (&finder{pass.TypesInfo, params.At(i), pass}).in(decl.Body) {
					at := i
					if object.Signature().Recv() != nil {
						at++
					}
					bits |= 1 << min(at, 63)
				}
			}
			if bits != 0 {
				pass.ExportObjectFact(object, &rerun{bits})
			}
		}
	}
}

type finder struct {
	info  *types.Info
	param *types.Var
	pass  *analysis.Pass
}

// in reports whether a body passes the parameter to a retry library, or calls the parameter in a loop that ends on success.
func (f *finder) in(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || f.passed(n)
		case *ast.ForStmt:
			found = found || f.retried(n.Body)
		case *ast.RangeStmt:
			if basic, ok := f.info.TypeOf(n.X).Underlying().(*types.Basic); ok && basic.Info()&types.IsInteger != 0 {
				found = found || f.retried(n.Body)
			}
		}
		return !found
	})
	return found
}

// passed reports whether the parameter, or a literal that calls it, is passed to a retry library or a function with the fact rerun.
func (f *finder) passed(call *ast.CallExpr) bool {
	callee, _ := typeutil.Callee(f.info, call).(*types.Func)
	if callee == nil || callee.Pkg() == nil || !runner(callee) && !f.pass.ImportObjectFact(callee.Origin(), new(rerun)) {
		return false
	}
	for _, arg := range call.Args {
		uses := false
		ast.Inspect(arg, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			uses = uses || ok && f.info.Uses[id] == f.param
			return !uses
		})
		if uses {
			return true
		}
	}
	return false
}

// retried reports whether the body of a loop calls the parameter, and leaves the loop on success but not on an error.
func (f *finder) retried(body *ast.BlockStmt) bool {
	errs := map[types.Object]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || len(assign.Rhs) != 1 {
			return true
		}
		if call, ok := assign.Rhs[0].(*ast.CallExpr); ok && f.calls(call) {
			if id, ok := assign.Lhs[len(assign.Lhs)-1].(*ast.Ident); ok {
				errs[f.info.ObjectOf(id)] = true
			}
		}
		return true
	})
	success, stays := false, false
	ast.Inspect(body, func(n ast.Node) bool {
		branch, ok := n.(*ast.IfStmt)
		if !ok {
			return true
		}
		switch f.compared(branch.Cond, errs) {
		case token.EQL:
			success = success || leaves(branch.Body)
		case token.NEQ:
			stays = stays || !leaves(branch.Body)
		}
		return true
	})
	return success || stays && leaves(body)
}

func (f *finder) calls(call *ast.CallExpr) bool {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	return ok && f.info.Uses[id] == f.param
}

// compared returns the operator with which a condition compares the parameter's error with nil.
func (f *finder) compared(cond ast.Expr, errs map[types.Object]bool) token.Token {
	binary, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return token.ILLEGAL
	}
	if binary.Op == token.LOR || binary.Op == token.LAND { // "err == nil || attempt == last", "err != nil && attempt < last"
		return max(f.compared(binary.X, errs), f.compared(binary.Y, errs))
	}
	if id, ok := binary.Y.(*ast.Ident); !ok || id.Name != "nil" {
		return token.ILLEGAL
	}
	switch x := ast.Unparen(binary.X).(type) {
	case *ast.Ident:
		if errs[f.info.ObjectOf(x)] {
			return binary.Op
		}
	case *ast.CallExpr:
		if f.calls(x) {
			return binary.Op
		}
	}
	return token.ILLEGAL
}

// leaves reports whether a block ends by leaving the loop.
func leaves(block *ast.BlockStmt) bool {
	if len(block.List) == 0 {
		return false
	}
	switch last := block.List[len(block.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK
	}
	return false
}
