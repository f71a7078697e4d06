package prepaid

import (
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"strings"
)

// Personal data and other content print as "[REDACTED]" when set. Which fields they are stands in their tag,
// redact:"personal" or redact:"content", beside the type that holds them; JSON is untouched, for a queue between
// two services would write the mask back as the name.

// formatRedacted prints a struct for any verb: set fields by name, marked ones without their value.
func formatRedacted(f fmt.State, _ rune, v any) {
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

// redactedValue is the same as a slog group.
func redactedValue(v any) slog.Value {
	var attrs []slog.Attr
	for name, field := range setFields(reflect.ValueOf(v)) {
		attrs = append(attrs, slog.Any(name, field))
	}
	return slog.GroupValue(attrs...)
}

// setFields yields the exported fields of a struct that are not zero, marked ones as "[REDACTED]". A nested value
// is yielded as it is: a type with personal data redacts itself.
func setFields(value reflect.Value) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for field, content := range value.Fields() {
			if !field.IsExported() || content.IsZero() {
				continue
			}
			var shown any = redacted
			if _, marked := field.Tag.Lookup("redact"); !marked {
				if content.Kind() == reflect.Pointer && content.Elem().Kind() != reflect.Struct {
					content = content.Elem() // an optional text or flag, not its address
				}
				shown = content.Interface()
			}
			if !yield(field.Name, shown) {
				return
			}
		}
	}
}
