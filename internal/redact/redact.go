// Package redact prints structs without the fields that hold personal data.
//
// A tag marks a field: the value of a field with redact:"personal" or redact:"content" prints as "[REDACTED]" if it is
// set; in an address with redact:"user" only the user information is hidden. A type with such a field has methods Format and
// LogValue, which call the functions [Format] and [LogValue] of this package. Both functions show the fields that are set, by
// name; Format does so for every verb. A nested struct prints itself, so it needs the two methods too if it has personal data.
//
// JSON is unchanged, because a queue between two services must receive the real data. The package does not examine values, and
// does not know which data is personal.
package redact

import (
	"fmt"
	"iter"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"unicode"
)

// Mark replaces every hidden value.
const Mark = "[REDACTED]"

// Format prints a struct for any verb: the fields that are set, by name, with Mark instead of hidden values.
func Format(f fmt.State, _ rune, v any) {
	value := reflect.ValueOf(v)
	var b strings.Builder
	name, _, _ := strings.Cut(value.Type().Name(), "[") // without the type's own arguments
	b.WriteString(name)
	b.WriteByte('{')
	first := true
	for name, field := range setFields(value) {
		if !first {
			b.WriteByte(' ')
		}
		first = false
		fmt.Fprintf(&b, "%s:%+v", name, field)
	}
	b.WriteByte('}')
	_, _ = f.Write([]byte(b.String()))
}

// LogValue returns the fields that Format prints, as a slog group.
func LogValue(v any) slog.Value {
	var attrs []slog.Attr
	for name, field := range setFields(reflect.ValueOf(v)) {
		attrs = append(attrs, slog.Any(name, field))
	}
	return slog.GroupValue(attrs...)
}

// setFields yields the exported fields of a struct that are not zero, with "[REDACTED]" for marked fields. It
// yields a nested value unchanged: a type with personal data redacts itself.
func setFields(value reflect.Value) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for field, content := range value.Fields() {
			if !field.IsExported() || content.IsZero() {
				continue
			}
			var shown any = Mark
			if mark, marked := field.Tag.Lookup("redact"); mark == "user" {
				shown = withoutUser(content.String())
			} else if !marked {
				if content.Kind() == reflect.Pointer && content.Elem().Kind() != reflect.Struct {
					content = content.Elem() // the optional text or flag, not the pointer
				}
				shown = content.Interface()
			}
			if !yield(field.Name, shown) {
				return
			}
		}
	}
}

// withoutUser returns an address with its user information masked. It masks anything else completely, including an address
// without a host: user:password@host is parsed as a scheme and a path.
func withoutUser(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return Mark
	}
	if parsed.User == nil {
		return address
	}
	scheme, rest, _ := strings.Cut(address, "//")
	end := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		end = i
	}
	return scheme + "//" + Mark + "@" + rest[strings.LastIndexByte(rest[:end], '@')+1:]
}

// Line returns text as one line of at most 200 printable characters.
func Line(text string) string {
	const longest = 200
	characters := []rune(strings.Join(strings.Fields(text), " "))
	if len(characters) > longest {
		characters = append(characters[:longest], '…')
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, string(characters))
}
