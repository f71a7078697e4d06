package wire

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// HasError reports whether body contains "error" in quotes. Nearly no body does. A search for a quote or a letter would
// stop often, so HasError first looks for r, r, any byte, r, in words of eight bytes that overlap by three.
func HasError(body []byte) bool {
	rest := body
	for len(rest) >= 13 {
		if rror(binary.LittleEndian.Uint64(rest))|rror(binary.LittleEndian.Uint64(rest[5:])) != 0 {
			break
		}
		rest = rest[10:]
	}
	start := max(len(body)-len(rest)-2, 0) // of the quote before the match
	return bytes.Contains(body[start:], []byte(`"error"`))
}

// Repeats reports whether body is an object that has a member of one of the names more than once.
func Repeats(body []byte, names ...string) bool {
	if !bytes.ContainsRune(body, '\\') && !slices.ContainsFunc(names, func(name string) bool { return bytes.Count(body, []byte(name)) > 1 }) {
		return false // as nearly always
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

// rror marks each r of a word that is followed by r, any byte and r.
func rror(word uint64) uint64 {
	const others = 0x7f * ascii.Ones
	word ^= 'r' * ascii.Ones
	marks := ^((word&others + others) | word | others) // the bytes that are 0 now
	return marks & (marks >> 8) & (marks >> 24)
}
