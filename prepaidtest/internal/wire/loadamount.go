package wire

import "bytes"

// DecimalLoadAmount rewrites an initial_load_amount in octal or hexadecimal, which the reference allows and JSON does not, as a decimal
// number. A colon follows a name, and the first quote of a name is not escaped: this distinguishes a name from a value.
func DecimalLoadAmount(body []byte) []byte {
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
			return decimal10(body, len(body)-len(rest))
		}
	}
}

// jsonSpace is the white space of JSON.
const jsonSpace = " \t\r\n"

// decimal10 rewrites the number at body[from:] if it has a leading zero or a prefix.
func decimal10(body []byte, from int) []byte {
	rest := body[from:]
	length := bytes.IndexAny(rest, ",}"+jsonSpace)
	if length < 2 || rest[0] != '0' {
		return body
	}
	made := bytes.Clone(body[:from])
	if amount, err := parseLoadAmount(string(rest[:length])); err == nil {
		made = amount.append(made)
	} else {
		made = append(append(append(made, '"'), rest[:length]...), '"') // a text is refused by the name of its member
	}
	return append(made, rest[length:]...)
}
