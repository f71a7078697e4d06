package prepaid

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
)

// ErrMCCSyntax means that a merchant category code is not one to four decimal digits, or came as a JSON value
// that is neither a number nor a string.
var ErrMCCSyntax = errors.New("prepaid: merchant category code: not four digits")

// MCC is a four-digit ISO 18245 merchant category code, such as "5411" or "0742", leading zeros included.
//
// The service sends it as an integer in some places and as a string in others. Both are read into the one
// four-digit form, and each call sends the form that its operation asks for. A received value that is no such
// code is kept as it came. The zero value is no code.
type MCC string

// ParseMCC reads one to four digits and fills them up with leading zeros: "742" is 0742.
//
// Errors: [ErrMCCSyntax].
func ParseMCC(s string) (MCC, error) {
	if m := MCC(padCode(s)); m.valid() {
		return m, nil
	}
	return "", ErrMCCSyntax
}

// UnmarshalJSON reads a number or a string, either with or without leading zeros: 742, "742" and "0742" are one
// code. JSON null is the empty code.
//
// Errors: [ErrMCCSyntax] for a boolean, array or object.
func (m *MCC) UnmarshalJSON(data []byte) error {
	switch kind, text := number.Scalar(data); kind {
	case number.Null:
		*m = ""
		return nil
	case number.String:
		*m = MCC(padCode(string(text)))
		return nil
	case number.Number:
		if integer, ok := number.Integer(text); ok {
			*m = MCC(padCode(string(integer)))
			return nil
		}
	}
	return ErrMCCSyntax
}

// valid reports whether m is four digits, as the service wants it.
func (m MCC) valid() bool { return len(m) == 4 && ascii.IsDigits(string(m)) }

// padCode adds the leading zeros that a four-digit code has lost, and leaves everything else alone.
func padCode(s string) string {
	if len(s) < 4 && ascii.IsDigits(s) {
		s = "0000"[len(s):] + s
	}
	return s
}

// mccNumber is an MCC where the service wants an integer. It refuses a code that is not valid.
type mccNumber MCC

var _ json.Marshaler = mccNumber("")

// MarshalJSON writes the code as a JSON number, which has no leading zeros.
func (n mccNumber) MarshalJSON() ([]byte, error) {
	if !MCC(n).valid() {
		return nil, ErrMCCSyntax
	}
	if n == "0000" {
		return []byte("0"), nil
	}
	return []byte(strings.TrimLeft(string(n), "0")), nil
}
