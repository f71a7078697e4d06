package client

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// loops reports whether two blocks are in one loop.
func loops(a, b *ssa.BasicBlock) bool { return calls.Cycle(a)[b] }

// depends reports whether a value is made of a parameter.
func depends(v ssa.Value, params []*ssa.Parameter, seen map[ssa.Value]bool) bool {
	if v == nil || seen[v] {
		return false
	}
	seen[v] = true
	if param, ok := v.(*ssa.Parameter); ok {
		return slices.Contains(params, param)
	}
	return slices.ContainsFunc(parts(v), func(v ssa.Value) bool { return depends(v, params, seen) })
}

// parts are the values that a value is made of. For a local variable, these are all values stored in it.
func parts(v ssa.Value) []ssa.Value {
	if local, ok := v.(*ssa.Alloc); ok {
		return contents(local)
	}
	if instr, ok := v.(ssa.Instruction); ok {
		return calls.Operands(instr)
	}
	return nil
}

func contents(address ssa.Value) []ssa.Value {
	var values []ssa.Value
	for _, ref := range *address.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == address {
				values = append(values, ref.Val)
			}
		case *ssa.FieldAddr:
			values = append(values, contents(ref)...)
		case *ssa.IndexAddr:
			values = append(values, contents(ref)...)
		}
	}
	return values
}

// varies reports whether a value may differ between rounds of the loop around the block.
func (r *rule) varies(v ssa.Value, in *ssa.BasicBlock, seen map[ssa.Value]bool) bool {
	if v == nil || seen[v] {
		return false
	}
	seen[v] = true
	anyOf := func(values []ssa.Value) bool {
		return slices.ContainsFunc(values, func(v ssa.Value) bool { return r.varies(v, in, seen) })
	}
	switch v := v.(type) {
	case *ssa.Alloc: // also if it is before the loop, which may change it
		return r.another(v) && loops(v.Block(), in) || anyOf(contents(v))
	case *ssa.FreeVar:
		return anyOf(calls.Origins(v, ""))
	}
	instr, ok := v.(ssa.Instruction)
	if !ok || instr.Parent() == in.Parent() && !loops(instr.Block(), in) {
		if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
			return anyOf(parts(v))
		}
		return false
	}
	switch v := v.(type) {
	case *ssa.Phi, *ssa.Next, *ssa.Lookup, *ssa.Index, *ssa.IndexAddr:
		return true
	case *ssa.UnOp:
		if v.Op == token.ARROW {
			return true
		}
	case *ssa.Call:
		return !r.fixed(v.Common()) || anyOf(v.Common().Args)
	}
	return anyOf(parts(v))
}

// fixed reports whether a call probably returns equal values for equal arguments: its function is of the SDK, or takes no
// argument, such as a function that loads settings.
func (r *rule) fixed(common *ssa.CallCommon) bool {
	callee := calls.Callee(common)
	if callee != nil && callee.Pkg() != nil && slices.Contains(r.Model.Packages, callee.Pkg().Path()) {
		return true
	}
	return common.StaticCallee() != nil && len(common.Args) == 0
}

// another reports whether a variable is a new object each time, such as a transport or a server, and not settings.
func (r *rule) another(v *ssa.Alloc) bool {
	_, composite := v.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct)
	return composite && !r.sdkType(v.Type().Underlying().(*types.Pointer).Elem())
}

// own reports whether a value is made of an object that is new in each call of the function, or of an unknown call's result.
func (r *rule) own(v ssa.Value, seen map[ssa.Value]bool) bool {
	if v == nil || seen[v] {
		return false
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Alloc:
		if r.another(v) {
			return true
		}
	case *ssa.Call:
		if !r.fixed(v.Common()) {
			return true
		}
	}
	return slices.ContainsFunc(parts(v), func(v ssa.Value) bool { return r.own(v, seen) })
}
