package main

import (
	"go/types"
	"slices"
	"strings"
)

// bare returns a type without the names of parameters, which are not part of the API.
func bare(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, bareTuple(t.Params()), bareTuple(t.Results()), t.Variadic())
	case *types.Pointer:
		return types.NewPointer(bare(t.Elem()))
	case *types.Slice:
		return types.NewSlice(bare(t.Elem()))
	case *types.Array:
		return types.NewArray(bare(t.Elem()), t.Len())
	case *types.Map:
		return types.NewMap(bare(t.Key()), bare(t.Elem()))
	case *types.Chan:
		return types.NewChan(t.Dir(), bare(t.Elem()))
	case *types.Interface:
		return bareInterface(t)
	}
	return t
}

func bareTuple(tuple *types.Tuple) *types.Tuple {
	var all []*types.Var
	for v := range tuple.Variables() {
		all = append(all, types.NewParam(v.Pos(), v.Pkg(), "", bare(v.Type())))
	}
	return types.NewTuple(all...)
}

func bareInterface(t *types.Interface) types.Type {
	if t.NumExplicitMethods() == 0 {
		return t
	}
	var methods []*types.Func
	for m := range t.ExplicitMethods() {
		signature, _ := bare(m.Signature()).(*types.Signature)
		methods = append(methods, types.NewFunc(m.Pos(), m.Pkg(), m.Name(), signature))
	}
	slices.SortFunc(methods, func(a, b *types.Func) int { return strings.Compare(a.Name(), b.Name()) })
	var embedded []types.Type
	for e := range t.EmbeddedTypes() {
		embedded = append(embedded, e)
	}
	return types.NewInterfaceType(methods, embedded).Complete()
}
