// Package requestid is the rule that a payment that is sent again has the request ID of the first time, and that no request ID is
// made from the time or a random value.
package requestid

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"

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
	matters  map[*ssa.Function]bool
	outcomes map[string]string // names by value
}

func run(pass *analysis.Pass) (any, error) {
	r := &rule{pass: pass, calls: calls.Of(pass), outcomes: map[string]string{}}
	r.funcs = r.calls.Funcs
	if r.calls.SSA == nil {
		r.funcs = r.helpers()
	}
	r.readOutcomes()
	r.relevant()
	all := &findings{sources: map[*source]bool{}}
	for _, fn := range r.funcs {
		if !r.matters[fn] || len(fn.Blocks) == 0 {
			continue
		}
		w := &walk{rule: r, root: fn, seen: map[string]bool{}, found: newFindings()}
		w.start(fn)
		if w.steps <= maxSteps {
			r.export(fn, w.found)
			all.add(w.found)
		}
	}
	if !r.inSDK(pass.Pkg) { // which makes IDs
		r.report(all)
	}
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

// relevant finds the functions that pay, make an ID, or call such functions; that call a function which they are given; and that
// judge an error.
func (r *rule) relevant() {
	r.matters = map[*ssa.Function]bool{}
	callers := map[*ssa.Function][]*ssa.Function{}
	var next []*ssa.Function
	mark := func(fn *ssa.Function) {
		if !r.matters[fn] {
			r.matters[fn] = true
			next = append(next, fn)
		}
	}
	for _, fn := range r.funcs {
		if fn.Parent() != nil {
			callers[fn] = append(callers[fn], fn.Parent())
		}
		for _, block := range fn.Blocks {
			for _, instr := range block.Instrs {
				if call, ok := instr.(ssa.CallInstruction); ok && r.starts(call) {
					mark(fn)
				}
				if v, ok := instr.(ssa.Value); ok && calls.Named(v.Type(), r.calls.Model.ID) {
					mark(fn)
				}
				for _, operand := range instr.Operands(nil) {
					if callee, ok := (*operand).(*ssa.Function); ok && *operand != nil {
						callers[callee] = append(callers[callee], fn)
					}
				}
			}
		}
		for _, param := range fn.Params {
			if returnsError(param.Type()) {
				mark(fn)
			}
		}
	}
	for len(next) > 0 {
		fn := next[len(next)-1]
		next = next[:len(next)-1]
		for _, caller := range callers[fn] {
			mark(caller)
		}
	}
}

// starts reports whether a call pays or makes an ID.
func (r *rule) starts(instr ssa.CallInstruction) bool {
	if call := r.calls.Find(instr); call != nil && call.Kind == calls.Keyed {
		return true
	}
	callee := calls.Callee(instr.Common())
	if callee == nil {
		return false
	}
	return fresh(callee) ||
		calls.Calls(instr.Common(), r.calls.Model.Fresh) || r.pass.ImportObjectFact(callee, new(sender)) || r.pass.ImportObjectFact(callee, new(madeBy))
}

// fresh reports whether a function may return another value each time.
func fresh(callee *types.Func) bool {
	path := pathOf(callee)
	return isRandom(path) || path == "time" && callee.Name() == "Now"
}

// pair are two sendings, one after the other.
type pair struct{ first, second ssa.Instruction }

// findings are those of one walk, or of all.
type findings struct {
	paid  map[pair]bool
	again map[pair]*sending
	sites map[ssa.Instruction]*site

	sends, fresh       int
	succeeds, fails    []known
	ended              bool
	returned           []value
	returns, different int

	sources map[*source]bool
	list    []finding
}

// site is a place where a text becomes a request ID.
type site struct {
	at            ssa.Instruction
	source        *source
	direct, other bool
}

type finding struct {
	pos, end token.Pos
	from     token.Pos // the source, which is reported once
	message  string
	source   *source
	send     *sending
	direct   bool
}

func newFindings() *findings {
	return &findings{paid: map[pair]bool{}, again: map[pair]*sending{}, sites: map[ssa.Instruction]*site{}}
}

func (f *findings) converted(at, instr ssa.Instruction, direct bool, from *source) {
	s := f.sites[at]
	if s == nil {
		s = &site{at: at, direct: direct}
		f.sites[at] = s
	}
	if from == nil {
		s.other = true
	} else {
		s.source = from
	}
}

// sent notes a sending of phase 0.
func (f *findings) sent(s *sending, st *state) {
	f.sends++
	if st.guarded || s.id.ageIn(0) != made || s.id.source == nil {
		return
	}
	for _, v := range s.payment {
		if v.ageIn(0) == other {
			return
		}
	}
	f.fresh++
}

// end notes what the root returns.
func (w *walk) end(st *state, result value) {
	f := w.found
	list := result.parts
	if n := w.root.Signature.Results().Len(); n == 1 {
		list = []value{result}
	}
	if st.phase == 0 {
		f.returns++
		f.returned = append(f.returned, result)
		return
	}
	to := &f.succeeds
	if st.failed {
		to = &f.fails
	}
	if *to == nil {
		*to = make([]known, 0, len(list))
		for _, v := range list {
			*to = append(*to, v.known)
		}
		return
	}
	for i, v := range list {
		if i < len(*to) && (*to)[i] != v.known {
			(*to)[i] = anything
		}
	}
}

// export tells other packages about a function.
func (r *rule) export(fn *ssa.Function, f *findings) {
	object, ok := fn.Object().(*types.Func)
	if !ok || !object.Exported() || fn.Parent() != nil {
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

// add takes over what a walk has found.
func (f *findings) add(of *findings) {
	for p, s := range of.again {
		if of.paid[p] || s.param >= 0 {
			continue
		}
		at := s.id.source
		if at == nil {
			continue
		}
		pos := at.pos
		if at.kind == counter {
			pos = s.at.Pos()
		}
		f.list = append(f.list, finding{pos: pos, from: pos, source: at, send: s, direct: s.outer == s.at, message: repeated(s)})
	}
	for _, s := range of.sites {
		if s.other || s.source == nil {
			continue
		}
		f.list = append(f.list, finding{pos: s.at.Pos(), from: s.source.pos, source: s.source, direct: s.direct, message: undated(s.source)})
	}
}

func repeated(s *sending) string {
	const cost = " after an error: if the first one has moved the money, it moves twice; "
	switch {
	case s.own != nil:
		return s.name + " makes a new request ID each time, and is called again" + cost + "make the ID once, store it, and pass it in"
	case s.id.source.kind == counter:
		return "the payment is sent again under a request ID with the number of the attempt" + cost + "leave the number out"
	}
	return "the payment is sent again under a new request ID" + cost + "make the ID once, before the first sending, and store it"
}

func undated(s *source) string {
	what := "a random value"
	if s.kind == clock {
		what = "the time"
	}
	return "request ID made from " + what + " (" + s.name + "): a run that repeats the payment makes another ID and pays twice, and the client " +
		"cannot refuse an ID without a day when the service has forgotten it; use DeriveRequestID, or NewRequestID and store it"
}

// report reports each source once.
func (r *rule) report(all *findings) {
	slices.SortStableFunc(all.list, func(a, b finding) int {
		return cmp.Or(-compare(a.direct, b.direct), cmp.Compare(a.pos, b.pos))
	})
	done := map[token.Pos]bool{}
	for _, f := range all.list {
		if !f.pos.IsValid() || done[f.from] || done[f.pos] {
			continue
		}
		done[f.from], done[f.pos] = true, true
		r.calls.Report(r.pass, analysis.Diagnostic{Pos: f.pos, Message: f.message})
	}
}

func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

var _ ast.Node
