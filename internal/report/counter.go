package report

import (
	"bytes"
	"errors"
)

const (
	maxRow    = 1 << 20 // bytes of CSV text in a row
	maxFields = 1 << 16 // fields of one row
)

var (
	errRowSize   = errors.New("longer than 1 MiB")
	errRowFields = errors.New("more than 65,536 fields")
)

// counter counts the rows of a CSV text that arrives in parts, as encoding/csv reads it with LazyQuotes, and finds rows that exceed a
// limit. Quotes and line ends are escaped in JSON, so each is a part: of other parts, it examines only the ends and the number
// of commas.
type counter struct {
	rows   int64 // complete rows so far
	state  rowState
	begun  bool // past a byte order mark
	size   int  // bytes of the current row
	commas int  // between fields of the current row

	limit    error // the first exceeded limit
	limitRow int64 // the row that exceeds it, from 1
}

// rowState is the last part of the current row that the counter has read.
type rowState uint8

const (
	rowStart   rowState = iota // nothing
	rowStartCR                 // "\r" alone: an empty line if "\n" or the end follows
	rowField                   // a comma: a field starts
	rowText                    // part of a field without quotes
	rowQuoted                  // part of a field in quotes
	rowQuote                   // a quote inside quotes: the end of the field, or the first of two
	rowQuoteCR                 // a quote inside quotes and "\r": the end of the row if "\n" or the end follows
)

// add counts one part: a quote, a line end, or text without them.
func (c *counter) add(part []byte) {
	if !c.begun {
		c.begun = true
		if string(part) == utf8BOM {
			return
		}
	}
	switch part[0] {
	case '"':
		c.state = c.state.quote()
	case '\r':
		c.state = c.state.carriageReturn()
	case '\n':
		if c.state != rowQuoted {
			c.endRow()
			return
		}
	default:
		c.text(part)
	}
	c.size += len(part)
	switch {
	case c.limit != nil:
	case c.size > maxRow:
		c.limit, c.limitRow = errRowSize, c.rows+1
	case c.commas >= maxFields:
		c.limit, c.limitRow = errRowFields, c.rows+1
	}
}

// text counts text without quotes and line ends.
func (c *counter) text(part []byte) {
	switch {
	case c.state == rowQuoted, c.state == rowQuoteCR, c.state == rowQuote && part[0] != ',':
		c.state = rowQuoted
		return
	case part[len(part)-1] == ',':
		c.state = rowField
	default:
		c.state = rowText
	}
	c.commas += bytes.Count(part, []byte{','})
}

// endRow counts a row, unless it is an empty line.
func (c *counter) endRow() {
	if c.state != rowStart && c.state != rowStartCR {
		c.rows++
	}
	c.state, c.size, c.commas = rowStart, 0, 0
}

// finish counts a last row without line end. It returns false, and does not count that row, if the text ends inside quotes.
func (c *counter) finish() (closed bool) {
	if c.state == rowQuoted {
		return false
	}
	c.endRow()
	return true
}

// quote returns the state after a quote.
func (s rowState) quote() rowState {
	switch s {
	case rowQuoted, rowQuoteCR:
		return rowQuote
	case rowStart, rowField, rowQuote:
		return rowQuoted
	}
	return rowText
}

// carriageReturn returns the state after "\r".
func (s rowState) carriageReturn() rowState {
	switch s {
	case rowStart:
		return rowStartCR
	case rowQuote:
		return rowQuoteCR
	case rowQuoted, rowQuoteCR:
		return rowQuoted
	}
	return rowText
}
