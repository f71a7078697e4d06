package wire

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// Field is a member of a stored object. Its name in requests, responses, seed documents and the saved state is in the tag json, with
// omitzero if it can be absent.
type Field struct {
	Name     string
	optional bool
	index    int
}

// FieldsOf returns the members of a struct, in the order of its fields.
func FieldsOf(kind reflect.Type) []Field {
	var members []Field
	for i := range kind.NumField() {
		name, options, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			members = append(members, Field{Name: name, optional: options != "", index: i})
		}
	}
	return members
}

// Of returns the value of the member in an object as it is in responses; nil if it is absent.
func (f *Field) Of(object reflect.Value) any {
	field := object.Field(f.index)
	if f.optional && field.IsZero() {
		return nil
	}
	if at, ok := field.Interface().(time.Time); ok {
		return DateTime(at)
	}
	return field.Interface()
}

// Take copies the members of *from that are not zero.
func Take[T any](into, from *T) {
	assign(into, from, func(_ Field, _, given reflect.Value) bool { return !given.IsZero() })
}

// FillIn replaces an empty text by the text in usual if every response has the member.
func FillIn[T any](into, usual *T) {
	assign(into, usual, func(f Field, old, _ reflect.Value) bool {
		return !f.optional && old.Kind() == reflect.String && old.IsZero()
	})
}

// Assign copies the members with these names.
func Assign[T any](into, from *T, names []string) {
	assign(into, from, func(f Field, _, _ reflect.Value) bool { return slices.Contains(names, f.Name) })
}

func assign[T any](into, from *T, wanted func(f Field, old, given reflect.Value) bool) {
	object, values := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	for _, f := range FieldsOf(object.Type()) {
		old, given := object.Field(f.index), values.Field(f.index)
		if wanted(f, old, given) {
			old.Set(given)
		}
	}
}
