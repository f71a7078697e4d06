package calls

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// runners match the functions of libraries that run an argument again until it succeeds. The keys are the paths of their
// packages without the major version.
var runners = map[string]*regexp.Regexp{
	"github.com/cenkalti/backoff":       regexp.MustCompile(`^Retry`),
	"github.com/avast/retry-go":         regexp.MustCompile(`^Do`),
	"github.com/sethvargo/go-retry":     regexp.MustCompile(`^(Do|DoValue|Constant|Exponential|Fibonacci)$`),
	"k8s.io/client-go/util/retry":       regexp.MustCompile(`^(OnError|RetryOnConflict)$`),
	"k8s.io/apimachinery/pkg/util/wait": regexp.MustCompile(`^(ExponentialBackoff|Poll)`),
}

var major = regexp.MustCompile(`(/v[0-9]+|\.v[0-9]+)$`)

func unversioned(path string) string { return major.ReplaceAllString(path, "") }

func runner(callee *types.Func) bool {
	if callee == nil || callee.Pkg() == nil {
		return false
	}
	names, ok := runners[unversioned(callee.Pkg().Path())]
	return ok && names.MatchString(callee.Name())
}

// Reruns returns the functions that a call runs until they succeed. If a library or helper runs them, again is true.
func (r *Result) Reruns(instr ssa.CallInstruction) (list []*ssa.Function, again bool) {
	common := instr.Common()
	fact := new(rerun)
	callee := Callee(common)
	library := runner(callee)
	if !library && (callee == nil || !r.pass.ImportObjectFact(callee, fact)) {
		return nil, false
	}
	for i, arg := range common.Args {
		if library || fact.Params>>min(i, 63)&1 == 1 {
			for _, part := range r.Parts(arg, "") {
				if fn, ok := part.Value.(*ssa.Function); ok {
					list = append(list, fn)
				}
			}
		}
	}
	return list, true
}

// rerun is the fact that a function runs some of its parameters until they succeed.
type rerun struct{ Params uint64 }

func (*rerun) AFact() {}

// loops finds the functions that run one of their parameters until it succeeds. It reads the syntax of any package: SSA exists
// only for packages that use the SDK, and such a function seldom uses the SDK.
func loops(pass *analysis.Pass) {
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok && decl.Body != nil {
				object := pass.TypesInfo.Defs[decl.Name].(*types.Func)
				if found := rerunBy(pass, object.Signature(), decl.Body); found.Params != 0 {
					pass.ExportObjectFact(object, &found)
				}
			}
		}
	}
}

func rerunBy(pass *analysis.Pass, signature *types.Signature, body *ast.BlockStmt) (found rerun) {
	first := 0
	if signature.Recv() != nil {
		first = 1
	}
	for i := range signature.Params().Len() {
		param := signature.Params().At(i)
		if f, ok := param.Type().Underlying().(*types.Signature); ok && ReturnsError(f) && (&finder{pass, param}).in(body) {
			found.Params |= 1 << min(first+i, 63)
		}
	}
	return found
}

// ReturnsError reports whether the last result is an error.
func ReturnsError(f *types.Signature) bool {
	return f.Results().Len() > 0 && IsError(f.Results().At(f.Results().Len()-1).Type())
}

// Mentions reports whether code names an object.
func Mentions(pass *analysis.Pass, code ast.Node, object types.Object) bool {
	for n := range ast.Preorder(code) {
		if id, ok := n.(*ast.Ident); ok && pass.TypesInfo.ObjectOf(id) == object {
			return true
		}
	}
	return false
}

type finder struct {
	pass  *analysis.Pass
	param *types.Var
}

// in reports whether a body passes the parameter to a function that runs it again, or calls it in a loop that ends on success.
func (f *finder) in(body *ast.BlockStmt) (found bool) {
	for n := range ast.Preorder(body) {
		switch n := n.(type) {
		case *ast.CallExpr:
			callee, _ := typeutil.Callee(f.pass.TypesInfo, n).(*types.Func)
			again := callee != nil && (runner(callee) || f.pass.ImportObjectFact(callee.Origin(), new(rerun)))
			found = found || again && Mentions(f.pass, n, f.param)
		case *ast.ForStmt:
			found = found || f.retried(n.Body)
		case *ast.RangeStmt:
			basic, ok := f.pass.TypesInfo.TypeOf(n.X).Underlying().(*types.Basic)
			found = found || ok && basic.Info()&types.IsInteger != 0 && f.retried(n.Body)
		}
	}
	return found
}

// retried reports whether the body of a loop uses the parameter, and leaves the loop on success but not on an error.
func (f *finder) retried(body *ast.BlockStmt) bool {
	success, stays := false, false
	for n := range ast.Preorder(body) {
		if branch, ok := n.(*ast.IfStmt); ok {
			op := f.compares(branch.Cond)
			success = success || op == token.EQL && leaves(branch.Body)
			stays = stays || op == token.NEQ && !leaves(branch.Body)
		}
	}
	return (success || stays && leaves(body)) && Mentions(f.pass, body, f.param)
}

// compares returns the operator with which a condition compares an error with nil.
func (f *finder) compares(cond ast.Expr) token.Token {
	for n := range ast.Preorder(cond) {
		if binary, ok := n.(*ast.BinaryExpr); ok && f.pass.TypesInfo.Types[binary.Y].IsNil() && IsError(f.pass.TypesInfo.TypeOf(binary.X)) {
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
