package prepaid

import (
	"time"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
)

// The values of members, as a wireReader reads them. A null leaves or clears what decodeOptions leave or clear.

// text reads a string, or a number as it was written.
func (r *wireReader) text(to *string) {
	start := len(r.texts)
	if c := r.peek(); c == '-' || ascii.IsDigit(c) {
		text := r.number()
		if _, err := number.Parse(text, true); err != nil {
			r.giveUp() // also for one that is only too long for an amount
		}
		r.texts = append(r.texts, text...)
		r.inexact = true // it is written as a string
	} else if !r.null() {
		r.anyText()
		r.inexact = r.inexact || len(r.texts) == start // an empty member may be left out when it is written
	}
	r.spans = append(r.spans, textSpan{to, start, len(r.texts)}) // also of null: the member may have come before
}

// identifier reads a TransactionID: a string or a number.
func (r *wireReader) identifier(to *TransactionID) {
	start := len(r.texts)
	r.textOrNumber()
	r.spans = append(r.spans, textSpan{(*string)(to), start, len(r.texts)})
}

// category reads an MCC: a string or a number, either of which may have lost its leading zeros.
func (r *wireReader) category(to *MCC) {
	start := len(r.texts)
	r.textOrNumber()
	r.pad(start)
	r.spans = append(r.spans, textSpan{(*string)(to), start, len(r.texts)})
}

// transactionType reads a code: a string as it is, or a number, which may have lost its leading zeros.
func (r *wireReader) transactionType(to *TransactionType) {
	start := len(r.texts)
	if r.textOrNumber() {
		r.pad(start)
	}
	r.spans = append(r.spans, textSpan{(*string)(to), start, len(r.texts)})
}

// textOrNumber appends a string or the text of a number to the texts, and nothing for null. It reports whether it was a
// number.
func (r *wireReader) textOrNumber() bool {
	if c := r.peek(); c == '-' || ascii.IsDigit(c) {
		integer, ok := number.Integer(r.number())
		if !ok {
			r.giveUp()
		}
		r.texts = append(r.texts, integer...)
		return true
	}
	if !r.null() {
		r.anyText()
	}
	return false
}

// pad adds the leading zeros to the code that begins at start.
func (r *wireReader) pad(start int) {
	if code := r.texts[start:]; len(code) < 4 {
		r.texts = append(r.texts[:start], padCode(string(code))...)
	}
}

// amount reads a number, or one in quotes.
func (r *wireReader) amount(to *Amount) {
	if r.null() {
		return
	}
	var err error
	if text, ok := r.plainText(); ok {
		err = to.set(number.Parse(text, false))
	} else {
		err = to.set(number.Parse(r.number(), true))
	}
	if err != nil {
		r.giveUp()
	}
}

// integer reads a plain whole number.
func readInteger[T ~int | ~int64](r *wireReader, to *T) {
	if r.null() {
		return
	}
	text := r.number()
	digits, value := text, int64(0)
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(digits) > 1 {
		r.giveUp()
		return
	}
	for _, c := range digits {
		if !ascii.IsDigit(c) {
			r.giveUp()
			return
		}
		value = value*10 + int64(c-'0')
	}
	if len(digits) < len(text) {
		value = -value
	}
	if int64(T(value)) != value {
		r.giveUp()
		return
	}
	*to = T(value)
}

// time reads a date-time.
func (r *wireReader) time(to *time.Time) {
	if r.null() {
		*to = time.Time{}
		return
	}
	text, ok := r.plainText()
	if !ok {
		r.giveUp()
		return
	}
	t, ok := plainTimeOf(text)
	if !ok {
		var err error
		if t, err = parseTime(string(text)); err != nil {
			r.giveUp()
			return
		}
	}
	*to = t
}

// date reads a calendar date.
func (r *wireReader) date(to *Date) {
	if r.null() {
		*to = Date{}
		return
	}
	text, ok := r.plainText()
	if !ok || to.UnmarshalText(text) != nil {
		r.giveUp()
		return
	}
	r.inexact = r.inexact || len(text) != plainWireTime || string(text[10:]) != "T00:00:00Z"
}

// flag reads a boolean.
func (r *wireReader) flag(to *bool) {
	switch {
	case r.literal("true"):
		*to = true
	case r.literal("false"), r.literal("null"):
		*to = false
	default:
		r.giveUp()
	}
}

// readOptional reads what may be absent, null included, with read.
func readOptional[T any](r *wireReader, to **T, read func(*wireReader, *T)) {
	if r.null() {
		*to = nil
		return
	}
	if *to == nil {
		*to = new(T)
	}
	read(r, *to)
}
