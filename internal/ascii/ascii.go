// Package ascii answers questions about single bytes and words of eight bytes, for the readers of JSON and the checks of
// values. It allocates nothing and knows nothing of what the text means.
package ascii

import "unicode/utf8"

// A word of eight bytes is examined at once: Ones has each byte 1, Tops each byte's top bit.
const (
	Ones = 0x0101010101010101
	Tops = 0x80 * Ones
)

// IsDigit reports whether c is one of 0 to 9.
func IsDigit[T byte | rune](c T) bool { return '0' <= c && c <= '9' }

// IsUpper reports whether c is one of A to Z.
func IsUpper[T byte | rune](c T) bool { return 'A' <= c && c <= 'Z' }

// IsLower reports whether c is one of a to z.
func IsLower[T byte | rune](c T) bool { return 'a' <= c && c <= 'z' }

// IsDigits reports whether s is one or more digits.
func IsDigits[T string | []byte](s T) bool {
	for i := range len(s) {
		if !IsDigit(s[i]) {
			return false
		}
	}
	return len(s) > 0
}

// IsName reports whether s consists of letters, digits, full stops, hyphens and underscores. An empty text does.
func IsName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !IsDigit(c) && !IsUpper(c) && !IsLower(c) && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// IsPlain reports whether c stands for itself in a JSON string: ASCII, no control character, quote or backslash.
func IsPlain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// Special sets the top bit of each byte that is not plain: a subtraction borrows where the byte is a quote, a backslash or
// below space, and bytes above ASCII have it from the start. Only the lowest mark is reliable, since a borrow goes on into the
// bytes above.
func Special(word uint64) uint64 {
	return ((word ^ '"'*Ones - Ones) | (word ^ '\\'*Ones - Ones) | (word - ' '*Ones) | word) & Tops
}
