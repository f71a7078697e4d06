// Package document helps packages to save and restore state: it reads JSON strictly, and lists maps in an order that
// depends on the state alone. Its errors never quote the text, which is full of secrets.
//
// It keeps no state.
package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Unmarshal refuses unknown members, so that data that another writer added is not lost.
func Unmarshal(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// WithoutValues describes an invalid document without quoting it.
func WithoutValues(err error) error {
	if broken, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the state is not JSON, or not all of it: byte %d", broken.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the state is not JSON, or not all of it")
	}
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		member, _, _ := strings.Cut(mistyped.Field, ".")
		return fmt.Errorf("the state's member %s has a wrong type", member)
	}
	return errors.New("the state has an unknown member or a value that cannot be read")
}

// Wrong names the place of an element and the rule that the element breaks.
func Wrong(list string, i int, rule string) error { return fmt.Errorf("%s[%d] %s", list, i, rule) }

// Sorted lists a map in the order of its keys.
func Sorted[K cmp.Ordered, V, S any](from map[K]V, saved func(K, V) S) []S {
	list := make([]S, 0, len(from))
	for _, key := range slices.Sorted(maps.Keys(from)) {
		list = append(list, saved(key, from[key]))
	}
	return list
}
