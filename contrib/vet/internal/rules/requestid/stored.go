package requestid

import (
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// site reports an ID, or its text, that is made from the time or a random value: each run makes another ID.
func (r *rule) site(instr ssa.Instruction) {
	value, ok := instr.(ssa.Value)
	if !ok {
		return
	}
	var from []ssa.Value
	switch v := instr.(type) {
	case *ssa.ChangeType:
		from = []ssa.Value{v.X}
	case *ssa.Convert:
		from = []ssa.Value{v.X}
	case *ssa.Call:
		if calls.Calls(v.Common(), r.Model.Derived) {
			from = v.Call.Args
		} else if fn := v.Call.StaticCallee(); fn != nil && fn.Blocks != nil && calls.Steady(fn) { // it converts
			from = v.Call.Args
		}
	}
	if len(from) == 0 || !calls.Named(value.Type(), r.Model.ID) || r.handed(value, nil) {
		return
	}
	for _, of := range from {
		if phi, ok := of.(*ssa.Phi); ok && slices.ContainsFunc(phi.Edges, func(edge ssa.Value) bool { return !made(r.Parts(edge, "")) }) {
			continue // it may also be the text of a request
		}
		for _, p := range r.Parts(of, "") {
			if p.New != calls.Clock && p.New != "a random value" || p.Value.Parent() == instr.Parent() && r.handed(p.Value, value) {
				continue
			}
			call, derived := instr.(*ssa.Call)
			if derived && !slices.ContainsFunc(call.Call.Args, func(arg ssa.Value) bool { return ofData(r.Parts(arg, "")) }) {
				continue
			}
			advice := "use DeriveRequestID, or NewRequestID and store it"
			if derived {
				advice = "derive it from the payment's own day, which is stored"
			}
			r.report(value.Pos(), "request ID made from "+p.New+" ("+p.Name+"): a run that repeats the payment makes another ID and pays twice; "+advice)
		}
	}
}

// ofData reports whether a value is made of more than constants, times and new request IDs.
func ofData(of []calls.Part) bool {
	return slices.ContainsFunc(of, func(p calls.Part) bool {
		_, constant := p.Value.(*ssa.Const)
		call, ok := p.Value.(*ssa.Call)
		return !constant && (p.New == "a random value" || p.New == "" && !(ok && calls.Callee(call.Common()) != nil && calls.Pure(calls.Callee(call.Common()))))
	})
}

func made(of []calls.Part) bool {
	return slices.ContainsFunc(of, func(p calls.Part) bool { return p.New != "" })
}

// handed reports whether code that may store a value gets v, or a value made from v, other than through id.
func (r *rule) handed(v, id ssa.Value) bool {
	f := forward{rule: r, id: id, seen: map[ssa.Value]bool{}}
	f.follow(v)
	return len(f.uses) > 0
}

// forward finds the calls that get a value.
type forward struct {
	*rule
	id       ssa.Value
	seen     map[ssa.Value]bool
	uses     []ssa.Instruction
	returned bool
}

func (f *forward) follow(v ssa.Value) {
	if v == nil || v == f.id || f.seen[v] || v.Referrers() == nil {
		return
	}
	f.seen[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Val == v {
				f.stored(ref)
			}
		case *ssa.MapUpdate, *ssa.Send:
			f.uses = append(f.uses, ref)
		case *ssa.Return:
			f.returned = true
		case ssa.CallInstruction:
			f.call(ref)
		case *ssa.FieldAddr: // a different field
		case ssa.Value:
			f.follow(ref)
		}
	}
}

func (f *forward) stored(store *ssa.Store) {
	address := store.Addr
	for {
		switch a := address.(type) {
		case *ssa.FieldAddr:
			if _, local := a.X.(*ssa.Alloc); local {
				for _, ref := range *a.X.Referrers() { // the field is read
					if other, ok := ref.(*ssa.FieldAddr); ok && other.Field == a.Field {
						for _, load := range *other.Referrers() {
							if load, ok := load.(*ssa.UnOp); ok {
								f.follow(load)
							}
						}
					}
				}
			}
			address = a.X
			continue
		case *ssa.IndexAddr:
			address = a.X
			continue
		case *ssa.Alloc:
			f.follow(a)
			return
		}
		f.uses = append(f.uses, store) // not a local variable
		return
	}
}

func (f *forward) call(call ssa.CallInstruction) {
	common := call.Common()
	callee := calls.Callee(common)
	money := f.Find(call)
	switch {
	case money != nil && money.Kind != calls.Record:
	case callee != nil && calls.Pure(callee):
		if value := call.Value(); value != nil && !calls.Logs(callee) {
			f.follow(value)
		}
	case callee != nil && (calls.Logs(callee) || callee.Pkg() != nil && callee.Pkg().Path() == "net/http"):
	case common.StaticCallee() != nil && common.StaticCallee().Blocks != nil && calls.Steady(common.StaticCallee()):
		if value := call.Value(); value != nil {
			f.follow(value)
		}
	default:
		f.uses = append(f.uses, call)
	}
}

// unstored reports an ID that a function makes, sends, and then stores, or leaves out of its record.
func (r *rule) unstored(call *calls.Call) {
	if strings.HasPrefix(call.Name, "Journal.") || strings.HasPrefix(call.Name, "Run.") {
		return
	}
	for _, p := range r.Key(call) {
		at, ok := p.Value.(*ssa.Call)
		if !ok || p.New != "a request ID" || p.Value.Parent() != call.In {
			continue
		}
		f := forward{rule: r, seen: map[ssa.Value]bool{}}
		f.follow(at)
		f.uses = slices.DeleteFunc(f.uses, func(use ssa.Instruction) bool { return use == call.Instr })
		if f.returned || slices.ContainsFunc(f.uses, func(use ssa.Instruction) bool { return !calls.Precedes(call.Instr, use) }) {
			continue
		}
		records := false
		for instr := range r.After(call, false, func(ssa.Instruction) bool { return true }) {
			if c, ok := instr.(*ssa.Call); ok && calls.Precedes(call.Instr, c) && r.Find(c) == nil {
				records = records || calls.Writes(c.Common())
			}
		}
		if records {
			r.report(r.Pos(p.Value.(*ssa.Call)), "the request ID is not stored before "+call.Name+" sends it: a program that ends in between makes another one and pays twice; "+
				"store it with the payment first")
		}
	}
}
