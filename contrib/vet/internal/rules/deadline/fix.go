package deadline

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

func (r *rule) report(s site, message string) {
	r.Report(r.pass, analysis.Diagnostic{Pos: r.Pos(s.call), Message: message, SuggestedFixes: r.fix(s)})
}

// fix gives the call its own context, if the file imports the needed packages and the names are free.
func (r *rule) fix(s site) []analysis.SuggestedFix {
	call := r.Expr(s.call)
	if call == nil || s.context == nil {
		return nil
	}
	var arg ast.Expr
	for _, a := range call.Args {
		if made, ok := a.(*ast.CallExpr); ok && len(made.Args) == 0 && types.TypeString(r.pass.TypesInfo.TypeOf(a), nil) == "context.Context" {
			arg = made
		}
	}
	if arg == nil {
		return nil
	}
	scope := r.pass.Pkg.Scope().Innermost(call.Pos())
	for name, needed := range map[string]bool{"ctx": false, "cancel": false, "context": true, "time": true} {
		if _, found := scope.LookupParent(name, call.Pos()); (found != nil) != needed {
			return nil
		}
	}
	path := r.Enclosing(call)
	for i, node := range path {
		switch node.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.CaseClause, *ast.CommClause:
			return nil
		}
		_, ok := node.(*ast.BlockStmt)
		if !ok || i == 0 {
			continue
		}
		switch path[i+1].(type) {
		case *ast.FuncDecl, *ast.FuncLit:
		default:
			return nil
		}
		text := "ctx, cancel := context.WithTimeout(" + r.text(arg) + ", 2*time.Minute)\n\tdefer cancel()\n\t"
		return []analysis.SuggestedFix{{
			Message: "Give the call a deadline of its own",
			TextEdits: []analysis.TextEdit{
				{Pos: path[i-1].Pos(), End: path[i-1].Pos(), NewText: []byte(text)},
				{Pos: arg.Pos(), End: arg.End(), NewText: []byte("ctx")},
			},
		}}
	}
	return nil
}

// text is the expression of a context that outlives the request.
func (r *rule) text(arg ast.Expr) string {
	text := types.ExprString(arg)
	if fun, ok := arg.(*ast.CallExpr).Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "Context" {
		return "context.WithoutCancel(" + text + ")"
	}
	return text
}
