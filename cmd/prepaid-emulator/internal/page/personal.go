package page

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"

	"github.com/cardprograms/prepaid"
)

// concealed stands for personal data, which the page of an account alone shows.
const concealed = "[personal]"

// marks are the redaction tags of the client's types, by the name of the member or parameter: what a client does not print, the
// page does not show. A name counts wherever it stands: a program that is being written sends members in the wrong place too.
var marks = sync.OnceValue(func() map[string]string { return marksOf(reflect.TypeFor[prepaid.Client]()) })

// isPersonal reports whether a member or parameter is left out.
func isPersonal(name string) bool { return marks()[name] == "personal" || marks()[name] == "content" }

// marksOf reads the tags of all types that the methods of a client's services take and return.
func marksOf(client reflect.Type) map[string]string {
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

// markOf is the tag of a field. An object with a personal member is personal itself, so that no misspelled member of it is shown.
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

// wireName is the name of a member or, of a text without one, that of a query parameter; otherwise empty.
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

// readable indents JSON, with personal data left out, and the query of a webhook's address, which may hold a secret. What is
// no JSON stays as it is, unless it was cut and may hold some.
func readable(text string) string {
	shown, problem := open(text)
	if problem != "" {
		return problem
	}
	var indented bytes.Buffer
	if json.Indent(&indented, []byte(shown), "", "  ") != nil {
		return shown
	}
	return indented.String()
}

// compact is readable on one line, for a program.
func compact(text string) string {
	shown, problem := open(text)
	if problem != "" {
		return concealed
	}
	return shown
}

// open redacts personal members, or returns the reason why it cannot; the rest of the text is unchanged.
func open(text string) (shown, problem string) {
	hidden := false
	for name := range marks() {
		hidden = hidden || strings.Contains(text, `"`+name+`"`)
	}
	if !hidden {
		return text, ""
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return "", "It holds what is not shown here, and is too long to leave that out."
	}
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(conceal(value)) != nil {
		return "", concealed
	}
	return strings.TrimSuffix(plain.String(), "\n"), ""
}

func conceal(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			address, isText := member.(string)
			switch {
			case isPersonal(name) && member != "[REDACTED]": // a secret, masked already
				value[name] = concealed
			case marks()[name] == "user" && isText:
				value[name] = plain(address)
			default:
				value[name] = conceal(member)
			}
		}
	case []any:
		for i, element := range value {
			value[i] = conceal(element)
		}
	}
	return value
}
