// Package outcome is the rule that the error of a money call is returned or recorded.
package outcome

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:     "outcome",
	Doc:      "report errors of money calls that are dropped, or taken for a failure",
	URL:      calls.Prepaid().Guide + "#outcome",
	Requires: []*analysis.Analyzer{calls.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	found := calls.Of(pass)
	for _, fn := range found.Funcs {
		for instr := range calls.All[ssa.Instruction](fn) {
			compared(pass, found, instr)
		}
	}
	for _, call := range found.Calls {
		after(pass, found, call)
		if call.Err == calls.None || call.Recorded {
			continue
		}
		value := call.Value(call.Err)
		switch {
		case value == nil:
			found.Report(pass, analysis.Diagnostic{
				Pos: call.Pos(), Message: "the error of " + call.Name + " is dropped: " + consequence(call.Kind),
				SuggestedFixes: fixes(pass, found, call),
			})
		case call.Kind == calls.Record: // nothing was sent: a comparison with nil shows everything
		case !call.Forgotten():
		case !calls.FateOf(value).Used:
			found.Reportf(pass, call.Pos(), "the error of "+call.Name+" is only compared with nil: "+consequence(call.Kind))
		default:
			found.Reportf(pass, call.Pos(), "the error of "+call.Name+" is forgotten on some path: "+consequence(call.Kind))
		}
	}
	return nil, nil
}

func consequence(kind calls.Kind) string {
	switch kind {
	case calls.Creation:
		return "the account may exist, and the next try creates a second one; return it or record it"
	case calls.Record:
		return "the program goes on as if the payment or the decision were stored; return it or record it"
	case calls.Keyed, calls.Unkeyed:
	}
	return "the money may have moved, and nothing records it; return it, record it or ask prepaid.OutcomeOf"
}

// fixes suggests an edit that returns the error to the caller, if the function returns nothing else and the call is for one payment.
func fixes(pass *analysis.Pass, found *calls.Result, call *calls.Call) []analysis.SuggestedFix {
	results := call.In.Signature.Results()
	if call.Expr == nil || call.In.Synthetic != "" || results.Len() != 1 || !calls.IsError(results.At(0).Type()) {
		return nil
	}
	statement := dropping(found.Enclosing(call.Expr))
	if statement == nil {
		return nil
	}
	var before strings.Builder
	before.WriteString("if ")
	for i := range call.Instr.Common().Signature().Results().Len() {
		if i > 0 {
			before.WriteString(", ")
		}
		if i == call.Err {
			before.WriteString("err")
		} else {
			before.WriteString("_")
		}
	}
	return []analysis.SuggestedFix{{
		Message: "return the error",
		TextEdits: []analysis.TextEdit{
			{Pos: statement.Pos(), End: call.Expr.Pos(), NewText: []byte(before.String() + " := ")},
			{Pos: call.Expr.End(), End: statement.End(), NewText: []byte("; err != nil {\n" + indent(pass, statement.Pos()) + "\treturn err\n" + indent(pass, statement.Pos()) + "}")},
		},
	}}
}

// dropping returns the statement that makes the call path[0] and drops its results; nil if it is in a loop.
func dropping(path []ast.Node) ast.Node {
	if assign, ok := path[1].(*ast.AssignStmt); ok {
		for _, left := range assign.Lhs {
			if id, ok := left.(*ast.Ident); !ok || id.Name != "_" {
				return nil
			}
		}
	} else if _, ok := path[1].(*ast.ExprStmt); !ok {
		return nil
	}
	if _, ok := path[2].(*ast.BlockStmt); !ok {
		return nil // "if pay(); ok {"
	}
	for _, node := range path[2:] {
		switch node.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return nil
		case *ast.FuncDecl, *ast.FuncLit:
			return path[1]
		}
	}
	return nil
}

// indent are the tabs before a statement, as gofmt writes them.
func indent(pass *analysis.Pass, at token.Pos) string {
	return strings.Repeat("\t", max(pass.Fset.Position(at).Column-1, 0))
}
