package wire

import (
	"bytes"
	"encoding"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Peek returns the value that d reads next, nil if it is malformed. d is the Decoder of json.Unmarshal, which has its whole text in memory.
func Peek(d *jsontext.Decoder) jsontext.Value {
	next := bytes.NewBuffer(bytes.TrimLeft(d.UnreadBuffer(), " \t\r\n,:"))
	value, _ := jsontext.NewDecoder(next, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)).ReadValue()
	return value
}

// ReadsItself reports whether the type of a value has its own way to read JSON.
func ReadsItself(value any) bool {
	switch value.(type) {
	case json.Unmarshaler, json.UnmarshalerFrom, encoding.TextUnmarshaler:
		return true
	}
	return false
}

// Embedded returns pointers to the structs of accepted types that a struct embeds, at any depth. For one that is embedded under an
// unexported name, the pointer is to another value.
func Embedded(value any, accept func(reflect.Type) bool) (parts []any) {
	to := reflect.ValueOf(value).Elem()
	for _, path := range paths(to.Type(), accept, nil) {
		part := at(to, path)
		if !part.IsValid() {
			continue
		}
		if part = part.Addr(); !part.CanInterface() {
			part = reflect.New(part.Type().Elem())
		}
		parts = append(parts, part.Interface())
	}
	return parts
}

// paths returns the indexes of the accepted types in a struct. outer are the structs around it.
func paths(of reflect.Type, accept func(reflect.Type) bool, path []int, outer ...reflect.Type) [][]int {
	var found [][]int
	for field := range of.Fields() {
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		embedded := field.Anonymous || slices.Contains(strings.Split(options, ","), "embed")
		index := append(slices.Clip(path), field.Index...)
		switch {
		case !embedded || name != "" || inner.Kind() != reflect.Struct || slices.Contains(outer, inner):
		case accept(inner):
			found = append(found, index)
		default:
			found = append(found, paths(inner, accept, index, append(outer, of)...)...)
		}
	}
	return found
}

// at returns a struct in a struct. It is invalid if a nil pointer to an unexported type is on the path, which no package can set.
func at(in reflect.Value, path []int) reflect.Value {
	for _, i := range path {
		if in = in.Field(i); in.Kind() == reflect.Pointer {
			if in.IsNil() && !in.CanSet() {
				return reflect.Value{}
			}
			if in.IsNil() {
				in.Set(reflect.New(in.Type().Elem()))
			}
			in = in.Elem()
		}
	}
	return in
}
