package wire

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Repeats reports whether body is an object in which a member with one of the names occurs more than once.
func Repeats(body []byte, names ...string) bool {
	if !bytes.ContainsRune(body, '\\') && !slices.ContainsFunc(names, func(name string) bool { return bytes.Count(body, []byte(name)) > 1 }) {
		return false // the usual case
	}
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return false
	}
	seen := make([]string, 0, len(names))
	for {
		token, err := d.ReadToken()
		if err != nil || token.Kind() != '"' {
			return false
		}
		if name := token.String(); slices.Contains(seen, name) {
			return true
		} else if slices.Contains(names, name) {
			seen = append(seen, name)
		}
		if d.SkipValue() != nil {
			return false
		}
	}
}
