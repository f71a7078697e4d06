package prepaid

import (
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/govalues/decimal"

	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/wire"
)

var errAmountSyntax error = &valueError{"prepaid: amount: not a plain decimal number"}

// Amount is an exact decimal number of currency units; it has no currency. It has at most 19 digits in total and at most 19 decimals;
// leading zeros, and trailing zeros after the point, do not count. It is never rounded: a value that does not fit is [ErrAmountRange].
// Equal values are equal under ==, however they were written, and can be map keys. In JSON it is a number. As text, in fmt (verbs v, s and
// q) and in databases it has the same digits.
type Amount struct {
	value decimal.Decimal // no trailing zeros after the point; see amountUnset for the exception
}

var (
	_ fmt.Stringer             = Amount{}
	_ fmt.GoStringer           = Amount{}
	_ json.Marshaler           = Amount{}
	_ json.Unmarshaler         = (*Amount)(nil)
	_ encoding.TextAppender    = Amount{}
	_ encoding.TextMarshaler   = Amount{}
	_ encoding.TextUnmarshaler = (*Amount)(nil)
	_ driver.Valuer            = Amount{}
)

// amountUnset marks an Amount before decoding: JSON null and a missing member leave it unchanged. It is a zero with a
// scale, which no other function returns.
func amountUnset() Amount { return Amount{decimal.MustNew(0, decimal.MaxScale)} }

// unset reports whether a is still amountUnset.
func (a Amount) unset() bool { return a == amountUnset() }

// ParseAmount reads a plain decimal such as "25.50", "-3" or "0.125": an optional minus sign, digits without a leading zero, optionally a
// point and digits; no exponent, no separator. Errors: [ErrSyntax], [ErrAmountRange].
func ParseAmount(s string) (Amount, error) {
	var a Amount
	err := a.set(number.Parse(s, false))
	return a, ofInput(err)
}

// MustAmount is [ParseAmount] for constants and tests. It panics on an error.
func MustAmount(s string) Amount {
	a, err := ParseAmount(s)
	if err != nil {
		panic(err)
	}
	return a
}

// Cents returns n hundredths: Cents(2550) is 25.50. Every n fits.
func Cents(n int64) Amount { return Amount{decimal.MustNew(n, 2).Trim(0)} }

// Cents returns hundredths, or false for parts of a cent or an overflow.
func (a Amount) Cents() (int64, bool) {
	scale := a.value.Scale()
	if scale > 2 {
		return 0, false
	}
	high, cents := bits.Mul64(a.value.Coef(), power10(2-scale))
	switch {
	case high != 0:
		return 0, false
	case a.value.IsNeg() && cents <= -math.MinInt64:
		return -int64(cents), true // for the least int64, the conversion and the minus both wrap
	case cents <= math.MaxInt64:
		return int64(cents), true
	}
	return 0, false
}

// Add returns a + b, or [ErrAmountRange].
func (a Amount) Add(b Amount) (Amount, error) {
	sum, err := a.value.Add(b.value)
	if err != nil {
		return Amount{}, ErrAmountRange // the library's message shows the values
	}
	// A sum that was too long has lost decimals. It is exact only if subtracting a again gives b.
	if scale := max(a.value.Scale(), b.value.Scale()); sum.Scale() < scale {
		back, err := sum.SubExact(a.value, scale)
		if err != nil || back.Cmp(b.value) != 0 {
			return Amount{}, ErrAmountRange
		}
	}
	return Amount{sum.Trim(0)}, nil
}

// Sub returns a - b, or [ErrAmountRange].
func (a Amount) Sub(b Amount) (Amount, error) { return a.Add(b.Neg()) }

// Mul returns n times a, or [ErrAmountRange].
func (a Amount) Mul(n int64) (Amount, error) {
	product, err := a.value.Mul(decimal.MustNew(n, 0))
	if err != nil {
		return Amount{}, ErrAmountRange // the library's message shows the values
	}
	// A product that was too long has lost decimals. It is exact only if they were zeros.
	if lost := a.value.Scale() - product.Scale(); lost > 0 {
		factor := uint64(n)
		if n < 0 {
			factor = -factor
		}
		high, low := bits.Mul64(a.value.Coef(), factor)
		if bits.Rem64(high, low, power10(lost)) != 0 {
			return Amount{}, ErrAmountRange
		}
	}
	return Amount{product.Trim(0)}, nil
}

// Neg returns -a.
func (a Amount) Neg() Amount { return Amount{a.value.Neg()} }

// Abs returns the absolute value of a.
func (a Amount) Abs() Amount { return Amount{a.value.Abs()} }

// Compare returns -1 if a is less than b, 0 if equal and +1 if greater.
func (a Amount) Compare(b Amount) int { return a.value.Cmp(b.value) }

// Sign returns -1 if a is negative, 0 if it is 0, and +1 if it is positive.
func (a Amount) Sign() int { return a.value.Sign() }

// IsZero reports whether a is 0. If so, the JSON option omitzero omits a.
func (a Amount) IsZero() bool { return a.value.IsZero() }

// String returns the shortest form with two decimals or more: "3.00", "0.125".
func (a Amount) String() string {
	var buffer [24]byte
	return string(a.appendPlain(buffer[:0]))
}

// GoString returns the Go expression for a, for %#v and test failures.
func (a Amount) GoString() string { return `prepaid.MustAmount("` + a.String() + `")` }

// MarshalJSON writes the text of String as a number, always with a point.
func (a Amount) MarshalJSON() ([]byte, error) { return a.MarshalText() }

// UnmarshalJSON reads a number, also with an exponent if exact, or a string as [ParseAmount] does. null changes nothing. Errors:
// [ErrSyntax], [ErrAmountRange].
func (a *Amount) UnmarshalJSON(data []byte) error {
	switch kind, text := number.Scalar(data); kind {
	case number.Null:
		return nil
	case number.Number:
		return a.set(number.Parse(text, true))
	case number.String:
		return a.set(number.Parse(text, false))
	default:
		return errAmountSyntax
	}
}

// AppendText appends the form of [Amount.String] to b.
func (a Amount) AppendText(b []byte) ([]byte, error) { return a.appendPlain(b), nil }

// MarshalText returns the form of [Amount.String].
func (a Amount) MarshalText() ([]byte, error) { return a.appendPlain(make([]byte, 0, 24)), nil }

// UnmarshalText reads the form of [ParseAmount], with the same errors.
func (a *Amount) UnmarshalText(text []byte) error { return a.set(number.Parse(text, false)) }

// Value returns the form of String for a NUMERIC, DECIMAL or text column.
func (a Amount) Value() (driver.Value, error) { return a.String(), nil }

// Scan reads text as [ParseAmount] does, or an int64 of whole units. It refuses float64 and NULL (use sql.Null[Amount]). Errors:
// [ErrSyntax], [ErrAmountRange].
func (a *Amount) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return a.set(number.Parse(src, false))
	case []byte:
		return a.set(number.Parse(src, false))
	case int64:
		return a.set(decimal.MustNew(src, 0), nil)
	default:
		return fmt.Errorf("%w: cannot scan %T", errAmountSyntax, src)
	}
}

// set stores the result of number.Parse, or converts its error.
func (a *Amount) set(value decimal.Decimal, err error) error {
	switch {
	case err == nil:
		a.value = value
		return nil
	case errors.Is(err, number.ErrRange):
		return ErrAmountRange
	}
	return errAmountSyntax
}

func (a Amount) appendPlain(b []byte) []byte {
	b, _ = a.value.AppendText(b) // never fails
	switch a.value.Scale() {
	case 0:
		return append(b, ".00"...)
	case 1:
		return append(b, '0')
	}
	return b
}

// power10 returns 10^n for n up to 19.
func power10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// readWire reads a number, bare or quoted. Null leaves a unchanged.
func (a *Amount) readWire(r *wire.Reader) {
	if r.Null() {
		return
	}
	text, quoted := r.PlainText()
	if !quoted {
		text = r.Number()
	}
	if a.set(number.Parse(text, !quoted)) != nil {
		r.Fallback()
	}
}

func (a Amount) writeWire(w *wire.Writer) { w.Body = a.appendPlain(w.Body) }
