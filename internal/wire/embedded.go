package wire

import (
	"encoding"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeEmbedded decodes a struct that embeds structs of accepted types, at any depth: each of them alone with decode, from the object of the
// whole struct, then all its members. It skips any other value, and one that reads its own JSON.
func DecodeEmbedded(d *jsontext.Decoder, value any, accept func(reflect.Type) bool, decode func(body []byte, part any) error) error {
	switch value.(type) {
	case json.Unmarshaler, json.UnmarshalerFrom, encoding.TextUnmarshaler:
		return ErrSkip
	}
	to := reflect.ValueOf(value).Elem()
	// Deterministic is for encoding. Here it marks the struct whose embedded structs have been decoded.
	if done, _ := json.GetOption(d.Options(), json.Deterministic); to.Kind() != reflect.Struct || done && d.StackDepth() == 0 {
		return ErrSkip
	}
	found := paths(to.Type(), accept, nil)
	if len(found) == 0 {
		return ErrSkip
	}
	body, err := d.ReadValue()
	start := d.InputOffset() - int64(len(body))
	for _, path := range found {
		part := at(to, path)
		if err != nil || !part.IsValid() {
			continue
		}
		if part = part.Addr(); !part.CanInterface() { // embedded under an unexported name: the rules are checked on another value
			part = reflect.New(part.Type().Elem())
		}
		err = decode(body, part.Interface())
	}
	if err == nil {
		err = json.Unmarshal(body, value, d.Options(), json.Deterministic(true))
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		semantic.ByteOffset += start
	}
	return err
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
