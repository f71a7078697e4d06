package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// Every text of every exported struct type holds a canary of its own, and the types are printed in every way. No canary
// may be seen but those of shownFields: a new field fails here until it redacts itself or is listed there with a
// reason.

// canaryType is an exported struct type, filled with canaries.
type canaryType struct {
	name   string
	values map[string]any  // the value, its pointer, and both inside other things
	direct []string        // those of values that are the value itself or its pointer
	hidden any             // a caller's struct that holds the value in an unexported field
	fields map[string]bool // that hold a canary
}

// sampleOf fills a value of type kind.
func sampleOf(kind reflect.Type) canaryType {
	pointer, fields := reflect.New(kind), map[string]bool{}
	value := pointer.Elem()
	name, _, _ := strings.Cut(kind.Name(), "[")
	fillCanaries(value, name, "", fields)
	list := func(v reflect.Value) any {
		return reflect.Append(reflect.MakeSlice(reflect.SliceOf(v.Type()), 0, 1), v).Interface()
	}
	keyed := func(v reflect.Value) any {
		m := reflect.MakeMap(reflect.MapOf(reflect.TypeFor[string](), v.Type()))
		m.SetMapIndex(reflect.ValueOf("k"), v)
		return m.Interface()
	}
	holder := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "Value", Type: kind}, {Name: "Pointer", Type: pointer.Type()}, {Name: "Any", Type: reflect.TypeFor[any]()},
	}))
	holder.Elem().Field(0).Set(value)
	holder.Elem().Field(1).Set(pointer)
	holder.Elem().Field(2).Set(value)
	type pointerHolder struct{ pointer any }
	type hidden struct{ value, pointer, list any }
	v, p := value.Interface(), pointer.Interface()
	return canaryType{
		name: name, fields: fields, direct: []string{"value", "pointer"}, hidden: hidden{v, p, list(value)},
		values: map[string]any{
			"value": v, "pointer": p, "list": list(value), "any": []any{v, p}, "map": keyed(value), "holder": holder.Elem().Interface(),
			"holder pointer": holder.Interface(), "hidden pointer": pointerHolder{p}, "error": fmt.Errorf("%v %+v %#v", v, p, v),
		},
	}
}

// canaryTypes is every exported struct type that can hold a text.
func canaryTypes(t *testing.T) (samples []canaryType) {
	t.Helper()
	others := map[string]string{
		"ReportReader": "TestReportPrintsNoData", "PINKey": "TestPINNeverPrints", "Secret": "TestSecretNeverPrints", "Amount": "a number",
		"Client": "TestCanaryClient",
	}
	for _, kind := range structTypes(t) {
		sample := sampleOf(kind)
		exported := slices.ContainsFunc(reflect.VisibleFields(kind), reflect.StructField.IsExported)
		require.True(t, exported || others[sample.name] != "" || strings.HasSuffix(sample.name, "Service"), "%s has no exported field: it needs a test of its own", sample.name)
		if len(sample.fields) > 0 {
			samples = append(samples, sample)
		}
	}
	return samples
}

// requireNoCanaries fails when text shows a field that shownFields does not list.
func requireNoCanaries(t *testing.T, what, text string) {
	t.Helper()
	shown := shownFields()
	for _, field := range canariesIn(text) {
		require.NotEmpty(t, shown[field], "%s shows %s", what, field)
	}
}

func TestCanariesDoNotPrint(t *testing.T) {
	t.Parallel()
	for _, sample := range canaryTypes(t) {
		t.Run(sample.name, func(t *testing.T) {
			t.Parallel()
			for form, value := range sample.values {
				// For %w with a value that is no error, and %s with some pointers, fmt prints an error text and calls no method; go vet
				// finds both.
				verbs := []string{"%v", "%+v", "%#v", "%10v", "%s", "%q", "%d"}
				if form == "hidden pointer" {
					verbs = verbs[:4]
				}
				for _, verb := range verbs {
					requireNoCanaries(t, form+" "+verb, fmt.Sprintf(verb, value))
				}
				requireNoCanaries(t, form+" error", fmt.Errorf("call: %v %+v", value, value).Error())
				var text, asJSON bytes.Buffer
				logAll(slog.New(slog.NewTextHandler(&text, nil)), value)
				requireNoCanaries(t, form+" slog text", text.String())
				// Inside another value slog's JSON handler leaves everything to encoding/json, where personal data is by design
				// not redacted: a queue between two services would write the mask back as the name. Log the value itself, or
				// its pointer. Secrets and errors are safe either way.
				logAll(slog.New(slog.NewJSONHandler(&asJSON, nil)), value)
				if slices.Contains(sample.direct, form) || form == "error" {
					requireNoCanaries(t, form+" slog JSON", asJSON.String())
				}
				response := []string{"apierror.description", "apierror.header", "apierror.headerkey", "apierror.body"}
				requireNoSecrets(t, form+" slog JSON", asJSON.String(), response...)
				data, err := json.Marshal(value)
				requireNoSecrets(t, form+" JSON", fmt.Sprint(string(data), err), response...)
			}
			// fmt cannot call methods of the value of an unexported field, and reads plain texts there. A caller that keeps
			// personal data in one keeps it by pointer ("hidden pointer" above). Secrets are safe either way.
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
				requireNoSecrets(t, "hidden "+verb, fmt.Sprintf(verb, sample.hidden))
			}
		})
	}
}

// logAll logs value in each way that a caller may.
func logAll(log *slog.Logger, value any) {
	log.Info("m", "value", value)
	log.With("with", value).WithGroup("g").Info("m", slog.Group("h", slog.Any("value", value)))
	if err, ok := value.(error); ok {
		log.Error(err.Error(), "error", err)
	}
}

// requireNoSecrets fails when text shows a Secret or one of the fields named.
func requireNoSecrets(t *testing.T, what, text string, named ...string) {
	t.Helper()
	for _, field := range canariesIn(text) {
		require.False(t, strings.HasPrefix(field, "secret.") || slices.Contains(named, field), "%s shows %s", what, field)
	}
}

// structTypes returns the client's exported struct types, and one instance of each generic struct type. It finds the types that can be reached
// from its roots: Client, and types that only a function or an error leads to. It fails if the source declares another struct type.
func structTypes(t *testing.T) []reflect.Type {
	t.Helper()
	found := map[string]reflect.Type{}
	for _, root := range []reflect.Type{
		reflect.TypeFor[prepaid.Client](), reflect.TypeFor[prepaid.Config](), reflect.TypeFor[prepaid.PINKeyOptions](), reflect.TypeFor[prepaid.PINKey](),
		reflect.TypeFor[prepaid.Message](), reflect.TypeFor[prepaid.FieldError](), reflect.TypeFor[prepaid.CallError](),
		reflect.TypeFor[prepaid.APIError](), reflect.TypeFor[prepaid.DecodeError](), reflect.TypeFor[prepaid.IncompleteListError](),
		reflect.TypeFor[prepaid.ReportError](), reflect.TypeFor[prepaid.TokenError](),
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
	require.ElementsMatch(t, declared, names, "if nothing leads to a type, add it to the roots")
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
