// Package outcome is the rule that the error of a money call is returned or recorded.
package outcome

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

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
		for _, block := range fn.Blocks {
			for _, instr := range block.Instrs {
				compared(pass, found, instr)
			}
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
				SuggestedFixes: fixes(pass, call),
			})
		case call.Kind == calls.Record: // nothing was sent: a failure has no other information
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
func fixes(pass *analysis.Pass, call *calls.Call) []analysis.SuggestedFix {
	if call.Expr == nil {
		return nil
	}
	for _, file := range pass.Files {
		if file.FileStart <= call.Expr.Pos() && call.Expr.Pos() < file.FileEnd {
			return fix(pass, file, call)
		}
	}
	return nil
}

func fix(pass *analysis.Pass, file *ast.File, call *calls.Call) []analysis.SuggestedFix {
	signature, ok := call.In.Signature, call.In.Synthetic == ""
	if !ok || signature.Results().Len() != 1 || !types.Identical(signature.Results().At(0).Type(), types.Universe.Lookup("error").Type()) {
		return nil
	}
	var statement ast.Stmt
	looped := false
	var stack []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		if n == call.Expr {
			statement, looped = around(stack)
		}
		return true
	})
	if statement == nil || looped {
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

// around returns the statement that consists of the call at the end of the stack, with its results dropped. The result
// looped reports that a loop contains the statement.
func around(stack []ast.Node) (statement ast.Stmt, looped bool) {
	if len(stack) < 3 {
		return nil, false
	}
	switch parent := stack[len(stack)-2].(type) {
	case *ast.ExprStmt:
		statement = parent
	case *ast.AssignStmt:
		for _, left := range parent.Lhs {
			if id, ok := left.(*ast.Ident); !ok || id.Name != "_" {
				return nil, false
			}
		}
		statement = parent
	}
	if _, ok := stack[len(stack)-3].(*ast.BlockStmt); !ok {
		return nil, false // "if pay(); ok {"
	}
	for i := len(stack) - 3; i >= 0; i-- {
		switch stack[i].(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return statement, true
		case *ast.FuncDecl, *ast.FuncLit:
			return statement, false
		}
	}
	return statement, false
}

// indent are the tabs before a statement, as gofmt writes them.
func indent(pass *analysis.Pass, at token.Pos) string {
	column := pass.Fset.Position(at).Column
	tabs := make([]byte, max(column-1, 0))
	for i := range tabs {
		tabs[i] = '\t'
	}
	return string(tabs)
}
