package client

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// fate is the use of a client, or of a struct with a client, in a function and its callees.
type fate struct {
	// kept: it is stored, or passed to code that may store it. returned: it is a result.
	kept, returned bool
	// calls are the function's own instructions that lead to a call of the service.
	calls []ssa.Instruction
}

func (r *rule) fate(v ssa.Value) *fate {
	if f, ok := r.fates[v]; ok {
		return f
	}
	f := new(fate)
	r.fates[v] = f
	(&follower{r: r, fate: f, seen: map[ssa.Value]bool{}}).value(v)
	return f
}

type follower struct {
	r    *rule
	fate *fate
	seen map[ssa.Value]bool
	via  ssa.Instruction // the literal that is being followed
}

// holds reports whether a type can be or contain a client: ours is true for the type, or for a field of the struct.
func (r *rule) holds(t types.Type) bool {
	if r.ours(t) {
		return true
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range s.Fields() {
		if r.ours(field.Type()) {
			return true
		}
	}
	return false
}

// ours reports whether a type is a pointer to an SDK type, or an interface with a method that has a parameter of an SDK type.
func (r *rule) ours(t types.Type) bool {
	if face, ok := t.Underlying().(*types.Interface); ok {
		for method := range face.Methods() {
			if r.takes(method.Signature()) {
				return true
			}
		}
		return false
	}
	p, ok := t.Underlying().(*types.Pointer)
	return ok && r.sdkType(p.Elem())
}

func (r *rule) sdkType(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && slices.Contains(r.Model.Packages, named.Obj().Pkg().Path())
}

// takes reports whether a function has a parameter of an SDK type.
func (r *rule) takes(s *types.Signature) bool {
	for param := range s.Params().Variables() {
		if r.sdkType(param.Type()) {
			return true
		}
	}
	return false
}

func (f *follower) value(v ssa.Value) {
	if v == nil || f.seen[v] || v.Referrers() == nil {
		return
	}
	f.seen[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Phi, *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeInterface, *ssa.TypeAssert,
			*ssa.UnOp: // a local struct, or a variable of a literal
			f.value(ref.(ssa.Value))
		case *ssa.Field:
			if f.r.ours(ref.Type()) {
				f.value(ref)
			}
		case *ssa.FieldAddr:
			if f.r.ours(ref.Type().Underlying().(*types.Pointer).Elem()) {
				f.value(ref)
			}
		case *ssa.Store:
			if ref.Val == v {
				f.stored(ref.Addr)
			}
		case *ssa.MakeClosure:
			f.closure(ref, v)
		case *ssa.Return:
			if f.via != nil {
				f.fate.kept = true
			}
			f.fate.returned = true
		case *ssa.MapUpdate, *ssa.Send, *ssa.Select, *ssa.IndexAddr, *ssa.Slice:
			f.fate.kept = true
		case ssa.CallInstruction:
			f.call(ref, v)
		}
	}
}

func (f *follower) stored(address ssa.Value) {
	switch address := address.(type) {
	case *ssa.Alloc:
		f.value(address)
	case *ssa.FieldAddr:
		if local, ok := address.X.(*ssa.Alloc); ok {
			f.value(local)
			return
		}
		f.fate.kept = true
	default:
		f.fate.kept = true
	}
}

// closure follows a variable into a literal. A stored or returned literal keeps the variable.
func (f *follower) closure(closure *ssa.MakeClosure, v ssa.Value) {
	for _, ref := range *closure.Referrers() {
		switch ref.(type) {
		case *ssa.Store, *ssa.Return, *ssa.MapUpdate, *ssa.Send:
			f.fate.kept = true
			return
		}
	}
	outer := f.via
	if f.via == nil {
		f.via = closure
	}
	for i, binding := range closure.Bindings {
		if binding == v {
			f.value(closure.Fn.(*ssa.Function).FreeVars[i])
		}
	}
	f.via = outer
}

func (f *follower) called(instr ssa.Instruction) {
	if f.via != nil {
		instr = f.via
	}
	f.fate.calls = append(f.fate.calls, instr)
}

func (f *follower) call(instr ssa.CallInstruction, v ssa.Value) {
	common := instr.Common()
	if common.IsInvoke() && common.Value == v {
		if f.r.takes(common.Signature()) {
			f.called(instr)
		}
		return
	}
	callee := calls.Callee(common)
	for i, arg := range common.Args {
		if arg != v {
			continue
		}
		known := f.r.of(common)
		bit := uint64(1) << min(i, 63)
		switch {
		case callee != nil && callee.Pkg() != nil && slices.Contains(f.r.Model.Packages, callee.Pkg().Path()):
			f.sdk(instr, callee, i)
		case known.Lends&bit == 0:
			f.fate.kept = true
		default:
			if known.Calls&bit != 0 {
				f.called(instr)
			}
			if known.Through&bit != 0 {
				f.result(instr)
			}
		}
	}
}

// sdk follows a call of the SDK. Nearly all methods of a client, or of a service in it, send a request. A function that
// takes a client or service sends one too, unless it makes a value from this argument.
func (f *follower) sdk(instr ssa.CallInstruction, callee *types.Func, arg int) {
	switch name := callee.Name(); {
	case name == "With":
		f.result(instr)
	case callee.Signature().Recv() != nil && arg == 0:
		if !slices.Contains([]string{"Close", "Check", "Token", "Format", "LogValue", "String", "NotBefore"}, name) {
			f.called(instr)
		}
	case strings.HasPrefix(name, "New"), strings.HasPrefix(name, "Open"):
		f.fate.kept = true
	default:
		f.called(instr)
	}
}

func (f *follower) result(instr ssa.CallInstruction) {
	f.value(calls.ResultOf(instr, 0))
}
