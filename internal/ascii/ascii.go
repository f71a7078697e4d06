// Package ascii classifies single bytes and words of eight bytes, for JSON readers and validation. It allocates nothing and does
// not know the meaning of the text.
package ascii

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Masks for a word of eight bytes: in Ones each byte is 1, in Tops the top bit of each byte is set.
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

// IsName reports whether s consists only of letters, digits, full stops, hyphens and underscores. It returns true for "".
func IsName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !IsDigit(c) && !IsUpper(c) && !IsLower(c) && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// IsPlain reports whether c needs no escape in a JSON string: it is ASCII, and not a control character, a quote or a backslash.
func IsPlain(c byte) bool { return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' }

// Special sets the top bit of each byte that is not plain. A subtraction sets this bit by a borrow if the byte is a quote, a
// backslash or below space; bytes above ASCII already have the bit. Only the lowest bit that is set is reliable, because a borrow
// propagates to higher bytes.
func Special(word uint64) uint64 {
	return ((word ^ '"'*Ones - Ones) | (word ^ '\\'*Ones - Ones) | (word - ' '*Ones) | word) & Tops
}

// PlainLength returns the length of text before the first byte that is not plain.
func PlainLength(text []byte) int {
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		if marks := Special(binary.LittleEndian.Uint64(text[n:])); marks != 0 {
			return n + bits.TrailingZeros64(marks)>>3
		}
	}
	for n < len(text) && IsPlain(text[n]) {
		n++
	}
	return n
}
