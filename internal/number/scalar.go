// Package number reads JSON numbers exactly, and accepts only JSON's grammar. Parse returns a decimal; Integer and Int64 accept any
// form of a whole number; Scalar returns the kind of a JSON value. Nothing is rounded: a number that does not fit is [ErrRange].
//
// Errors never quote the text. The meaning of an amount, an ID or a code, and the errors that callers see, belong to the
// packages above.
package number

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// Kind is the kind of a JSON value.
type Kind uint8

const (
	// Other means a boolean, an array, an object, or text that is not JSON.
	Other Kind = iota
	// Null is null.
	Null
	// Number begins like a number.
	Number
	// String is a string.
	String
)

// Scalar returns the kind of a JSON value and its text: the literal of a number, the content of a string.
// The caller checks the grammar of a number. The text may share memory with data.
func Scalar(data []byte) (Kind, []byte) {
	switch {
	case len(data) == 0:
		return Other, nil
	case string(data) == "null":
		return Null, nil
	case data[0] == '-' || ascii.IsDigit(data[0]):
		return Number, data
	case data[0] != '"' || len(data) < 2 || data[len(data)-1] != '"':
		return Other, nil
	}
	if text := data[1 : len(data)-1]; !bytes.ContainsAny(text, `\"`) && utf8.Valid(text) {
		return String, text
	}
	var text string // in this rare case the library reads the string, and replaces invalid UTF-8
	if err := json.Unmarshal(data, &text, jsontext.AllowInvalidUTF8(true)); err != nil {
		return Other, nil
	}
	return String, []byte(text)
}
