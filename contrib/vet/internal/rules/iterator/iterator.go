// Package iterator is the rule that a program checks an iterator's error.
package iterator

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = calls.Rule("iterator", "report loops over a list of the service that ignore its error", run)

func run(found *calls.Result) {
	for cursor := range inspector.New(found.Pass.Files).Root().Preorder((*ast.RangeStmt)(nil), (*ast.AssignStmt)(nil)) {
		loop, ok := cursor.Node().(*ast.RangeStmt)
		if !ok {
			collected(found, cursor.Node())
			continue
		}
		if !list(found, loop.X) {
			continue
		}
		id, named := loop.Value.(*ast.Ident)
		switch {
		case loop.Value == nil, named && id.Name == "_":
			found.Report(loop.Pos(), "the loop has no variable for the error of the list: "+consequence)
		case named && ignored(found, loop, found.Pass.TypesInfo.ObjectOf(id)):
			found.Report(loop.Value.Pos(), "the error of the list ends the loop and is forgotten: "+consequence)
		}
	}
}

const consequence = "an incomplete list would count as complete; return the error or record it"

// collected reports a list that is read into a slice without its error: "all, _ := prepaid.Collect(…)".
func collected(found *calls.Result, statement ast.Node) {
	assign, ok := statement.(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 || len(assign.Rhs) != 1 || !blank(assign.Lhs[1]) {
		return
	}
	call, ok := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || !list(found, call.Args[0]) {
		return
	}
	results, ok := found.Pass.TypesInfo.TypeOf(call).(*types.Tuple)
	if ok && calls.IsError(results.At(1).Type()) {
		found.Report(call.Pos(), "the error of the list is dropped: "+consequence)
	}
}

// list reports whether an expression is an iterator over values and an error, made by the SDK or with the SDK's types as values.
func list(found *calls.Result, x ast.Expr) bool {
	signature, ok := found.Pass.TypesInfo.TypeOf(x).Underlying().(*types.Signature)
	if !ok || signature.Params().Len() != 1 {
		return false
	}
	yield, ok := signature.Params().At(0).Type().Underlying().(*types.Signature)
	if !ok || yield.Params().Len() != 2 || !calls.IsError(yield.Params().At(1).Type()) {
		return false
	}
	if calls.Owns(yield.Params().At(0).Type()) {
		return true
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && calls.OwnsPackage(found.Pass.TypesInfo.ObjectOf(selector.Sel).Pkg())
}

// ignored reports whether an error only serves to leave the loop or to skip its item.
func ignored(found *calls.Result, loop *ast.RangeStmt, variable types.Object) bool {
	used := loop.Tok != token.DEFINE
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			another, ok := n.Init.(*ast.AssignStmt)
			if ok && slices.ContainsFunc(another.Lhs, func(x ast.Expr) bool { return is(found, x, variable) }) &&
				!slices.ContainsFunc(another.Rhs, func(x ast.Expr) bool { return calls.Mentions(found.Pass, x, variable) }) {
				return false // the variable has another error there
			}
			plain := n.Init == nil && n.Else == nil
			if plain && onlyCompared(found, n.Cond, token.NEQ, variable) && leaves(found, n.Body, variable) {
				return false
			}
			if plain && onlyCompared(found, n.Cond, token.EQL, variable) { // an item without an error is used
				used = used || calls.Mentions(found.Pass, n.Body, variable)
				return false
			}
		case *ast.Ident:
			used = used || is(found, n, variable)
		}
		return true
	})
	return !used
}

// onlyCompared reports whether a condition only compares the error with nil, perhaps before "&&" and another condition.
func onlyCompared(found *calls.Result, condition ast.Expr, op token.Token, variable types.Object) bool {
	compared, ok := ast.Unparen(condition).(*ast.BinaryExpr)
	if ok && op == token.EQL && compared.Op == token.LAND && !calls.Mentions(found.Pass, compared.Y, variable) {
		return onlyCompared(found, compared.X, op, variable)
	}
	if !ok || compared.Op != op {
		return false
	}
	value, ok := found.Pass.TypesInfo.Types[compared.Y]
	return ok && value.IsNil() && is(found, compared.X, variable)
}

// leaves reports whether a block, perhaps after a line in a log, only leaves the loop, continues it, or returns results that do
// not show the error.
func leaves(found *calls.Result, body *ast.BlockStmt, variable types.Object) bool {
	if len(body.List) == 0 || calls.Mentions(found.Pass, body, variable) {
		return false
	}
	last := len(body.List) - 1
	for _, statement := range body.List[:last] {
		if !logs(found, statement) {
			return false
		}
	}
	switch statement := body.List[last].(type) {
	case *ast.BranchStmt:
		return true
	case *ast.ReturnStmt:
		return !shows(found, statement.Results)
	}
	return false
}

func logs(found *calls.Result, statement ast.Stmt) bool {
	expression, ok := statement.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := expression.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	callee, _ := typeutil.Callee(found.Pass.TypesInfo, call).(*types.Func)
	return callee != nil && callee.Pkg() != nil && (callee.Pkg().Path() == "log" || callee.Pkg().Path() == "log/slog")
}

// shows reports whether results may show that the list is incomplete: an error, a call, a constant other than the zero
// value, or a false after another result.
func shows(found *calls.Result, results []ast.Expr) bool {
	for i, result := range results {
		value := found.Pass.TypesInfo.Types[result]
		_, computed := ast.Unparen(result).(*ast.CallExpr)
		switch {
		case value.Value == nil:
			if computed || !value.IsNil() && calls.IsError(value.Type) {
				return true
			}
		case i > 0 && value.Value.Kind() == constant.Bool, !slices.Contains([]string{"false", "0", `""`}, value.Value.ExactString()):
			return true
		}
	}
	return false
}

func is(found *calls.Result, x ast.Expr, variable types.Object) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	return ok && found.Pass.TypesInfo.ObjectOf(id) == variable
}

func blank(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "_"
}
