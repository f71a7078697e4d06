package requestid

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
)

// hoist is the fix for an ID that is made in the loop which sends it: the call moves in front of the loop. A goto in the loop may be what
// sends again.
func (r *rule) hoist(f finding) []analysis.SuggestedFix {
	if f.send == nil || !f.direct || f.source.kind != maker || f.source.call == nil || f.send.own != nil {
		return nil
	}
	for _, file := range r.pass.Files {
		if file.FileStart > f.pos || f.pos >= file.FileEnd {
			continue
		}
		path, _ := astutil.PathEnclosingInterval(file, f.pos, f.pos)
		var call *ast.CallExpr
		for _, n := range path {
			switch n := n.(type) {
			case *ast.CallExpr:
				if call == nil && n.Lparen == f.source.call.Pos() && len(n.Args) == 0 {
					call = n
				}
			case *ast.FuncLit, *ast.FuncDecl:
				return nil
			case *ast.ForStmt, *ast.RangeStmt:
				if !jumps(n) {
					return r.moved(call, n)
				}
				return nil
			}
		}
	}
	return nil
}

func jumps(loop ast.Node) (found bool) {
	ast.Inspect(loop, func(n ast.Node) bool {
		branch, ok := n.(*ast.BranchStmt)
		found = found || ok && branch.Tok == token.GOTO
		return !found
	})
	return found
}

func (r *rule) moved(call *ast.CallExpr, loop ast.Node) []analysis.SuggestedFix {
	const name = "requestID"
	if call == nil || !free(r.pass.Pkg.Scope().Innermost(call.Pos()), name, call.Pos()) {
		return nil
	}
	return []analysis.SuggestedFix{{
		Message: "Make the request ID before the loop",
		TextEdits: []analysis.TextEdit{
			{Pos: loop.Pos(), End: loop.Pos(), NewText: []byte(name + " := " + types.ExprString(call) + "\n")},
			{Pos: call.Pos(), End: call.End(), NewText: []byte(name)},
		},
	}}
}

// free reports whether nothing has a name.
func free(scope *types.Scope, name string, at token.Pos) bool {
	if scope == nil {
		return false
	}
	_, found := scope.LookupParent(name, at)
	return found == nil
}
