// Package deadline is the rule that a money call in an HTTP handler has a deadline.
package deadline

import (
	"fmt"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
	"github.com/cardprograms/prepaid/contrib/vet/internal/requests"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:      "deadline",
	Doc:       "report money calls in HTTP handlers whose context has no deadline",
	URL:       calls.Prepaid().Guide + "#deadline",
	Requires:  []*analysis.Analyzer{calls.Analyzer},
	Run:       run,
	FactTypes: []analysis.Fact{new(sends), new(derives), new(bounds), new(pending), new(bounded)},
}

// sends is the fact that a function makes a money call with a context without a deadline.
type sends struct {
	// Params has a bit for each parameter with such a context, counting the receiver. Always means that no argument can
	// set a deadline: the function uses another context, or WithoutCancel drops the deadline.
	Params uint64
	Always bool
	Call   string
}

func (*sends) AFact() {}
func (s *sends) String() string {
	if s.Always {
		return s.Call + " without a deadline"
	}
	return s.Call + " with the caller's context"
}

// derives is a fact about a function that returns a context: the origin of its deadline.
type derives struct{ Context origin }

func (*derives) AFact()           {}
func (d *derives) String() string { return fmt.Sprint("a context of origin ", int(d.Context)) }

// pending is a fact about a package: its handlers that make money calls with the contexts of their requests. Only the program
// shows whether a middleware gives these contexts a deadline.
type pending struct{ Sites []string }

func (*pending) AFact()           {}
func (p *pending) String() string { return fmt.Sprint(len(p.Sites), " without a deadline") }

type rule struct {
	*calls.Result
	pass     *analysis.Pass
	sent     map[*ssa.Function]*sends
	returned map[*ssa.Function]*derives
	waiting  []site
	// following are the contexts whose origin is being searched for.
	following map[ssa.Value]bool
}

type site struct {
	call    ssa.CallInstruction
	name    string
	context ssa.Value
}

func run(pass *analysis.Pass) (any, error) {
	r := &rule{Result: calls.Of(pass), pass: pass, sent: map[*ssa.Function]*sends{}, returned: map[*ssa.Function]*derives{}, following: map[ssa.Value]bool{}}
	if r.SSA != nil || !calls.Standard(pass) {
		r.middlewares(r.SSA != nil)
	}
	if r.SSA == nil {
		return nil, nil
	}
	for _, fn := range r.Funcs {
		if object, ok := fn.Object().(*types.Func); ok && fn.Parent() == nil {
			if s := r.summary(fn); s.Always || s.Params != 0 {
				pass.ExportObjectFact(object, s)
			}
			if d := r.result(fn); d.Context != unknown {
				pass.ExportObjectFact(object, d)
			}
		}
		r.look(fn)
	}
	r.wait()
	return nil, nil
}

const wrong = ": the handler waits for as long as all repeats take, and the client cannot see whether there is time to send a transfer again; " +
	"give the call context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute), or less, and let a worker send the same params again"

// look reports the money calls in a function that certainly have no deadline. It notes those for which a middleware may set a deadline.
func (r *rule) look(fn *ssa.Function) {
	handles := requests.Handles(fn)
	for _, s := range r.sites(fn) {
		from := unbounded
		if s.context != nil {
			from = r.origin(s.context)
		}
		switch {
		case from == request:
			r.waiting = append(r.waiting, s)
		case from == unbounded && handles:
			r.report(s, s.name+" is called in an HTTP handler with a context that has no deadline"+wrong)
		}
	}
}

// wait reports the noted sites of a program and its imports if no middleware sets deadlines. Other packages export their sites.
func (r *rule) wait() {
	if r.pass.Pkg.Name() != "main" {
		var sites []string
		collect := *r.pass
		for _, s := range r.waiting {
			collect.Report = func(d analysis.Diagnostic) { // of sites that are not suppressed
				if d.Pos != r.Pos(s.call) {
					r.pass.Report(d)
					return
				}
				at := r.pass.Fset.Position(d.Pos)
				sites = append(sites, fmt.Sprintf("%s at %s:%d", s.name, filepath.Base(at.Filename), at.Line))
			}
			r.Reportf(&collect, r.Pos(s.call), "")
		}
		if len(sites) > 0 {
			r.pass.ExportPackageFact(&pending{sites})
		}
		return
	}
	for _, fact := range r.pass.AllPackageFacts() {
		if _, ok := fact.Fact.(*bounded); ok {
			return
		}
	}
	const requested = " is called with the context of the HTTP request, which has no deadline: no time-out of http.Server sets one, and it ends when the browser disconnects"
	for _, s := range r.waiting {
		r.report(s, s.name+requested+wrong)
	}
	main := r.SSA.Func("main")
	for _, fact := range r.pass.AllPackageFacts() {
		if p, ok := fact.Fact.(*pending); ok && main != nil && fact.Package != r.pass.Pkg {
			for _, s := range p.Sites {
				r.Reportf(r.pass, main.Pos(), "in package "+fact.Package.Name()+", "+s+requested+wrong)
			}
		}
	}
}

// sites are the money calls in a function, and its calls of functions that make money calls with their own context or a parameter's.
func (r *rule) sites(fn *ssa.Function) []site {
	var found []site
	for call := range calls.All[ssa.CallInstruction](fn) {
		common := call.Common()
		if money := r.Find(call); money != nil && !money.Wrapper {
			if ctx := contextOf(common.Args); ctx != nil && money.Kind.Sends() {
				found = append(found, site{call, money.Name, ctx})
			}
			continue
		}
		s := calls.Summary(r.pass, common, r.summary)
		if s.Always {
			found = append(found, site{call, s.Call, nil})
		}
		for i, arg := range common.Args {
			if !s.Always && s.Params>>min(i, 63)&1 == 1 {
				found = append(found, site{call, s.Call, arg})
			}
		}
	}
	return found
}

func contextOf(args []ssa.Value) ssa.Value {
	for _, arg := range args {
		if calls.Named(arg.Type(), "context.Context") {
			return arg
		}
	}
	return nil
}

// summary is the use of contexts in a function of this package, including its literals.
func (r *rule) summary(fn *ssa.Function) *sends {
	if s, ok := r.sent[fn]; ok {
		return s
	}
	s := new(sends)
	r.sent[fn] = s
	if requests.Handles(fn) {
		return s // reported in fn
	}
	var add func(in *ssa.Function)
	add = func(in *ssa.Function) {
		for _, at := range r.sites(in) {
			from := unbounded
			if at.context != nil {
				from = r.origin(at.context)
			}
			switch {
			case from == unbounded:
				s.Always, s.Call = true, at.name
			case from >= 0: // a parameter of fn, even in a literal
				s.Params |= 1 << min(from, 63)
				s.Call = at.name
			}
		}
		for _, literal := range in.AnonFuncs {
			add(literal)
		}
	}
	add(fn)
	return s
}
