package requestid

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// hoist is the fix for an ID made in the loop that sends it: the call moves in front of the loop, unless a goto there may
// send again.
func (r *rule) hoist(p calls.Part) []analysis.SuggestedFix {
	made, ok := p.Value.(*ssa.Call)
	if !ok || !calls.Calls(made.Common(), r.Model.Fresh) {
		return nil
	}
	const name = "requestID"
	call := r.Expr(made)
	if call == nil {
		return nil
	}
	for _, n := range r.Enclosing(call) {
		switch n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return nil
		case *ast.ForStmt, *ast.RangeStmt:
			if _, taken := r.pass.Pkg.Scope().Innermost(call.Pos()).LookupParent(name, call.Pos()); taken != nil || jumps(n) {
				return nil
			}
			return []analysis.SuggestedFix{{
				Message: "Make the request ID before the loop",
				TextEdits: []analysis.TextEdit{
					{Pos: n.Pos(), End: n.Pos(), NewText: []byte(name + " := " + types.ExprString(call) + "\n")},
					{Pos: call.Pos(), End: call.End(), NewText: []byte(name)},
				},
			}}
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
