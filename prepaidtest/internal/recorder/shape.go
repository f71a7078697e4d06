//go:build prepaidrecord

package recorder

import (
	"hash/maphash"
)

// shape adds a text to a hash in which all words with a digit, such as numbers and IDs, are equal. All other text
// is hashed unchanged.
func shape(h *maphash.Hash, text []byte) {
	for i := 0; i < len(text); {
		end, digit := i, false
		for ; end < len(text) && isWord(text[end]); end++ {
			digit = digit || (text[end] >= '0' && text[end] <= '9')
		}
		switch {
		case end == i:
			_ = h.WriteByte(text[i])
			end++
		case digit:
			_ = h.WriteByte('0')
		default:
			_, _ = h.Write(text[i:end])
		}
		i = end
	}
}

func isWord(c byte) bool {
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
}

// elements splits the text of an array without spaces; nil for any other.
func elements(text []byte) [][]byte {
	if len(text) < 3 || text[0] != '[' {
		return nil
	}
	var all [][]byte
	depth, from, quoted := 0, 1, false
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case (c == ']' || c == ',') && depth == 0:
			all = append(all, text[from:i])
			from = i + 1
		case c == '}' || c == ']':
			depth--
		}
	}
	return all
}
