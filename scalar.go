package prepaid

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// scalarKind is the kind of a JSON value that a value type can be read from.
type scalarKind uint8

const (
	scalarOther scalarKind = iota // boolean, array, object, or not JSON
	scalarNull
	scalarNumber
	scalarString
)

// jsonScalar returns the kind of a JSON value and its text: the literal of a number, the content of a string.
// The grammar of a number is left to the caller. The text may share memory with data.
func jsonScalar(data []byte) (scalarKind, []byte) {
	switch {
	case len(data) == 0:
		return scalarOther, nil
	case string(data) == "null":
		return scalarNull, nil
	case data[0] == '-' || '0' <= data[0] && data[0] <= '9':
		return scalarNumber, data
	case data[0] != '"' || len(data) < 2 || data[len(data)-1] != '"':
		return scalarOther, nil
	}
	if text := data[1 : len(data)-1]; !bytes.ContainsAny(text, `\"`) && utf8.Valid(text) {
		return scalarString, text
	}
	var text string // rare, so left to encoding/json, which replaces what is not UTF-8
	if err := json.Unmarshal(data, &text); err != nil {
		return scalarOther, nil
	}
	return scalarString, []byte(text)
}
