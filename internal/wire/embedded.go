package wire

import (
	"bytes"
	"encoding"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// Peek returns the value that d reads next, nil if it is malformed. d is the Decoder of json.Unmarshal, which has its whole text in memory.
func Peek(d *jsontext.Decoder) jsontext.Value {
	next := bytes.NewBuffer(Trim(d.UnreadBuffer()))
	value, _ := jsontext.NewDecoder(next, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)).ReadValue()
	return value
}

// Trim removes what a Decoder leaves unread until it reads the next value: white space, and the punctuation after the last name or element.
func Trim(unread []byte) []byte { return bytes.TrimLeft(unread, " \t\r\n,:") }

// Found returns a bit for each of the names, the lowest for the first, that is a member of an object. Null and empty text are the same as
// no member. If a name is repeated, the last value counts. The object was read before: it is valid.
func Found(object []byte, names ...string) (found uint) {
	for depth := 0; len(object) > 0; {
		switch object[0] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			var text []byte
			text, object = cutText(object)
			object = trimSpace(object)
			if depth != 1 || !bytes.HasPrefix(object, []byte(":")) {
				continue
			}
			i := slices.Index(names, string(text))
			if i < 0 {
				continue
			}
			value := trimSpace(object[1:])
			if found |= 1 << i; bytes.HasPrefix(value, []byte("null")) || bytes.HasPrefix(value, []byte(`""`)) {
				found &^= 1 << i
			}
			continue
		}
		object = object[1:]
	}
	return found
}

// cutText returns the text of a string, and what follows the string.
func cutText(in []byte) (text, rest []byte) {
	end := 1 + ascii.PlainLength(in[1:])
	plain := end
	for ; end < len(in) && in[end] != '"'; end++ {
		if in[end] == '\\' {
			end++
		}
	}
	if end >= len(in) {
		return nil, nil
	}
	if text = in[1:end]; plain < end {
		text, _ = jsontext.AppendUnquote(nil, in[:end+1])
	}
	return text, in[end+1:]
}

// trimSpace is faster than bytes.TrimLeft.
func trimSpace(text []byte) []byte {
	for len(text) > 0 && text[0] <= ' ' {
		text = text[1:]
	}
	return text
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
