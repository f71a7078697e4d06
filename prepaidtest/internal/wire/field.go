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
	quoted   string
}

// FieldsOf returns the members of a struct, in the order of its fields.
func FieldsOf(kind reflect.Type) []Field {
	var members []Field
	for i := range kind.NumField() {
		name, options, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			members = append(members, Field{Name: name, optional: options != "", index: i, quoted: `"` + name + `":`})
		}
	}
	return members
}

// Member writes a member.
func (o *Writer) Member(f *Field, object reflect.Value) {
	field := object.Field(f.index)
	if f.optional && field.IsZero() {
		return
	}
	switch value := field.Addr().Interface().(type) {
	case *bool:
		o.Boolean(f.quoted, *value)
	case *time.Time:
		o.Time(f.quoted, *value)
	default:
		switch field.Kind() { //nolint:exhaustive // the others are few
		case reflect.String:
			o.String(f.quoted, field.String())
		case reflect.Int64:
			o.Integer(f.quoted, field.Int())
		default:
			o.Raw(f.quoted, AppendJSON(nil, value))
		}
	}
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
