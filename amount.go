package prepaid

import (
	"cmp"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/wire"
)

var errAmountSyntax error = &valueError{"prepaid: amount: not a plain decimal number"}

// Amount is an exact decimal number of currency units; it has no currency. It has at most 19 digits in total and at most 19 decimals;
// leading zeros, and trailing zeros after the point, do not count. It is never rounded: a value that does not fit is [ErrAmountRange].
// Equal values are equal under ==, however they were written, and can be map keys. In JSON it is a number. As text, in fmt (verbs v, s and
// q), in binary formats and in databases it has the same value, with at least two decimals (12.50); MongoDB gets a Decimal128. Never use the
// array's element: it is for libraries that copy or store by reflection, such as DynamoDB's. An Amount with other elements than this package
// makes is not sent.
type Amount [1]amountNumbers

// amountNumbers are the digits and the decimals of a [number.Decimal]; a minus adds 100 to the decimals. They are not the fields of a
// struct, because those libraries write private fields as nothing, and read nothing, such as an earlier build wrote, as 0.00.
type amountNumbers [2]uint64

const minus = 100

var (
	_ fmt.Stringer               = Amount{}
	_ fmt.GoStringer             = Amount{}
	_ json.Marshaler             = Amount{}
	_ json.Unmarshaler           = (*Amount)(nil)
	_ encoding.TextAppender      = Amount{}
	_ encoding.TextMarshaler     = Amount{}
	_ encoding.TextUnmarshaler   = (*Amount)(nil)
	_ encoding.BinaryAppender    = Amount{}
	_ encoding.BinaryMarshaler   = Amount{}
	_ encoding.BinaryUnmarshaler = (*Amount)(nil)
	_ driver.Valuer              = Amount{}
)

func amountOf(d number.Decimal) Amount {
	a := Amount{{d.Digits, uint64(d.Decimals)}}
	if d.Negative {
		a[0][1] += minus
	}
	return a
}

func (a Amount) decimal() number.Decimal {
	return number.Decimal{Digits: a[0][0], Decimals: int8(a[0][1] % minus), Negative: a[0][1] >= minus}
}

// valid reports whether this package made a.
func (a Amount) valid() bool {
	d := a.decimal()
	return a == amountOf(d) && d.Digits < number.Power10(number.MaxDigits) && d.Decimals <= number.MaxDigits &&
		(d.Decimals == 0 || d.Digits%10 != 0) && (d.Digits != 0 || !d.Negative)
}

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
func Cents(n int64) Amount {
	a, _ := exactly(n < 0, 0, magnitude(n), 2)
	return a
}

// Cents returns hundredths, or false for parts of a cent or an overflow.
func (a Amount) Cents() (int64, bool) {
	d := a.decimal()
	if !a.valid() || d.Decimals > 2 {
		return 0, false
	}
	high, cents := d.Scaled(2)
	switch {
	case high != 0:
		return 0, false
	case d.Negative && cents <= -math.MinInt64:
		return -int64(cents), true // for the least int64, the conversion and the minus both wrap
	case cents <= math.MaxInt64:
		return int64(cents), true
	}
	return 0, false
}

// Add returns a + b, or [ErrAmountRange].
func (a Amount) Add(b Amount) (Amount, error) {
	if !a.valid() || !b.valid() {
		return Amount{}, ErrAmountRange
	}
	x, y := a.decimal(), b.decimal()
	if a.Abs().Compare(b.Abs()) < 0 {
		x, y = y, x
	}
	decimals := max(x.Decimals, y.Decimals)
	highX, lowX := x.Scaled(decimals)
	highY, lowY := y.Scaled(decimals)
	if x.Negative == y.Negative {
		low, carry := bits.Add64(lowX, lowY, 0)
		return exactly(x.Negative, highX+highY+carry, low, decimals)
	}
	low, borrow := bits.Sub64(lowX, lowY, 0)
	return exactly(x.Negative, highX-highY-borrow, low, decimals)
}

// Sub returns a - b, or [ErrAmountRange].
func (a Amount) Sub(b Amount) (Amount, error) { return a.Add(b.Neg()) }

// Mul returns n times a, or [ErrAmountRange].
func (a Amount) Mul(n int64) (Amount, error) {
	if !a.valid() {
		return Amount{}, ErrAmountRange
	}
	d := a.decimal()
	high, low := bits.Mul64(d.Digits, magnitude(n))
	return exactly(d.Negative != (n < 0), high, low, d.Decimals)
}

// exactly returns a number of 128 bits divided by 10^decimals, or [ErrAmountRange].
func exactly(negative bool, high, low uint64, decimals int8) (Amount, error) {
	for decimals > 0 {
		tenth, left := high/10, high%10
		rest, digit := bits.Div64(left, low, 10)
		if digit != 0 {
			break
		}
		high, low, decimals = tenth, rest, decimals-1
	}
	if high != 0 || low >= number.Power10(number.MaxDigits) {
		return Amount{}, ErrAmountRange
	}
	return amountOf(number.Decimal{Digits: low, Decimals: decimals, Negative: negative && low != 0}), nil
}

// Neg returns -a.
func (a Amount) Neg() Amount {
	if d := a.decimal(); a.valid() {
		d.Negative = !d.Negative && d.Digits != 0
		return amountOf(d)
	}
	return a
}

// Abs returns the absolute value of a.
func (a Amount) Abs() Amount {
	if a.Sign() < 0 {
		return a.Neg()
	}
	return a
}

// Compare returns -1 if a is less than b, 0 if equal and +1 if greater.
func (a Amount) Compare(b Amount) int {
	x, y := a.decimal(), b.decimal()
	decimals := max(x.Decimals, y.Decimals)
	highX, lowX := x.Scaled(decimals)
	highY, lowY := y.Scaled(decimals)
	return cmp.Or(cmp.Compare(a.Sign(), b.Sign()), a.Sign()*cmp.Or(cmp.Compare(highX, highY), cmp.Compare(lowX, lowY)))
}

// Equal reports whether a == b, for libraries that look for this method.
func (a Amount) Equal(b Amount) bool { return a == b }

// Sign returns -1 if a is negative, 0 if it is 0, and +1 if it is positive.
func (a Amount) Sign() int {
	switch {
	case a[0][0] == 0:
		return 0
	case a.decimal().Negative:
		return -1
	}
	return 1
}

func (a Amount) IsZero() bool { return a == Amount{} }

// String returns the shortest form with two decimals or more: "3.00", "0.125".
func (a Amount) String() string {
	var buffer [24]byte
	text, err := a.AppendText(buffer[:0])
	if err != nil {
		return "NaN"
	}
	return string(text)
}

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

func (a Amount) AppendText(b []byte) ([]byte, error) {
	if !a.valid() {
		return b, ErrAmountRange
	}
	return a.appendPlain(b), nil
}

func (a Amount) MarshalText() ([]byte, error) { return a.AppendText(make([]byte, 0, 24)) }

func (a *Amount) UnmarshalText(text []byte) error { return a.set(number.Parse(text, false)) }

func (a Amount) AppendBinary(b []byte) ([]byte, error) { return a.AppendText(b) }

func (a Amount) MarshalBinary() ([]byte, error) { return a.MarshalText() }

func (a *Amount) UnmarshalBinary(data []byte) error { return a.UnmarshalText(data) }

const (
	bsonString, bsonInt32, bsonInt64, bsonDecimal128 = 2, 16, 18, 19

	decimal128Bias = 6176 // the exponent 0
)

// MarshalBSONValue returns a Decimal128, which MongoDB can compare and add.
func (a Amount) MarshalBSONValue() (typ byte, data []byte, err error) {
	if !a.valid() {
		return 0, nil, ErrAmountRange
	}
	d := a.decimal()
	decimals := max(d.Decimals, 2)
	high, low := d.Scaled(decimals)
	high |= uint64(decimal128Bias-int(decimals)) << 49
	if d.Negative {
		high |= 1 << 63
	}
	return bsonDecimal128, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, low), high), nil
}

// UnmarshalBSONValue reads a Decimal128, an integer, or text as [ParseAmount] does. It refuses a double and null. Errors: [ErrSyntax],
// [ErrAmountRange].
func (a *Amount) UnmarshalBSONValue(typ byte, data []byte) error {
	switch n := len(data); {
	case typ == bsonString && n > 4:
		return a.UnmarshalText(data[4 : n-1]) // between the length and NUL
	case typ == bsonInt32 && n == 4:
		return a.Scan(int64(int32(binary.LittleEndian.Uint32(data))))
	case typ == bsonInt64 && n == 8:
		return a.Scan(int64(binary.LittleEndian.Uint64(data)))
	case typ == bsonDecimal128 && n == 16 && data[15]>>5&0b11 != 0b11: // neither NaN nor infinite
		low, high := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		digits := new(big.Int).SetUint64(high << 15 >> 15)
		digits.Or(digits.Lsh(digits, 64), new(big.Int).SetUint64(low))
		text := fmt.Appendf(nil, "%s%de%d", strings.Repeat("-", int(high>>63)), digits, int(high<<1>>50)-decimal128Bias)
		return a.set(number.Parse(text, true))
	}
	return errAmountSyntax
}

// Value returns the form of String for a NUMERIC, DECIMAL or text column.
func (a Amount) Value() (driver.Value, error) {
	text, err := a.MarshalText()
	return string(text), err
}

// Scan reads text as [ParseAmount] does, or an int64 of whole units. It refuses float64 and NULL (use sql.Null[Amount]). Errors:
// [ErrSyntax], [ErrAmountRange].
func (a *Amount) Scan(src any) error {
	switch src := src.(type) {
	case string:
		return a.set(number.Parse(src, false))
	case []byte:
		return a.set(number.Parse(src, false))
	case int64:
		return a.set(number.Decimal{Digits: magnitude(src), Negative: src < 0}, nil)
	default:
		return fmt.Errorf("%w: cannot scan %T", errAmountSyntax, src)
	}
}

// set stores the result of number.Parse, or converts its error.
func (a *Amount) set(value number.Decimal, err error) error {
	switch {
	case err == nil:
		*a = amountOf(value)
		return nil
	case errors.Is(err, number.ErrRange):
		return ErrAmountRange
	}
	return errAmountSyntax
}

// appendPlain is AppendText for a valid amount.
func (a Amount) appendPlain(b []byte) []byte {
	d := a.decimal()
	if d.Negative {
		b = append(b, '-')
	}
	p := number.Power10(d.Decimals)
	b = append(strconv.AppendUint(b, d.Digits/p, 10), '.')
	for p /= 10; p > 0; p /= 10 {
		b = append(b, byte('0'+d.Digits/p%10))
	}
	for range 2 - d.Decimals {
		b = append(b, '0')
	}
	return b
}

// magnitude returns n without its sign.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
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
