package report

import "encoding/csv"

// Counter counts the rows of a CSV text that arrives in chunks. In well-formed text it counts the rows that [Rows] returns.
// Malformed quoting is not an error here, so that such a report can still be read as text. The Counter then reads quotes as
// encoding/csv does with LazyQuotes.
//
// Quotes and line ends are escaped in JSON, so a [Decoder] counts them while it un-escapes them. Of the text between two escapes,
// the Counter examines only the first and last byte: the text is not scanned twice.
type Counter struct {
	rows  int64 // complete rows so far
	state rowState
	bom   int // bytes of a byte order mark seen; len(utf8BOM) once past the start
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

// Rows returns how many rows have ended so far.
func (c *Counter) Rows() int64 { return c.rows }

// add counts p.
func (c *Counter) add(p []byte) {
	for _, b := range p {
		if c.bom < len(utf8BOM) {
			if b == utf8BOM[c.bom] {
				c.bom++
				continue
			}
			if c.bom > 0 {
				c.state = rowText
			}
			c.bom = len(utf8BOM)
		}
		c.step(b)
	}
}

// plain counts p, which is not empty and holds neither quotes nor line ends.
func (c *Counter) plain(p []byte) { c.state = c.state.plain(p[0], p[len(p)-1]) }

// step counts one byte.
func (c *Counter) step(b byte) {
	next, ended := c.state.step(b)
	c.state = next
	c.rows += ended
}

// plain returns the state after text without quotes and line ends, from its first and its last byte.
func (s rowState) plain(first, last byte) rowState {
	switch {
	case s == rowQuoted, s == rowQuoteCR, s == rowQuote && first != ',':
		return rowQuoted
	case last == ',':
		return rowField
	}
	return rowText
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

// endsRow reports whether a newline ends a row here.
func (s rowState) endsRow() bool {
	return s == rowField || s == rowText || s == rowQuote || s == rowQuoteCR
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

// newline returns the state after "\n".
func (s rowState) newline() rowState {
	if s == rowQuoted {
		return rowQuoted
	}
	return rowStart
}

// step returns the state after one more byte, and how many rows ended with that byte.
func (s rowState) step(b byte) (next rowState, ended int64) {
	switch b {
	case '"':
		return s.quote(), 0
	case '\r':
		return s.carriageReturn(), 0
	case '\n':
		if s.endsRow() {
			ended = 1
		}
		return s.newline(), ended
	}
	return s.plain(b, b), 0
}

// Finish counts a last row without line end. If the text ends inside quotes, Finish returns csv.ErrQuote and does not count that row.
func (c *Counter) Finish() error {
	switch c.state {
	case rowQuoted:
		return inRow(c.rows+1, csv.ErrQuote)
	case rowField, rowText, rowQuote, rowQuoteCR:
		c.rows++
	}
	c.state = rowStart
	return nil
}
