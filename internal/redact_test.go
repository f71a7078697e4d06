package internal_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/redact"
)

type person struct {
	ID      int
	Name    string `redact:"personal"`
	Raw     []byte `redact:"content"`
	Home    string `redact:"user"`
	Nick    *string
	Partner *person
	hidden  string
}

func (p person) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

func (p person) LogValue() slog.Value { return redact.LogValue(p) }

type list[T any] struct{ Items []T }

func (l list[T]) Format(f fmt.State, verb rune) { redact.Format(f, verb, l) }

// The fields that are set print by name, with a mark for hidden values, whatever the verb.
func TestFormat(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		value any
		want  string
	}{
		{person{}, "person{}"},
		{person{ID: 1, Name: "Ann", Raw: []byte("x"), hidden: "x"}, "person{ID:1 Name:[REDACTED] Raw:[REDACTED]}"},
		{&person{Partner: &person{Name: "Lee"}}, "person{Partner:person{Name:[REDACTED]}}"},
		{person{Nick: new("")}, "person{Nick:}"}, // set, although empty
		{list[person]{[]person{{ID: 1}}}, "list{Items:[person{ID:1}]}"},
		{person{Home: "https://ann:s3cr%40t@h.example:8443/a@b?c#d"}, "person{Home:https://[REDACTED]@h.example:8443/a@b?c#d}"},
		{person{Home: "https://h.example/?c=a:b@d"}, "person{Home:https://h.example/?c=a:b@d}"},
		{person{Home: "https://ann@h.example"}, "person{Home:https://[REDACTED]@h.example}"},
		{person{Home: "ann:s3cret@h.example"}, "person{Home:[REDACTED]}"}, // no URL without its host
		{person{Home: "s3cret@h.example/a"}, "person{Home:[REDACTED]}"},
		{person{Home: "https:ann:s3cret@h.example"}, "person{Home:[REDACTED]}"},
		{person{Home: "https:///ann:s3cret@h.example"}, "person{Home:[REDACTED]}"},
		{person{Home: "https://ann:s3cret@h.example/%zz"}, "person{Home:[REDACTED]}"},
	} {
		for _, verb := range []string{"%+v", "%v", "%#v", "%s", "%q", "%x", "%9d"} {
			require.Equal(t, row.want, fmt.Sprintf(verb, row.value), verb)
		}
	}
}
