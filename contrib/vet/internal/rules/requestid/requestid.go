// Package requestid is the rule that a payment that is sent again has the request ID of the first time, and that no request ID is
// made from the time or a random value.
package requestid

import (
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:      "requestid",
	Doc:       "report payments that are sent again under a new request ID, and request IDs made from the time or random values",
	URL:       calls.Prepaid().Guide + "#requestid",
	Requires:  []*analysis.Analyzer{calls.Analyzer},
	Run:       run,
	FactTypes: []analysis.Fact{new(sender), new(madeBy), new(repeater)},
}

// sender is the fact of a function that pays under a request ID that it makes itself: to call it again pays again. The lists have
// what is known of its results after a success, and after an error with unknown outcome.
type sender struct{ Succeeds, Fails []known }

func (*sender) AFact()         {}
func (*sender) String() string { return "sends under a new request ID" }

// madeBy is the fact of a function whose result is another one each time, or has another request ID.
type madeBy struct {
	Kind   kind
	Name   string
	Result int
	// Field is the path of the request ID in the result.
	Field string
}

func (*madeBy) AFact()         {}
func (*madeBy) String() string { return "makes an ID" }

// repeater is the fact of a function that calls the function which it is given again after an error.
type repeater struct{ Param int }

func (*repeater) AFact()         {}
func (*repeater) String() string { return "calls its parameter again after an error" }

type rule struct {
	pass     *analysis.Pass
	calls    *calls.Result
	funcs    []*ssa.Function
	matters  map[*ssa.Function]bool // are walked
	follow   map[*ssa.Function]bool // are followed as well
	outcomes map[string]string      // names by value
	live     map[*ssa.Function]liveness
	paying   map[*ssa.Function]map[*ssa.BasicBlock]bool // blocks from which a sending may be reached
}

func run(pass *analysis.Pass) (any, error) {
	r := &rule{pass: pass, calls: calls.Of(pass), outcomes: map[string]string{}, live: map[*ssa.Function]liveness{}, paying: map[*ssa.Function]map[*ssa.BasicBlock]bool{}}
	r.funcs = r.calls.Funcs
	switch {
	case r.inSDK(pass.Pkg), // which makes IDs, and whose functions the model has
		r.calls.SSA == nil && calls.Standard(pass):
		return nil, nil
	case r.calls.SSA == nil:
		r.funcs = r.helpers()
	}
	r.readOutcomes()
	r.relevant()
	all := &findings{sources: map[*source]bool{}}
	for _, fn := range r.funcs {
		if !r.matters[fn] || len(fn.Blocks) == 0 || strings.HasSuffix(pass.Fset.Position(fn.Pos()).Filename, "_test.go") {
			continue
		}
		w := &walk{rule: r, root: fn, seen: map[string]bool{}, found: newFindings()}
		w.start(fn)
		if w.steps <= maxSteps {
			r.export(fn, w.found)
			all.add(w.found)
		}
	}
	r.report(all)
	return nil, nil
}

func (r *rule) inSDK(pkg *types.Package) bool {
	return pkg != nil && slices.Contains(r.calls.Model.Packages, pkg.Path())
}

// readOutcomes finds the constants of outcomes.
func (r *rule) readOutcomes() {
	for _, pkg := range r.pass.Pkg.Imports() {
		if !r.inSDK(pkg) {
			continue
		}
		for _, name := range []string{"OutcomeUnknown", "OutcomeApplied", "OutcomeRejected", "OutcomeNotProcessed"} {
			if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() != constant.Unknown {
				r.outcomes[c.Val().ExactString()] = name
			}
		}
	}
}

// relevant finds the functions that pay or make a request ID, with their callers, which are walked; and those that return a text which is
// another one each time, or call a function that they were given, which are followed.
func (r *rule) relevant() {
	r.matters, r.follow = map[*ssa.Function]bool{}, map[*ssa.Function]bool{}
	callers := map[*ssa.Function][]*ssa.Function{}
	var pays, texts []*ssa.Function
	for _, fn := range r.funcs {
		if fn.Parent() != nil {
			callers[fn] = append(callers[fn], fn.Parent())
		}
		for _, block := range fn.Blocks {
			for _, instr := range block.Instrs {
				switch instr := instr.(type) {
				case ssa.CallInstruction:
					if r.starts(instr) {
						pays = append(pays, fn)
					}
					if callee := calls.Callee(instr.Common()); callee != nil && (fresh(callee) || r.pass.ImportObjectFact(callee, new(madeBy))) {
						texts = append(texts, fn)
					}
				case *ssa.ChangeType:
					if calls.Named(instr.Type(), r.calls.Model.ID) {
						pays = append(pays, fn)
					}
				case *ssa.Convert:
					if calls.Named(instr.Type(), r.calls.Model.ID) {
						pays = append(pays, fn)
					}
				}
				for _, operand := range instr.Operands(nil) {
					if callee, ok := (*operand).(*ssa.Function); ok {
						callers[callee] = append(callers[callee], fn)
					}
				}
			}
		}
		if slices.ContainsFunc(fn.Params, func(p *ssa.Parameter) bool { return returnsError(p.Type()) }) {
			r.follow[fn] = true
			r.matters[fn] = fn.Object() != nil && fn.Object().Exported()
		}
	}
	spread(r.matters, pays, callers, func(*ssa.Function) bool { return true })
	spread(r.follow, texts, callers, textual)
	for fn := range r.follow {
		if textual(fn) && fn.Object() != nil && fn.Object().Exported() {
			r.matters[fn] = true
		}
	}
}

// spread adds functions and their callers to a set.
func spread(set map[*ssa.Function]bool, next []*ssa.Function, callers map[*ssa.Function][]*ssa.Function, wanted func(*ssa.Function) bool) {
	done := map[*ssa.Function]bool{}
	for len(next) > 0 {
		fn := next[len(next)-1]
		next = next[:len(next)-1]
		if !done[fn] && wanted(fn) {
			done[fn], set[fn] = true, true
			next = append(next, callers[fn]...)
		}
	}
}

// textual reports whether the first result of a function may be an ID.
func textual(fn *ssa.Function) bool {
	results := fn.Signature.Results()
	if results.Len() == 0 {
		return false
	}
	switch t := results.At(0).Type().Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0
	case *types.Array, *types.Slice, *types.Struct:
		return true
	}
	return false
}

// starts reports whether a call pays or makes an ID.
func (r *rule) starts(instr ssa.CallInstruction) bool {
	if call := r.find(instr); call != nil && call.Kind == calls.Keyed {
		return true
	}
	callee := calls.Callee(instr.Common())
	if callee == nil {
		return false
	}
	return calls.Calls(instr.Common(), r.calls.Model.Fresh) || r.pass.ImportObjectFact(callee, new(sender))
}

// find returns the money call that an instruction is. There is none in a package that does not use the SDK.
func (r *rule) find(instr ssa.CallInstruction) *calls.Call {
	if r.calls.SSA == nil {
		return nil
	}
	return r.calls.Find(instr)
}

// fresh reports whether a function may return another value each time.
func fresh(callee *types.Func) bool {
	path := pathOf(callee)
	return isRandom(path) || path == "time" && callee.Name() == "Now"
}

// export tells other packages about a function.
func (r *rule) export(fn *ssa.Function, f *findings) {
	object, ok := fn.Object().(*types.Func)
	if !ok || !exported(fn) {
		return
	}
	results := fn.Signature.Results()
	if f.sends > 0 && f.sends == f.fresh && len(f.succeeds) == results.Len() && len(f.fails) == results.Len() {
		r.pass.ExportObjectFact(object, &sender{f.succeeds, f.fails})
	}
	for p, s := range f.again {
		if s.param >= 0 && !f.paid[p] {
			r.pass.ExportObjectFact(object, &repeater{s.param})
		}
	}
	if fact := makesID(f, results, r.calls.Model.ID); fact != nil {
		r.pass.ExportObjectFact(object, fact)
	}
}

// exported reports whether other packages learn about a function.
func exported(fn *ssa.Function) bool {
	return fn.Parent() == nil && fn.Object() != nil && fn.Object().Exported()
}

// makesID finds the result, or a field of it, that a function makes on each path without an error.
func makesID(f *findings, results *types.Tuple, id string) *madeBy {
	var fact *madeBy
	for _, returned := range f.returned {
		list := returned.parts
		if results.Len() == 1 {
			list = []value{returned}
		}
		if n := len(list); n > 1 && list[n-1].known == notNil && isError(results.At(n-1).Type()) {
			continue
		}
		var here *madeBy
		for i, v := range list {
			if i >= results.Len() || isError(results.At(i).Type()) {
				continue
			}
			if v.age == made && v.source != nil && len(v.fields) == 0 {
				here = &madeBy{v.source.kind, v.source.name, i, ""}
				break
			}
			if inner, ok := v.fields[".RequestID"]; ok && inner.age == made && inner.source != nil {
				here = &madeBy{inner.source.kind, inner.source.name, i, ".RequestID"}
				break
			}
		}
		if here == nil || fact != nil && *fact != *here {
			return nil
		}
		fact = here
	}
	return fact
}

// ofFact is the result of a function of another package.
func (w *walk) ofFact(fact *madeBy, callee *types.Func, instr ssa.CallInstruction, result value, st *state) value {
	fresh := w.made(fact.Kind, callee, instr, st)
	if fresh.parts != nil {
		fresh = fresh.parts[0]
	}
	if fact.Field != "" {
		whole := result
		whole.age, whole.source = result.age, nil
		whole.fields = map[string]value{fact.Field: fresh}
		fresh = whole
	}
	n := instr.Common().Signature().Results().Len()
	if n == 1 {
		return fresh
	}
	tuple := value{name: result.name, parts: make([]value, n)}
	for i := range tuple.parts {
		tuple.parts[i] = value{name: result.name, age: other, phase: st.phase}
	}
	tuple.parts[fact.Result] = fresh
	return tuple
}
