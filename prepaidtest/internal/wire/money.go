package wire

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Money is an amount in ten-thousandths of a currency unit: exact, and large enough for any program.
type Money int64

const (
	moneyDecimals = 4
	moneyUnit     = 10_000
)

// errMoney says that a text is no amount this emulator can hold. It never quotes the text.
var errMoney = errors.New("must be a decimal number with at most four decimals")

// ParseMoney reads a JSON number: base ten, optional fraction and exponent, no leading zero.
func ParseMoney(text string) (Money, error) {
	rest, negative := strings.CutPrefix(text, "-")
	mantissa, exponentText, hasExponent := strings.Cut(strings.ToLower(rest), "e")
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	exponent := 0
	if hasExponent {
		var err error
		if exponent, err = strconv.Atoi(exponentText); err != nil || exponent < -20 || exponent > 20 {
			return 0, errMoney
		}
	}
	if !IsDigits(whole) || (hasPoint && !IsDigits(fraction)) || (len(whole) > 1 && whole[0] == '0') {
		return 0, errMoney
	}
	// The value is digits × 10^shift ten-thousandths.
	digits := strings.TrimLeft(whole+fraction, "0")
	shift := exponent - len(fraction) + moneyDecimals
	for shift < 0 && strings.HasSuffix(digits, "0") {
		digits, shift = digits[:len(digits)-1], shift+1
	}
	if digits == "" {
		return 0, nil
	}
	if shift < 0 || shift > 18 {
		return 0, errMoney
	}
	value, err := strconv.ParseInt(digits+strings.Repeat("0", shift), 10, 64)
	if err != nil {
		return 0, errMoney
	}
	if negative {
		value = -value
	}
	return Money(value), nil
}

// parseLoadAmount reads initial_load_amount in every written form of 4.4: decimal, 0 or 0o for octal, 0x for
// hexadecimal; with a decimal point always base ten.
func parseLoadAmount(text string) (Money, error) {
	if text == "" || strings.HasPrefix(text, "-") {
		return 0, errors.New("must be zero or more")
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
	if err != nil || value > math.MaxInt64/moneyUnit {
		return 0, errors.New("must be decimal, octal with a leading 0 or 0o, or hexadecimal with a leading 0x")
	}
	return Money(value * moneyUnit), nil
}

// Plus adds and reports false when the sum cannot be held.
func (m Money) Plus(other Money) (Money, bool) {
	sum := m + other
	if (other > 0 && sum < m) || (other < 0 && sum > m) {
		return 0, false
	}
	return sum, true
}

// String prints plain decimals, at least two.
func (m Money) String() string { return string(m.append(nil)) }

func (m Money) append(to []byte) []byte {
	value := uint64(m)
	if m < 0 {
		to, value = append(to, '-'), -value
	}
	to = strconv.AppendUint(to, value/moneyUnit, 10)
	point := len(to)
	to = strconv.AppendUint(to, moneyUnit+value%moneyUnit, 10)
	to[point] = '.'
	for len(to) > point+3 && to[len(to)-1] == '0' {
		to = to[:len(to)-1]
	}
	return to
}

// MarshalJSON writes a JSON number.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Money) UnmarshalJSON(text []byte) error {
	var err error
	*m, err = ParseMoney(string(text))
	return err
}
