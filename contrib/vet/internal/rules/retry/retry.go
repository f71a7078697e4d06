// Package retry is the rule that only the client, or a program that checks the outcome, repeats a money call.
package retry

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:     "retry",
	Doc:      "report money calls that are repeated without their outcome",
	URL:      calls.Prepaid().Guide + "#retry",
	Requires: []*analysis.Analyzer{calls.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	r := &rule{calls.Of(pass), pass}
	for _, call := range r.Calls {
		if call.Kind == calls.Unkeyed || call.Kind == calls.Creation {
			r.again(call)
		}
	}
	for _, fn := range r.Funcs {
		for call := range calls.All[ssa.CallInstruction](fn) {
			r.call(call)
		}
		for store := range calls.All[*ssa.Store](fn) {
			r.transport(store)
		}
	}
	return nil, nil
}

type rule struct {
	*calls.Result
	pass *analysis.Pass
}

const twice = "after a lost response it does the same again, a second time; look for what happened first, by the outcome"

// again reports a call without a request ID that is made again, or whose order is queued again, after an unknown outcome.
func (r *rule) again(call *calls.Call) {
	payment := r.Payment(call)
	renewed := calls.Renewed(payment)
	var second, queued ssa.Instruction
	r.After(call, true, func(instr ssa.Instruction) bool {
		switch instr := instr.(type) {
		case *ssa.Send:
			if related(r.Parts(instr.X, ""), payment) {
				queued = instr
			}
		case *ssa.Call:
			next := r.Find(instr)
			switch {
			case next == nil:
				if callee := calls.Callee(instr.Common()); callee != nil && requeues.MatchString(callee.Name()) && !r.Model.OwnsPackage(callee.Pkg()) &&
					slices.ContainsFunc(instr.Call.Args, func(arg ssa.Value) bool { return related(r.Parts(arg, ""), payment) }) {
					queued = instr
				}
			case instr == call.Instr,
				instr != call.Instr && next.Kind == call.Kind && (same(call, next) && calls.Same(payment, r.Payment(next)) || r.Covers(next, payment)):
				if !r.looks(call, next) {
					second = instr
				}
				return false
			}
		}
		return !renewed[instr]
	})
	if second != nil && r.After(call, false, func(instr ssa.Instruction) bool { return instr != second && !renewed[instr] })[second] {
		return // also after success
	}
	switch {
	case second != nil:
		r.Reportf(r.pass, call.Pos(), call.Name+" is made again after an error: "+twice)
	case queued != nil:
		r.Reportf(r.pass, call.Pos(), call.Name+" goes back to its queue after an error: "+twice)
	}
}

// same reports whether two calls do the same: one wraps the other, or both call the same function.
func same(a, b *calls.Call) bool {
	return a.Name == b.Name || a.Callee == nil || b.Callee == nil || b.Wrapper
}

// looks reports whether the second call is Issue with Again, which searches before it creates.
func (r *rule) looks(call, next *calls.Call) bool {
	again := func(c *calls.Call) bool {
		return c.Params != calls.None && slices.ContainsFunc(calls.Origins(c.Arg(c.Params), "Again"), func(v ssa.Value) bool {
			constant, ok := v.(*ssa.Const)
			return !ok && call != next || ok && constant.Value != nil && constant.Value.String() == "true"
		})
	}
	return next.Params != calls.None && calls.Named(next.Arg(next.Params).Type(), r.Model.Packages[0]+".IssueParams") && again(next)
}

var requeues = regexp.MustCompile(`(?i)^(re?queue|enqueue|push|publish|nack|reschedule|schedule|retry|release|put)`)

// related reports whether a value contains a part of a payment that is not constant.
func related(value, payment []calls.Part) bool {
	return slices.ContainsFunc(value, func(a calls.Part) bool {
		_, constant := a.Value.(*ssa.Const)
		return !constant && a.Text != "" && slices.ContainsFunc(payment, func(b calls.Part) bool { return a.Value == b.Value })
	})
}

// call reports a call of a retry library with a function that makes a money call and ignores the outcome.
func (r *rule) call(instr ssa.CallInstruction) {
	list, again := r.Reruns(instr)
	if !again {
		return
	}
	var money *calls.Call
	for _, fn := range list {
		if money == nil {
			money = r.money(fn)
		}
		if r.Asks(fn) {
			return
		}
	}
	if money == nil || r.asksWithin(instr) {
		return
	}
	name := calls.Callee(instr.Common()).Pkg().Name() + "." + calls.Callee(instr.Common()).Name()
	wrong := "it repeats what was refused, and its last error hides that an earlier attempt may have paid; " +
		"the client repeats a transfer where that is safe: send the same params again later, by the outcome"
	if money.Kind != calls.Keyed {
		wrong = twice
	}
	r.Reportf(r.pass, r.Pos(instr), money.Name+" is run again by "+name+", which does not know outcomes: "+wrong)
}

// money is a money call that a function or one of its literals makes.
func (r *rule) money(fn *ssa.Function) *calls.Call {
	for instr := range calls.All[ssa.CallInstruction](fn) {
		if call := r.Find(instr); call != nil && call.Kind.Sends() {
			return call
		}
	}
	for _, literal := range fn.AnonFuncs {
		if call := r.money(literal); call != nil {
			return call
		}
	}
	return nil
}

// asksWithin reports whether a function among a call's arguments and options asks for the outcome.
func (r *rule) asksWithin(instr ssa.CallInstruction) bool {
	expr := r.Expr(instr)
	if expr == nil {
		return false
	}
	if slices.ContainsFunc(r.Funcs, func(fn *ssa.Function) bool {
		return fn.Parent() != nil && expr.Pos() <= fn.Pos() && fn.Pos() < expr.End() && r.Asks(fn)
	}) {
		return true
	}
	named := false // retry.RetryIf(transport.NotSent), or a function of the package
	ast.Inspect(expr, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if object, ok := r.pass.TypesInfo.Uses[id].(*types.Func); ok {
			fn := r.SSA.Prog.FuncValue(object)
			named = named || r.Judges(object) || fn != nil && r.Asks(fn)
		}
		return true
	})
	return named
}

// transport reports a client with a transport that repeats requests.
func (r *rule) transport(store *ssa.Store) {
	field, ok := store.Addr.(*ssa.FieldAddr)
	if !ok {
		return
	}
	of := field.X.Type().Underlying().(*types.Pointer).Elem()
	named, ok := types.Unalias(of).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || !slices.Contains(r.Model.Packages, named.Obj().Pkg().Path()) ||
		of.Underlying().(*types.Struct).Field(field.Field).Name() != "Transport" {
		return
	}
	if name := r.repeating(store.Val, 0); name != "" {
		r.Reportf(r.pass, store.Pos(), "the transport "+name+" repeats requests below the client: a request that is never repeated, "+
			"such as a funding or an account creation, is sent twice when its response is lost; give the client a transport that sends once")
	}
}

// repeating is the name of a transport that repeats, or "".
func (r *rule) repeating(v ssa.Value, depth int) string {
	if depth > 3 {
		return ""
	}
	for _, origin := range calls.Origins(v, "") {
		typ := origin.Type()
		if p, ok := typ.Underlying().(*types.Pointer); ok {
			typ = p.Elem()
		}
		if pkg, name := calls.Repeats(typ); pkg || name != "" && r.sendsTwice(r.roundTrip(typ), 0) {
			return name
		}
		switch origin := origin.(type) {
		case *ssa.FieldAddr: // the transport of an http.Client
			if name := r.repeating(origin.X, depth+1); name != "" {
				return name
			}
		case *ssa.Function:
			if r.sendsTwice(origin, 0) {
				return "the function"
			}
		case *ssa.MakeClosure:
			if r.sendsTwice(origin.Fn.(*ssa.Function), 0) {
				return "the function"
			}
		case *ssa.Call:
			if fn := origin.Call.StaticCallee(); fn != nil { // makes the transport
				for ret := range calls.All[*ssa.Return](fn) {
					if name := r.repeating(ret.Results[0], depth+1); name != "" {
						return name
					}
				}
			}
			if pkg, name := calls.Transports(calls.Callee(origin.Common())); pkg {
				return name
			}
			for _, arg := range origin.Common().Args { // another transport around it
				if name := r.repeating(arg, depth+1); name != "" {
					return name
				}
			}
		}
	}
	return ""
}

func (r *rule) roundTrip(t types.Type) *ssa.Function {
	object, _, _ := types.LookupFieldOrMethod(t, true, r.pass.Pkg, "RoundTrip")
	if method, ok := object.(*types.Func); ok && !types.IsInterface(t) {
		return r.SSA.Prog.FuncValue(method)
	}
	return nil
}

// sendsTwice reports whether a transport can send a request twice and does not check the request's method.
func (r *rule) sendsTwice(fn *ssa.Function, depth int) bool {
	if fn == nil || depth > 2 {
		return false
	}
	var trips []*ssa.Call
	for instr := range calls.All[ssa.Instruction](fn) {
		switch instr := instr.(type) {
		case *ssa.FieldAddr:
			if calls.Named(instr.X.Type(), "net/http.Request") && calls.FieldName(instr.X.Type(), instr.Field) == "Method" {
				if slices.ContainsFunc(*instr.Referrers(), func(ref ssa.Instruction) bool { return compared(ref, 0) }) {
					return false
				}
			}
		case *ssa.Call:
			if callee := calls.Callee(instr.Common()); callee != nil && (callee.Name() == "RoundTrip" || callee.FullName() == "(*net/http.Client).Do") {
				trips = append(trips, instr)
			} else if inner := instr.Call.StaticCallee(); inner != nil && inner.Pkg == fn.Pkg && r.sendsTwice(inner, depth+1) {
				return true
			}
		}
	}
	for i, trip := range trips {
		if calls.Cycle(trip.Block())[trip.Block()] {
			return true
		}
		for _, next := range trips[i+1:] {
			if trip.Block() == next.Block() || trip.Block().Dominates(next.Block()) {
				return true
			}
		}
	}
	return false
}

// compared reports whether a decision uses a value that an instruction reads.
func compared(ref ssa.Instruction, depth int) bool {
	switch ref := ref.(type) {
	case *ssa.BinOp, *ssa.Call, *ssa.Lookup:
		return true
	case ssa.Value:
		return depth < 3 && slices.ContainsFunc(*ref.Referrers(), func(ref ssa.Instruction) bool { return compared(ref, depth+1) })
	}
	return false
}
