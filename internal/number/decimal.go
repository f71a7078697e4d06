package number

import (
	"errors"
	"math/bits"
	"strconv"

	"github.com/cardprograms/prepaid/internal/ascii"
)

var (
	// ErrSyntax means that the text is not a number.
	ErrSyntax = errors.New("not a number")
	// ErrRange means that the number needs more than MaxDigits digits or decimals.
	ErrRange = errors.New("needs more than 19 digits")
)

// MaxDigits is the number of digits of a decimal, and of its decimals: what fits into 64 bits.
const MaxDigits = 19

// Decimal is Digits / 10^Decimals, with a minus sign if Negative. The functions of this package return no trailing zeros after
// the point and no negative zero.
type Decimal struct {
	Digits   uint64
	Decimals int8
	Negative bool
}

// Scaled returns the digits of d with so many decimals, not less than d has. The two halves of a number of 128 bits hold even the sum
// of two results.
func (d Decimal) Scaled(decimals int8) (high, low uint64) {
	return bits.Mul64(d.Digits, Power10(decimals-d.Decimals))
}

// Power10 returns 10^n for n up to 19.
func Power10(n int8) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

// Parse reads a number in JSON's grammar without rounding. An exponent is accepted only if exponent is true.
func Parse[T string | []byte](text T, exponent bool) (Decimal, error) {
	var c coefficient
	i := 0
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		i++
	}
	whole := i
	for ; i < len(text) && ascii.IsDigit(text[i]); i++ {
		c.push(text[i] - '0')
	}
	if i == whole || i > whole+1 && text[whole] == '0' {
		return Decimal{}, ErrSyntax
	}
	shift := int64(0) // the value is the digits times 10^shift
	if i < len(text) && text[i] == '.' {
		i++
		point := i
		for ; i < len(text) && ascii.IsDigit(text[i]); i++ {
			c.push(text[i] - '0')
		}
		if i == point {
			return Decimal{}, ErrSyntax
		}
		shift = -int64(i - point)
	}
	if exponent && i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		e, ok := scanExponent(text[i+1:])
		if !ok {
			return Decimal{}, ErrSyntax
		}
		shift += e
		i = len(text)
	}
	if i != len(text) {
		return Decimal{}, ErrSyntax
	}
	return c.decimal(negative, shift)
}

// scanExponent reads an integer, with a sign or without. The result is limited to 2^40: no text is long enough to compensate for
// such an exponent.
func scanExponent[T string | []byte](text T) (int64, bool) {
	i, sign := 0, int64(1)
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		if text[0] == '-' {
			sign = -1
		}
		i++
	}
	if i == len(text) {
		return 0, false
	}
	e := int64(0)
	for ; i < len(text); i++ {
		if !ascii.IsDigit(text[i]) {
			return 0, false
		}
		e = min(e*10+int64(text[i]-'0'), 1<<40)
	}
	return sign * e, true
}

// coefficient collects the digits of a number. It only counts trailing zeros, so that they never make a number too long.
type coefficient struct {
	value  uint64 // the digits up to the last one that is not 0; undefined once digits exceeds MaxDigits
	digits int    // how many digits value has
	zeros  int    // zeros seen after these digits
}

func (c *coefficient) push(digit byte) {
	if digit == 0 {
		c.zeros++
		return
	}
	if c.digits == 0 {
		c.zeros = 0 // leading zeros do not count
	}
	if c.digits += c.zeros + 1; c.digits <= MaxDigits {
		for range c.zeros + 1 {
			c.value *= 10
		}
		c.value += uint64(digit)
	}
	c.zeros = 0
}

// decimal returns the digits pushed so far, times 10^shift.
func (c *coefficient) decimal(negative bool, shift int64) (Decimal, error) {
	shift += int64(c.zeros)
	switch {
	case c.digits == 0:
		return Decimal{}, nil // also -0 and 0e9
	case c.digits > MaxDigits || shift < -MaxDigits || int64(c.digits)+shift > MaxDigits:
		return Decimal{}, ErrRange
	}
	value := c.value
	for ; shift > 0; shift-- {
		value *= 10
	}
	return Decimal{value, int8(-shift), negative}, nil
}

// Integer returns the plain form of a JSON number that is an integer: 12 for 12.0 and for 1.2e1. It returns any other number
// unchanged, and also a number that is too long to convert. False means that text is not a number. The result may share memory with text.
func Integer(text []byte) ([]byte, bool) {
	if n := len(text); n > 0 && n <= MaxDigits && text[0] != '0' && ascii.IsDigits(text) {
		return text, true
	}
	value, err := Parse(text, true)
	switch {
	case err == nil && value.Decimals == 0:
		var plain []byte
		if value.Negative {
			plain = append(plain, '-')
		}
		return strconv.AppendUint(plain, value.Digits, 10), true
	case err == nil || errors.Is(err, ErrRange):
		return text, true
	}
	return nil, false
}

// Int64 returns the value of a JSON number that is an integer: 12 for 12.0 and for 1.2e1. False means that text is something
// else or out of range.
func Int64(text []byte) (int64, bool) {
	integer, ok := Integer(text)
	if !ok {
		return 0, false
	}
	value, err := strconv.ParseInt(string(integer), 10, 64)
	return value, err == nil
}
