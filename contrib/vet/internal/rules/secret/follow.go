package secret

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// tracer follows texts forward.
type tracer struct {
	pass  *analysis.Pass
	found *calls.Result
	flows map[*ssa.Function]*flow // also flows that are incomplete
}

// printing is a place where a text is printed.
type printing struct {
	pos    token.Pos
	into   string
	common *ssa.CallCommon // nil for a panic
}

// stays reports whether the text goes into a log or an error, and not to a user.
func (p printing) stays() bool {
	return strings.HasPrefix(p.into, "a log") || strings.HasPrefix(p.into, "an error") || strings.HasSuffix(p.into, "logs it")
}

// any reports whether the only use of call's result is as an argument of type any, passed directly to the printing call.
func (p printing) any(call *ssa.Call) bool {
	if len(*call.Referrers()) != 1 {
		return false
	}
	boxed, ok := (*call.Referrers())[0].(*ssa.MakeInterface)
	if !ok {
		return false
	}
	for _, ref := range *boxed.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if !p.has(ref.Addr) {
				return false
			}
		case ssa.CallInstruction:
			if ref.Common() != p.common {
				return false
			}
		default:
			return false
		}
	}
	return p.common != nil
}

// has reports whether an address is in the array of the call's variadic arguments.
func (p printing) has(address ssa.Value) bool {
	element, ok := address.(*ssa.IndexAddr)
	if !ok || p.common == nil || len(p.common.Args) == 0 {
		return false
	}
	slice, ok := p.common.Args[len(p.common.Args)-1].(*ssa.Slice)
	return ok && slice.X == element.X
}

// flow returns the use of secrets in a function of this package.
func (t *tracer) flow(fn *ssa.Function) *flow {
	if f, ok := t.flows[fn]; ok {
		return f
	}
	f := new(flow)
	t.flows[fn] = f
	for _, from := range t.sources(fn) {
		if from.personal {
			continue
		}
		f.Reveals |= t.follow(from.value).returned
	}
	for i, param := range fn.Params {
		if i > 63 || !texts(param.Type()) {
			continue
		}
		trace := t.follow(param)
		if trace.returned&1 == 1 {
			f.Through |= 1 << i
		}
		if len(trace.prints) > 0 {
			f.Prints |= 1 << i
			if slices.ContainsFunc(trace.prints, printing.stays) {
				f.Logs |= 1 << i
			}
		}
	}
	return f
}

// of returns the summary of the called function.
func (t *tracer) of(common *ssa.CallCommon) *flow {
	return calls.Summary(t.pass, common, t.flow)
}

// texts reports whether a parameter can be, or contain, a text that may be printed.
func texts(typ types.Type) bool {
	if s, ok := typ.Underlying().(*types.Slice); ok {
		typ = s.Elem()
	}
	switch typ := typ.Underlying().(type) {
	case *types.Basic:
		return typ.Kind() == types.String || typ.Kind() == types.Byte
	case *types.Interface:
		return typ.Empty()
	}
	return false
}

// trace is where a text goes within a function and its literals.
type trace struct {
	t        *tracer
	seen     map[ssa.Value]bool
	prints   []printing
	returned uint64
	in       *ssa.Function
}

func (t *tracer) follow(v ssa.Value) *trace {
	f := &trace{t: t, seen: map[ssa.Value]bool{}, in: v.Parent()}
	f.value(v)
	return f
}

func (f *trace) value(v ssa.Value) {
	if v == nil || f.seen[v] || v.Referrers() == nil {
		return
	}
	f.seen[v] = true
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Phi, *ssa.ChangeType, *ssa.ChangeInterface, *ssa.TypeAssert:
			f.value(ref.(ssa.Value))
		case *ssa.Extract:
			if ref.Index == 0 {
				f.value(ref)
			}
		case *ssa.Convert:
			if texts(ref.Type()) {
				f.value(ref)
			}
		case *ssa.MakeInterface:
			if !prints(ref.X.Type()) {
				f.value(ref)
			}
		case *ssa.BinOp:
			if ref.Op == token.ADD {
				f.value(ref)
			}
		case *ssa.FieldAddr: // of a token from the SDK
			if name := fieldName(ref); name == "AccessToken" || name == "RefreshToken" {
				f.loads(ref)
			}
		case *ssa.Store:
			if ref.Val == v {
				f.stored(ref.Addr)
			}
		case *ssa.MapUpdate:
			if made, ok := ref.Map.(*ssa.MakeMap); ok && ref.Value == v {
				f.whole(made)
			}
		case *ssa.MakeClosure:
			f.captured(ref, v)
		case *ssa.Return:
			for i, result := range ref.Results {
				if result == v && ref.Parent() == f.in {
					f.returned |= 1 << min(i, 63)
				}
			}
		case *ssa.Panic:
			f.prints = append(f.prints, printing{pos: ref.Pos(), into: "a panic"})
		case ssa.CallInstruction:
			f.call(ref, v)
		}
	}
}

// stored follows the values stored in a local variable, in its field, or in the array of variadic arguments.
func (f *trace) stored(address ssa.Value) {
	switch address := address.(type) {
	case *ssa.Alloc:
		f.loads(address)
	case *ssa.IndexAddr:
		if array, ok := address.X.(*ssa.Alloc); ok {
			for _, ref := range *array.Referrers() {
				if slice, ok := ref.(*ssa.Slice); ok {
					f.value(slice)
				}
			}
		}
	case *ssa.FieldAddr:
		local, ok := address.X.(*ssa.Alloc)
		if !ok {
			return
		}
		for _, ref := range *local.Referrers() {
			switch ref := ref.(type) {
			case *ssa.FieldAddr:
				if ref.Field == address.Field {
					f.loads(ref)
				}
			case *ssa.UnOp:
				f.whole(ref)
			}
		}
		f.whole(local)
	}
}

// loads follows the values read from an address.
func (f *trace) loads(address ssa.Value) {
	if f.seen[address] {
		return
	}
	f.seen[address] = true
	for _, ref := range *address.Referrers() {
		switch ref := ref.(type) {
		case *ssa.UnOp:
			f.value(ref)
		case *ssa.MakeClosure:
			f.captured(ref, address)
		}
	}
}

// whole follows a struct or map that contains the text: printing it prints the text.
func (f *trace) whole(v ssa.Value) {
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.MakeInterface:
			if !prints(v.Type()) {
				f.value(ref)
			}
		case *ssa.ChangeType:
			f.whole(ref)
		case ssa.CallInstruction:
			if _, ok := v.Type().Underlying().(*types.Map); ok {
				f.call(ref, v)
			}
		}
	}
}

// captured follows a variable of a literal.
func (f *trace) captured(closure *ssa.MakeClosure, v ssa.Value) {
	for i, binding := range closure.Bindings {
		if binding == v {
			free := closure.Fn.(*ssa.Function).FreeVars[i]
			if _, pointer := free.Type().Underlying().(*types.Pointer); pointer {
				f.loads(free)
			} else {
				f.value(free)
			}
		}
	}
}

func (f *trace) call(instr ssa.CallInstruction, v ssa.Value) {
	common := instr.Common()
	for i, arg := range common.Args {
		if arg != v {
			continue
		}
		if into := sink(common); into != "" {
			f.prints = append(f.prints, printing{f.t.found.Pos(instr), into, common})
			return
		}
		known := f.t.of(common)
		if known.Prints>>min(i, 63)&1 == 1 {
			does := ", which prints it"
			if known.Logs>>min(i, 63)&1 == 1 {
				does = ", which logs it"
			}
			f.prints = append(f.prints, printing{f.t.found.Pos(instr), name(calls.Callee(common)) + does, common})
		}
		if known.Through>>min(i, 63)&1 == 1 || passes(common) {
			f.value(instr.Value())
		}
		if writer := writes(common, i); writer != nil {
			f.written(writer)
		}
	}
}

// written follows the text of a local strings.Builder or bytes.Buffer.
func (f *trace) written(writer ssa.Value) {
	if boxed, ok := writer.(*ssa.MakeInterface); ok {
		writer = boxed.X
	}
	local, ok := writer.(*ssa.Alloc)
	if !ok {
		return
	}
	for _, ref := range *local.Referrers() {
		if call, ok := ref.(*ssa.Call); ok {
			if callee := calls.Callee(call.Common()); callee != nil && (callee.Name() == "String" || callee.Name() == "Bytes") {
				f.value(call)
			}
		}
	}
}

// prints reports whether a type defines its own printed form.
func prints(typ types.Type) bool {
	if _, basic := typ.Underlying().(*types.Basic); basic {
		return false
	}
	for _, name := range []string{"Format", "String", "GoString", "LogValue", "MarshalText", "MarshalLogObject"} {
		if object, _, _ := types.LookupFieldOrMethod(typ, true, nil, name); object != nil {
			return true
		}
	}
	return false
}

func fieldName(field *ssa.FieldAddr) string {
	return field.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(field.Field).Name()
}
