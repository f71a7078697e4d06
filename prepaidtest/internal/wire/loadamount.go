package wire

import "bytes"

// QuoteLoadAmount puts quotes around an initial_load_amount in octal or hexadecimal, which the reference allows
// and JSON does not. A colon follows a name, and the first quote of a name is not escaped: this distinguishes
// a name from a value.
func QuoteLoadAmount(body []byte) []byte {
	const name = `"initial_load_amount"`
	for from := 0; ; {
		at := bytes.Index(body[from:], []byte(name))
		if at < 0 {
			return body
		}
		at, from = from+at, from+at+len(name)
		rest, isName := bytes.CutPrefix(bytes.TrimLeft(body[from:], jsonSpace), []byte(":"))
		if isName && (at == 0 || body[at-1] != '\\') {
			rest = bytes.TrimLeft(rest, jsonSpace)
			return quoteNumber(body, len(body)-len(rest))
		}
	}
}

// jsonSpace is the white space of JSON.
const jsonSpace = " \t\r\n"

// quoteNumber quotes the number at body[from:] if it has a leading zero or a prefix.
func quoteNumber(body []byte, from int) []byte {
	rest := body[from:]
	length := bytes.IndexAny(rest, ",}"+jsonSpace)
	if length < 2 || rest[0] != '0' || rest[1] == '.' || rest[1] == 'e' || rest[1] == 'E' {
		return body
	}
	quoted := append([]byte(nil), body[:from]...)
	quoted = append(quoted, '"')
	quoted = append(quoted, rest[:length]...)
	quoted = append(quoted, '"')
	return append(quoted, rest[length:]...)
}
