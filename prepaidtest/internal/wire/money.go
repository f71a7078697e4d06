package wire

import (
	"errors"
	"strconv"
	"strings"

	"github.com/govalues/decimal"
)

// Money is an exact amount of up to 19 digits, including decimals. Its zero value is 0; equal amounts are equal under ==.
type Money struct {
	value decimal.Decimal // without trailing zeros after the point
}

const mostDigits = decimal.MaxPrec

// ErrMoney reports a text that is not an amount for this emulator. It never quotes the text.
var ErrMoney = errors.New("must be a decimal number of at most 19 digits")

// Whole is n units.
func Whole(n int64) Money { return Money{decimal.MustNew(n, 0)} }

// ParseMoney reads a JSON number: base ten, optional fraction and exponent, no leading zero.
func ParseMoney(text string) (Money, error) {
	digits, exponent, ok := parseNumber(text)
	if !ok || len(digits)+max(exponent, 0) > mostDigits+1 || -exponent > decimal.MaxScale {
		return Money{}, ErrMoney
	}
	if len(strings.TrimPrefix(digits, "-"))+max(exponent, 0) > mostDigits {
		return Money{}, ErrMoney
	}
	value, err := decimal.Parse(digits + "e" + strconv.Itoa(exponent))
	if err != nil {
		return Money{}, ErrMoney
	}
	return Money{value.Trim(0)}, nil
}

// ParseInteger reads a JSON number that is an integer, such as 2950, 2950.0 and 295e1.
func ParseInteger(text string) (int64, bool) {
	digits, exponent, ok := parseNumber(text)
	if !ok || exponent < 0 {
		return 0, false
	}
	value, err := strconv.ParseInt(digits+strings.Repeat("0", exponent), 10, 64)
	return value, err == nil
}

// parseNumber splits a JSON number into digits, with a minus sign, and the exponent of a power of ten, from -40 to 40. The
// digits have no superfluous zeros at either end.
func parseNumber(text string) (digits string, exponent int, ok bool) {
	rest, negative := strings.CutPrefix(text, "-")
	mantissa, exponentText, hasExponent := strings.Cut(strings.ToLower(rest), "e")
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	if hasExponent {
		var err error
		if exponent, err = strconv.Atoi(exponentText); err != nil || exponent < -20 || exponent > 20 {
			return "", 0, false
		}
	}
	if !IsDigits(whole) || (hasPoint && !IsDigits(fraction)) || (len(whole) > 1 && whole[0] == '0') {
		return "", 0, false
	}
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", 0, true
	}
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short) - len(fraction)
	if negative {
		short = "-" + short
	}
	return short, exponent, true
}

// parseLoadAmount reads initial_load_amount in every written form of 4.4: decimal, 0 or 0o for octal, 0x for
// hexadecimal. A number with a decimal point is always base ten.
func parseLoadAmount(text string) (Money, error) {
	if text == "" || strings.HasPrefix(text, "-") {
		return Money{}, errors.New("must be zero or more")
	}
	lower := strings.ToLower(text)
	digits, base := "", 0
	switch {
	case strings.HasPrefix(lower, "0x"):
		digits, base = lower[2:], 16
	case strings.Contains(lower, "."):
		for len(lower) > 1 && lower[0] == '0' && lower[1] != '.' {
			lower = lower[1:]
		}
		return ParseMoney(lower)
	case strings.HasPrefix(lower, "0o"):
		digits, base = lower[2:], 8
	case len(lower) > 1 && lower[0] == '0' && IsDigits(lower):
		digits, base = lower[1:], 8
	default:
		return ParseMoney(lower)
	}
	value, err := strconv.ParseUint(digits, base, 63)
	if err != nil {
		return Money{}, errors.New("must be decimal, octal with a leading 0 or 0o, or hexadecimal with a leading 0x")
	}
	return Whole(int64(value)), nil
}

// Plus adds other. It returns false if the sum needs more than 19 digits.
func (m Money) Plus(other Money) (Money, bool) {
	sum, err := m.value.AddExact(other.value, max(m.value.Scale(), other.value.Scale()))
	return Money{sum.Trim(0)}, err == nil
}

// Minus subtracts other. It returns false if the difference needs more than 19 digits.
func (m Money) Minus(other Money) (Money, bool) { return m.Plus(other.Neg()) }

// Neg returns -m.
func (m Money) Neg() Money { return Money{m.value.Neg()} }

// Abs returns the amount without its sign.
func (m Money) Abs() Money { return Money{m.value.Abs()} }

// Sign is -1, 0 or 1.
func (m Money) Sign() int { return m.value.Sign() }

// Cmp is below zero if m is less than other, 0 if both are equal, and above zero otherwise.
func (m Money) Cmp(other Money) int { return m.value.Cmp(other.value) }

// String prints a plain number, with at least two decimals if they fit.
func (m Money) String() string { return string(m.append(nil)) }

func (m Money) append(to []byte) []byte {
	to, _ = m.value.Pad(2).AppendText(to) // never fails
	return to
}

// MarshalJSON writes a JSON number.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON reads the form that MarshalJSON writes.
func (m *Money) UnmarshalJSON(text []byte) error {
	var err error
	*m, err = ParseMoney(string(text))
	return err
}
