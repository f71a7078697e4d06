// Package retry is the rule that nothing repeats a money call but the client, and the program with the outcome in hand.
package retry

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:      "retry",
	Doc:       "report money calls that a retry library repeats",
	URL:       calls.Prepaid().Guide + "#retry",
	Requires:  []*analysis.Analyzer{calls.Analyzer},
	Run:       run,
	FactTypes: []analysis.Fact{new(again)},
}

// again is the fact of a function that runs a parameter, which is a function, until it succeeds.
type again struct{ Params uint64 }

func (*again) AFact()         {}
func (*again) String() string { return "runs a function again" }

func run(pass *analysis.Pass) (any, error) {
	r := &rule{pass: pass, Result: calls.Of(pass)}
	if r.SSA != nil || !calls.Standard(pass) {
		loops(pass)
	}
	if r.SSA == nil {
		return nil, nil
	}
	for _, fn := range r.Funcs {
		for _, block := range fn.Blocks {
			for _, instr := range block.Instrs {
				switch instr := instr.(type) {
				case ssa.CallInstruction:
					r.call(instr)
				case *ssa.Store:
					r.transport(instr)
				}
			}
		}
	}
	return nil, nil
}

type rule struct {
	*calls.Result
	pass *analysis.Pass
}

// call reports a call of a retry library with a function that makes a money call, and does not look at its outcome.
func (r *rule) call(instr ssa.CallInstruction) {
	common := instr.Common()
	library := runs(common)
	fact := new(again)
	if callee := calls.Callee(common); !library && (callee == nil || !r.pass.ImportObjectFact(callee, fact)) {
		return
	}
	var money *calls.Call
	for i, arg := range common.Args {
		if !library && fact.Params>>min(i, 63)&1 == 0 {
			continue
		}
		for _, fn := range functions(arg, 0) {
			if money == nil {
				money = r.money(fn)
			}
			if r.asks(fn) {
				return
			}
		}
	}
	if money == nil || r.asksWithin(instr) {
		return
	}
	name := calls.Callee(common).Pkg().Name() + "." + calls.Callee(common).Name()
	wrong := "it repeats what was refused, and its last error hides that an earlier attempt may have paid; " +
		"the client repeats a transfer where that is safe: send the same params again later, by the outcome"
	if money.Kind != calls.Keyed {
		wrong = "after a lost response it does the same again, a second time; look for what happened first, by the outcome"
	}
	r.Reportf(r.pass, r.Pos(instr), money.Name+" is run again by "+name+", which does not know outcomes: "+wrong)
}

// money is a money call that a function or one of its literals makes.
func (r *rule) money(fn *ssa.Function) *calls.Call {
	for _, block := range fn.Blocks {
		for _, instr := range block.Instrs {
			if instr, ok := instr.(ssa.CallInstruction); ok {
				if call := r.Find(instr); call != nil && call.Kind.Sends() {
					return call
				}
			}
		}
	}
	for _, literal := range fn.AnonFuncs {
		if call := r.money(literal); call != nil {
			return call
		}
	}
	return nil
}

// asksWithin reports whether a function among the arguments of a call asks for the outcome, also in an option.
func (r *rule) asksWithin(instr ssa.CallInstruction) bool {
	expr := r.Expr(instr)
	if expr == nil {
		return false
	}
	if slices.ContainsFunc(r.Funcs, func(fn *ssa.Function) bool {
		return fn.Parent() != nil && expr.Pos() <= fn.Pos() && fn.Pos() < expr.End() && r.asks(fn)
	}) {
		return true
	}
	named := false // retry.RetryIf(prepaid.NotSent), or a function of the package
	ast.Inspect(expr, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if object, ok := r.pass.TypesInfo.Uses[id].(*types.Func); ok {
			fn := r.SSA.Prog.FuncValue(object)
			named = named || r.judges(object) || fn != nil && r.asks(fn)
		}
		return true
	})
	return named
}

// judges reports whether a function of the SDK says something about an error.
func (r *rule) judges(callee *types.Func) bool {
	return callee != nil && r.Model.OwnsPackage(callee.Pkg()) && callee.Signature().Recv() == nil &&
		callee.Signature().Params().Len() > 0 && types.Identical(callee.Signature().Params().At(0).Type(), types.Universe.Lookup("error").Type())
}

// asks reports whether a function asks the SDK about an error, or reads the outcome in it.
func (r *rule) asks(fn *ssa.Function) bool {
	for _, block := range fn.Blocks {
		for _, instr := range block.Instrs {
			switch instr := instr.(type) {
			case *ssa.Call:
				if r.judges(calls.Callee(instr.Common())) {
					return true
				}
			case *ssa.FieldAddr:
				if of, ok := instr.X.Type().Underlying().(*types.Pointer); ok {
					if s, ok := of.Elem().Underlying().(*types.Struct); ok && s.Field(instr.Field).Name() == "Outcome" {
						return true
					}
				}
			}
		}
	}
	return slices.ContainsFunc(fn.AnonFuncs, r.asks)
}

// functions are those that a value of function type, perhaps in an interface or a struct, can be.
func functions(v ssa.Value, depth int) []*ssa.Function {
	var found []*ssa.Function
	if depth > 4 {
		return nil
	}
	for _, origin := range calls.Origins(v, "") {
		if load, ok := origin.(*ssa.UnOp); ok {
			origin = load.X
		}
		switch origin := origin.(type) {
		case *ssa.Function:
			found = append(found, origin)
		case *ssa.MakeClosure:
			found = append(found, origin.Fn.(*ssa.Function))
		case *ssa.Alloc: // a struct with a function in a field
			for _, ref := range *origin.Referrers() {
				if field, ok := ref.(*ssa.FieldAddr); ok {
					for _, ref := range *field.Referrers() {
						if store, ok := ref.(*ssa.Store); ok {
							found = append(found, functions(store.Val, depth+1)...)
						}
					}
				}
			}
		case *ssa.Call: // of a function that returns a function
			if maker := origin.Common().StaticCallee(); maker != nil {
				for _, block := range maker.Blocks {
					if ret, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return); ok && len(ret.Results) > 0 {
						found = append(found, functions(ret.Results[0], depth+1)...)
					}
				}
			}
		}
	}
	return found
}

// transport reports a client that is given a transport which repeats requests.
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
	if name := repeating(store.Val, 0); name != "" {
		r.Reportf(r.pass, store.Pos(), "the transport of "+name+" repeats requests below the client: a request that is never repeated, "+
			"such as a funding or an account creation, is sent twice when its response is lost; give the client a transport that sends once")
	}
}

// repeating is the name of the package of a transport that repeats, or "".
func repeating(v ssa.Value, depth int) string {
	if depth > 3 {
		return ""
	}
	for _, origin := range calls.Origins(v, "") {
		typ := origin.Type()
		if p, ok := typ.Underlying().(*types.Pointer); ok {
			typ = p.Elem()
		}
		if named, ok := types.Unalias(typ).(*types.Named); ok && named.Obj().Pkg() != nil && slices.Contains(transports, unversioned(named.Obj().Pkg().Path())) {
			return named.Obj().Pkg().Name()
		}
		switch origin := origin.(type) {
		case *ssa.FieldAddr: // the transport of an http.Client
			if name := repeating(origin.X, depth+1); name != "" {
				return name
			}
		case *ssa.Call:
			callee := calls.Callee(origin.Common())
			if callee == nil || callee.Pkg() == nil {
				continue
			}
			if slices.Contains(transports, unversioned(callee.Pkg().Path())) {
				return callee.Pkg().Name()
			}
			for _, arg := range origin.Common().Args { // another transport around it
				if name := repeating(arg, depth+1); name != "" {
					return name
				}
			}
		}
	}
	return ""
}
