// Package personal finds the members and parameters that hold personal data, which the client does not print.
package personal

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"

	"github.com/cardprograms/prepaid"
)

// Marks returns the redaction tags of the client's types, by the name of the member or parameter. The place of
// the member does not matter, because a program with a bug sends members in wrong places too.
func Marks() map[string]string { return marks() }

var marks = sync.OnceValue(func() map[string]string { return MarksOf(reflect.TypeFor[prepaid.Client]()) })

// Hidden reports whether the value of a member or parameter must not be shown.
func Hidden(name string) bool { return marks()[name] == "personal" || marks()[name] == "content" }

// Decode decodes JSON, with numbers as they are written.
func Decode(text string) (value any, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// Replace replaces the members of all objects in decoded JSON. If member returns false, Replace descends into the value.
func Replace(value any, member func(name string, value any) (with any, replaced bool)) any {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			with, replaced := member(name, inner)
			if !replaced {
				with = Replace(inner, member)
			}
			value[name] = with
		}
	case []any:
		for i, element := range value {
			value[i] = Replace(element, member)
		}
	}
	return value
}

// MarksOf reads the tags of all types that the methods of a client's services take and return.
func MarksOf(client reflect.Type) map[string]string {
	found, seen := make(map[string]string), make(map[reflect.Type]bool)
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(t.Elem())
		case reflect.Func: // an iterator
			for in := range t.Ins() {
				walk(in)
			}
			for out := range t.Outs() {
				walk(out)
			}
		case reflect.Struct:
			for field := range t.Fields() {
				if !field.IsExported() {
					continue
				}
				walk(field.Type)
				if name, mark := wireName(field), markOf(field); name != "" && mark != "" {
					found[name] = mark
				}
			}
		}
	}
	for service := range client.Fields() {
		if service.IsExported() {
			for method := range service.Type.Methods() {
				walk(method.Type)
			}
		}
	}
	return found
}

// markOf is the tag of a field. An object with a personal member is personal, so that misspelled members are not shown.
func markOf(field reflect.StructField) string {
	inner := field.Type
	for inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	mark := field.Tag.Get("redact")
	if mark == "" && inner.Kind() == reflect.Struct {
		for member := range inner.Fields() {
			if tag := member.Tag.Get("redact"); tag == "personal" || tag == "content" {
				mark = tag
			}
		}
	}
	return mark
}

// wireName returns the JSON name of a field. Without one, it returns the query parameter of a text field, or an empty string.
func wireName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name != "" || field.Type.Kind() != reflect.String {
		return name
	}
	var snake strings.Builder
	for i, r := range field.Name {
		if i > 0 && unicode.IsUpper(r) {
			snake.WriteByte('_')
		}
		snake.WriteRune(unicode.ToLower(r))
	}
	return snake.String()
}
