// Package secret is the rule that the text of a secret is not printed.
package secret

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:      "secret",
	Doc:       "report secrets that are printed, and personal data that is logged or put into an error",
	URL:       calls.Prepaid().Guide + "#secret",
	Requires:  []*analysis.Analyzer{calls.Analyzer},
	Run:       run,
	FactTypes: []analysis.Fact{new(flow)},
}

// flow is a fact about a function: its use of secrets. Bit i is for result or parameter i, the receiver first.
type flow struct {
	// Reveals are the results that have the text of a secret.
	Reveals uint64
	// Through are the parameters in the first result. Prints are those that are printed, Logs those printed to a log or an error.
	Through, Prints, Logs uint64
}

func (*flow) AFact() {}
func (f *flow) String() string {
	var does []string
	for _, part := range []struct {
		bits uint64
		what string
	}{{f.Reveals, "reveals a secret"}, {f.Through, "passes text on"}, {f.Prints, "prints text"}} {
		if part.bits != 0 {
			does = append(does, part.what)
		}
	}
	return strings.Join(does, ", ")
}

func run(pass *analysis.Pass) (any, error) {
	found := calls.Of(pass)
	if found.SSA == nil {
		return nil, nil
	}
	t := &tracer{pass: pass, found: found, flows: map[*ssa.Function]*flow{}}
	reported := map[token.Pos]bool{}
	for _, fn := range found.Funcs {
		if object, ok := fn.Object().(*types.Func); ok && fn.Parent() == nil {
			if f := t.flow(fn); *f != (flow{}) {
				pass.ExportObjectFact(object, f)
			}
		}
		for _, source := range t.sources(fn) {
			for _, at := range t.follow(source.value).prints {
				if reported[at.pos] || source.personal && !at.stays() {
					continue
				}
				reported[at.pos] = true
				if source.personal {
					found.Reportf(pass, at.pos, "personal data or a body ("+source.name+") goes into "+at.into+
						": it stays there, with all who can read it; log the ID, a status or a length, or the struct itself, which shows none of it")
					continue
				}
				found.Report(pass, analysis.Diagnostic{
					Pos: at.pos,
					Message: "the text of a secret (" + source.name + ") goes into " + at.into +
						": it stays in logs, with all who can read them; print the Secret itself, which shows as [REDACTED]",
					SuggestedFixes: t.unrevealed(source, at),
				})
			}
		}
	}
	return nil, nil
}

// unrevealed is the fix that prints the Secret, not its text.
func (t *tracer) unrevealed(from source, at printing) []analysis.SuggestedFix {
	call := t.found.Expr(from.call)
	if call == nil || !at.any(from.call) {
		return nil
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Reveal" {
		return nil
	}
	return []analysis.SuggestedFix{{
		Message:   "Print the Secret itself",
		TextEdits: []analysis.TextEdit{{Pos: method.X.End(), End: call.End()}},
	}}
}

// source is a value with the text of a secret.
type source struct {
	name  string
	value ssa.Value
	call  *ssa.Call
	// personal data may be shown to a user, but not be kept in a log or an error.
	personal bool
}

// sources returns the results of calls in fn that reveal a secret, and the personal data that fn reads.
func (t *tracer) sources(fn *ssa.Function) []source {
	var found []source
	for field := range calls.All[*ssa.FieldAddr](fn) {
		found = append(found, t.read(field)...)
	}
	for call := range calls.All[*ssa.Call](fn) {
		if calls.Calls(call.Common(), []string{"encoding/json.Marshal", "encoding/json.MarshalIndent"}) {
			if boxed, ok := call.Call.Args[0].(*ssa.MakeInterface); ok && t.found.Model.HasPrivate(boxed.X.Type()) {
				name := boxed.X.Type().String()
				found = append(found, source{"JSON of " + name[strings.LastIndex(name, ".")+1:], calls.ResultOf(call, 0), call, true})
			}
		}
		callee := calls.Callee(call.Common())
		if callee == nil {
			continue
		}
		reveals := t.of(call.Common()).Reveals
		if calls.Calls(call.Common(), t.found.Model.Reveal) {
			reveals = 1
		}
		for i := range call.Common().Signature().Results().Len() {
			if reveals>>i&1 == 1 {
				found = append(found, source{name(callee), calls.ResultOf(call, i), call, false})
			}
		}
	}
	return slices.DeleteFunc(found, func(s source) bool { return s.value == nil })
}

// read returns the values read from a field that has personal data.
func (t *tracer) read(field *ssa.FieldAddr) (found []source) {
	name := t.found.Model.Private(field.X.Type(), field.Field)
	for _, ref := range *field.Referrers() {
		if load, ok := ref.(*ssa.UnOp); ok && name != "" {
			found = append(found, source{name, load, nil, true})
		}
	}
	return found
}

// name is a function's name with its type or package.
func name(fn *types.Func) string {
	if fn == nil {
		return "a function literal"
	}
	if recv := fn.Signature().Recv(); recv != nil {
		return strings.TrimPrefix(calls.TypeBase(recv.Type())+"."+fn.Name(), ".")
	}
	return fn.Pkg().Name() + "." + fn.Name()
}
