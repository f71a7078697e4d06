package harness

import (
	"go/ast"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// Types returns the client's exported struct types, and one instance of each generic struct type. It finds the types that can be reached
// from its roots: Client, and types that only a function or an error leads to. It fails if the source declares another struct type.
func Types(t testing.TB) []reflect.Type {
	t.Helper()
	found := map[string]reflect.Type{}
	for _, root := range []reflect.Type{
		reflect.TypeFor[prepaid.Client](), reflect.TypeFor[prepaid.Config](), reflect.TypeFor[prepaid.PINKeyOptions](), reflect.TypeFor[prepaid.PINKey](),
		reflect.TypeFor[prepaid.Message](), reflect.TypeFor[prepaid.Fault](), reflect.TypeFor[prepaid.CallError](),
		reflect.TypeFor[prepaid.APIError](), reflect.TypeFor[prepaid.DecodeError](), reflect.TypeFor[prepaid.IncompleteListError](),
		reflect.TypeFor[prepaid.ReportError](), reflect.TypeFor[prepaid.ReportRunError](), reflect.TypeFor[prepaid.TokenError](),
		reflect.TypeFor[prepaid.TransportError](), reflect.TypeFor[prepaid.ValidationError](),
	} {
		reach(root, found)
	}
	var declared []string
	for _, file := range tree.Source(t) {
		for _, declaration := range file.Decls {
			types, ok := declaration.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range types.Specs {
				if named, ok := spec.(*ast.TypeSpec); ok && named.Name.IsExported() {
					if _, isStruct := named.Type.(*ast.StructType); isStruct {
						declared = append(declared, named.Name.Name)
					}
				}
			}
		}
	}
	names := slices.Sorted(maps.Keys(found))
	require.ElementsMatch(t, declared, names, "if nothing leads to a type, add it to the roots of Types")
	list := make([]reflect.Type, len(names))
	for i, name := range names {
		list[i] = found[name]
	}
	return list
}

// reach adds to found the struct types that can be reached from the type at.
func reach(at reflect.Type, found map[string]reflect.Type) {
	switch at.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		reach(at.Elem(), found)
	case reflect.Func:
		for in := range at.Ins() {
			reach(in, found)
		}
		for out := range at.Outs() {
			reach(out, found)
		}
	case reflect.Struct:
		name, _, _ := strings.Cut(at.Name(), "[")
		if at.PkgPath() != "github.com/cardprograms/prepaid" || found[name] != nil || !ast.IsExported(name) {
			return
		}
		found[name] = at
		for field := range at.Fields() {
			if field.IsExported() {
				reach(field.Type, found)
			}
		}
		for method := range reflect.PointerTo(at).Methods() {
			reach(method.Type, found)
		}
	}
}
