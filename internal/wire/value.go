package wire

import (
	"time"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
)

// Text reads a string, or the text of a number. Null is the empty string.
func Text(to *string, r *Reader) {
	text, plain := r.PlainText()
	switch {
	case plain && len(text) > 0:
	case plain:
		r.inexact = true // an empty member may be omitted when written
	case r.isNumber():
		text = r.checkedNumber()
		r.inexact = true // it is written as a string
	case r.Null():
	default:
		text = r.text()
	}
	r.Set(to, text) // also for null: an earlier member may have set it
}

// StringOrInteger reads a string or a whole number. It returns a number in plain form: 12 for 12.0. For null it returns
// nil. The result is valid until the next string is read.
func (r *Reader) StringOrInteger() (text []byte, bare bool) {
	switch {
	case r.isNumber():
		integer, ok := number.Integer(r.Number())
		if !ok {
			r.Fallback()
		}
		return integer, true
	case r.Null():
		return nil, false
	}
	return r.text(), false
}

// Bool reads a boolean. Null is false.
func Bool(to *bool, r *Reader) {
	switch {
	case r.literal("true"):
		*to = true
	case r.literal("false"), r.literal("null"):
		*to = false
	default:
		r.Fallback()
	}
}

// Integer reads a plain whole number. Null does not change *to.
func Integer[T ~int | ~int64](to *T, r *Reader) {
	if r.Null() {
		return
	}
	text := r.Number()
	digits, value := text, int64(0)
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > 18 || !ascii.IsDigits(digits) || digits[0] == '0' && len(digits) > 1 {
		r.Fallback()
		return
	}
	for _, c := range digits {
		value = value*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		value = -value
	}
	if int64(T(value)) != value {
		r.Fallback()
		return
	}
	*to = T(value)
}

// Time reads a date-time. Null is the zero time.
func Time(to *time.Time, r *Reader) {
	text, ok := r.PlainText()
	if !ok {
		if *to = (time.Time{}); !r.Null() {
			r.Fallback()
		}
		return
	}
	if *to, _, ok = ParseTime(string(text)); !ok {
		r.Fallback()
	}
}

// Optional reads a value that may be absent. Null sets nil.
func Optional[T any](to **T, r *Reader, read func(*T, *Reader)) {
	if r.Null() {
		*to = nil
		return
	}
	if *to == nil {
		*to = new(T)
	}
	read(*to, r)
}

// Struct reads an object into a struct. Null sets the zero value.
func Struct[T any](to *T, r *Reader, read func(*T, *Reader)) {
	if r.Null() {
		r.FlushStrings() // an earlier member may have set fields of *to
		*to = *new(T)
		return
	}
	read(to, r)
}
