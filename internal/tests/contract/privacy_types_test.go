package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/harness"
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
	for _, kind := range harness.Types(t) {
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
