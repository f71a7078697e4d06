package report

import (
	"errors"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
)

// maxCountLength limits the length of totalrecords, in bytes.
const maxCountLength = 64

// count reads totalrecords: a whole number of 0 or more, which may be written 12, 12.0, 1.2e1 or "12".
func (d *Decoder) count() (int64, error) {
	const rule = memberTotal + ": must be a whole number of 0 or more"
	c, err := d.peekToken()
	if err != nil {
		return 0, err
	}
	start := d.offset()
	var text []byte
	var space [maxCountLength + 1]byte
	switch {
	case c == '"':
		text, err = d.shortString(space[:0])
	case ascii.IsDigit(c) || c == '-':
		text, err = d.number(space[:0])
	default:
		return 0, d.malformed(rule)
	}
	if err != nil {
		return 0, err
	}
	count, ok := countOf(text)
	if !ok {
		return 0, &Malformed{Offset: start, Err: errors.New(rule)}
	}
	return count, nil
}

// countOf reads a JSON number that is whole and not negative.
func countOf(text []byte) (int64, bool) {
	count, ok := number.Int64(text)
	return count, ok && text[0] != '-' && len(text) <= maxCountLength
}
