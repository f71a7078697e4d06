package number

import (
	"errors"
	"math"
	"strconv"

	"github.com/govalues/decimal"

	"github.com/cardprograms/prepaid/internal/ascii"
)

var (
	// ErrSyntax means that the text is not a number.
	ErrSyntax = errors.New("not a number")
	// ErrRange means that the number needs more than MaxDigits digits or decimals.
	ErrRange = errors.New("needs more than 19 digits")
)

// MaxDigits is the number of digits of a decimal: the whole coefficient of the decimal library.
const MaxDigits = decimal.MaxPrec

// Parse reads a number in JSON's grammar without rounding, and returns a decimal without trailing zeros after the point.
// An exponent is accepted only if exponent is true. The library's own Parse accepts more forms (leading zeros, "+1", ".5")
// and rounds numbers that are too long.
func Parse[T string | []byte](text T, exponent bool) (decimal.Decimal, error) {
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
		return decimal.Decimal{}, ErrSyntax
	}
	shift := int64(0) // the value is the digits times 10^shift
	if i < len(text) && text[i] == '.' {
		i++
		point := i
		for ; i < len(text) && ascii.IsDigit(text[i]); i++ {
			c.push(text[i] - '0')
		}
		if i == point {
			return decimal.Decimal{}, ErrSyntax
		}
		shift = -int64(i - point)
	}
	if exponent && i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		e, ok := scanExponent(text[i+1:])
		if !ok {
			return decimal.Decimal{}, ErrSyntax
		}
		shift += e
		i = len(text)
	}
	if i != len(text) {
		return decimal.Decimal{}, ErrSyntax
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
func (c *coefficient) decimal(negative bool, shift int64) (decimal.Decimal, error) {
	shift += int64(c.zeros)
	switch {
	case c.digits == 0:
		return decimal.Decimal{}, nil // also -0 and 0e9
	case c.digits > MaxDigits || shift < -decimal.MaxScale || int64(c.digits)+shift > MaxDigits:
		return decimal.Decimal{}, ErrRange
	}
	value := c.value
	for ; shift > 0; shift-- {
		value *= 10
	}
	return newDecimal(negative, value, int(-shift))
}

// newDecimal returns value / 10^scale. value has at most MaxDigits digits, scale is at most [decimal.MaxScale].
func newDecimal(negative bool, value uint64, scale int) (decimal.Decimal, error) {
	// The library's constructor takes an int64, which is too small for 19 digits: add two halves.
	var d decimal.Decimal
	var err error
	if value <= math.MaxInt64 {
		d, err = decimal.New(int64(value), scale)
	} else {
		half := decimal.MustNew(int64(value/2), scale)
		d, err = half.AddExact(decimal.MustNew(int64(value-value/2), scale), scale)
	}
	if negative {
		d = d.Neg()
	}
	return d, err
}

// Integer returns the plain form of a JSON number that is an integer: 12 for 12.0 and for 1.2e1. It returns any other number
// unchanged, and also a number that is too long to convert. False means that text is not a number. The result may share memory with text.
func Integer(text []byte) ([]byte, bool) {
	if n := len(text); n > 0 && n <= MaxDigits && text[0] != '0' && ascii.IsDigits(text) {
		return text, true
	}
	value, err := Parse(text, true)
	switch {
	case err == nil && value.Scale() == 0:
		plain, _ := value.AppendText(nil) // never fails
		return plain, true
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
