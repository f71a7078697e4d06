package wire

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// HasError reports whether body contains "error" in quotes, which is rare. A search for one byte would stop often. So HasError
// first looks for the pattern "r, r, any byte, r", in words of eight bytes that overlap by three.
func HasError(body []byte) bool {
	rest := body
	for len(rest) >= 13 {
		if rror(binary.LittleEndian.Uint64(rest))|rror(binary.LittleEndian.Uint64(rest[5:])) != 0 {
			break
		}
		rest = rest[10:]
	}
	start := max(len(body)-len(rest)-2, 0) // where the quote would be, before the first match
	return bytes.Contains(body[start:], []byte(`"error"`))
}

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

// rror marks each byte r, in a word of eight bytes, after which r, any byte and r follow.
func rror(word uint64) uint64 {
	const others = 0x7f * ascii.Ones
	word ^= 'r' * ascii.Ones
	marks := ^((word&others + others) | word | others) // the bytes that are 0 now
	return marks & (marks >> 8) & (marks >> 24)
}
