// Package iterator is the rule that a program checks an iterator's error.
package iterator

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:     "iterator",
	Doc:      "report loops over a list of the service that ignore its error",
	URL:      calls.Prepaid().Guide + "#iterator",
	Requires: []*analysis.Analyzer{calls.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	found := calls.Of(pass)
	for cursor := range inspector.New(pass.Files).Root().Preorder((*ast.RangeStmt)(nil), (*ast.AssignStmt)(nil)) {
		loop, ok := cursor.Node().(*ast.RangeStmt)
		if !ok {
			collected(pass, found, cursor.Node())
			continue
		}
		if !list(pass, found, loop.X) {
			continue
		}
		id, named := loop.Value.(*ast.Ident)
		switch {
		case loop.Value == nil, named && id.Name == "_":
			found.Reportf(pass, loop.Pos(), "the loop has no variable for the error of the list: "+consequence)
		case named && ignored(pass, loop, pass.TypesInfo.ObjectOf(id)):
			found.Reportf(pass, loop.Value.Pos(), "the error of the list ends the loop and is forgotten: "+consequence)
		}
	}
	return nil, nil
}

const consequence = "an incomplete list would count as complete; return the error or record it"

// collected reports a list that is read into a slice without its error: "all, _ := prepaid.Collect(…)".
func collected(pass *analysis.Pass, found *calls.Result, statement ast.Node) {
	assign, ok := statement.(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 2 || len(assign.Rhs) != 1 || !blank(assign.Lhs[1]) {
		return
	}
	call, ok := ast.Unparen(assign.Rhs[0]).(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || !list(pass, found, call.Args[0]) {
		return
	}
	results, ok := pass.TypesInfo.TypeOf(call).(*types.Tuple)
	if ok && calls.IsError(results.At(1).Type()) {
		found.Reportf(pass, call.Pos(), "the error of the list is dropped: "+consequence)
	}
}

// list reports whether an expression is an iterator over values and an error, made by the SDK or with the SDK's types as values.
func list(pass *analysis.Pass, found *calls.Result, x ast.Expr) bool {
	signature, ok := pass.TypesInfo.TypeOf(x).Underlying().(*types.Signature)
	if !ok || signature.Params().Len() != 1 {
		return false
	}
	yield, ok := signature.Params().At(0).Type().Underlying().(*types.Signature)
	if !ok || yield.Params().Len() != 2 || !calls.IsError(yield.Params().At(1).Type()) {
		return false
	}
	if found.Model.Owns(yield.Params().At(0).Type()) {
		return true
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && found.Model.OwnsPackage(pass.TypesInfo.ObjectOf(selector.Sel).Pkg())
}

// ignored reports whether an error only serves to leave the loop or to skip its item.
func ignored(pass *analysis.Pass, loop *ast.RangeStmt, variable types.Object) bool {
	used := loop.Tok != token.DEFINE
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			plain := n.Init == nil && n.Else == nil
			if plain && onlyCompared(pass, n.Cond, token.NEQ, variable) && leaves(pass, n.Body, variable) {
				return false
			}
			if plain && onlyCompared(pass, n.Cond, token.EQL, variable) { // an item without an error is used
				used = used || uses(pass, n.Body, variable)
				return false
			}
		case *ast.AssignStmt:
			if blank(n.Lhs[0]) && is(pass, n.Rhs[0], variable) {
				return false
			}
		case *ast.Ident:
			used = used || is(pass, n, variable)
		}
		return true
	})
	return !used
}

func uses(pass *analysis.Pass, body *ast.BlockStmt, variable types.Object) bool {
	for n := range ast.Preorder(body) {
		if id, ok := n.(*ast.Ident); ok && is(pass, id, variable) {
			return true
		}
	}
	return false
}

// onlyCompared reports whether a condition only compares the error with nil.
func onlyCompared(pass *analysis.Pass, condition ast.Expr, op token.Token, variable types.Object) bool {
	compared, ok := ast.Unparen(condition).(*ast.BinaryExpr)
	if !ok || compared.Op != op {
		return false
	}
	value, ok := pass.TypesInfo.Types[compared.Y]
	return ok && value.IsNil() && is(pass, compared.X, variable)
}

// leaves reports whether a block, perhaps after a line in a log, only leaves the loop, continues it, or returns results that do
// not show the error.
func leaves(pass *analysis.Pass, body *ast.BlockStmt, variable types.Object) bool {
	if len(body.List) == 0 || uses(pass, body, variable) {
		return false
	}
	last := len(body.List) - 1
	for _, statement := range body.List[:last] {
		if !logs(pass, statement) {
			return false
		}
	}
	switch statement := body.List[last].(type) {
	case *ast.BranchStmt:
		return true
	case *ast.ReturnStmt:
		return !shows(pass, statement.Results)
	}
	return false
}

func logs(pass *analysis.Pass, statement ast.Stmt) bool {
	expression, ok := statement.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := expression.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	callee, _ := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
	return callee != nil && callee.Pkg() != nil && (callee.Pkg().Path() == "log" || callee.Pkg().Path() == "log/slog")
}

// shows reports whether results may show that the list is incomplete: an error, a call, a constant other than the zero
// value, or a false after another result.
func shows(pass *analysis.Pass, results []ast.Expr) bool {
	for i, result := range results {
		value := pass.TypesInfo.Types[result]
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

func is(pass *analysis.Pass, x ast.Expr, variable types.Object) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	return ok && pass.TypesInfo.ObjectOf(id) == variable
}

func blank(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "_"
}
