package wire

import (
	"bytes"
	"encoding/binary"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// HasError reports whether body contains "error" in quotes. Nearly no body does, and a search for a quote or a letter stops
// at each one. So this looks for r, r, any byte, r first, in words of eight bytes that overlap by three.
func HasError(body []byte) bool {
	rest := body
	for len(rest) >= 13 {
		if rror(binary.LittleEndian.Uint64(rest))|rror(binary.LittleEndian.Uint64(rest[5:])) != 0 {
			break
		}
		rest = rest[10:]
	}
	start := max(len(body)-len(rest)-2, 0) // of the quote before what was found
	return bytes.Contains(body[start:], []byte(`"error"`))
}

// rror marks each r of a word that is followed by r, any byte and r.
func rror(word uint64) uint64 {
	const others = 0x7f * ascii.Ones
	word ^= 'r' * ascii.Ones
	marks := ^((word&others + others) | word | others) // the bytes that are 0 now
	return marks & (marks >> 8) & (marks >> 24)
}
