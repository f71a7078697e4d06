package prepaid

import "bytes"

// rowCounter counts the rows of a CSV text that passes by in pieces. In well-formed text it counts what csvRows
// yields. Malformed quoting is no fault here, so that an odd report can be had as text: quotes are then taken
// as encoding/csv takes them with LazyQuotes.
type rowCounter struct {
	rows  int64 // whole rows so far
	state rowState
	bom   int // bytes of a byte order mark seen; len(utf8BOM) once past the start
}

// rowState is what the counter has seen of the row at hand.
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

// add counts on through p.
func (c *rowCounter) add(p []byte) {
	for c.bom < len(utf8BOM) && len(p) > 0 {
		if p[0] != utf8BOM[c.bom] {
			if c.bom > 0 {
				c.state = rowText
			}
			c.bom = len(utf8BOM)
			break
		}
		c.bom++
		p = p[1:]
	}
	quote := -1 // the next one at or behind i; len(p) when there is none
	for i := 0; i < len(p); {
		switch c.state {
		case rowQuoted:
			n := bytes.IndexByte(p[i:], '"')
			if n < 0 {
				return
			}
			if i += n + 1; i+1 < len(p) && p[i] == ',' && p[i+1] == '"' { // the next field, in quotes as well
				i += 2
				continue
			}
			c.state = rowQuote
		case rowText:
			if quote < i {
				if quote = bytes.IndexByte(p[i:], '"'); quote < 0 {
					quote = len(p)
				} else {
					quote += i
				}
			}
			i = c.addLines(p, i, quote)
		default:
			c.state = c.step(p[i])
			i++
		}
	}
}

// addLines goes on from i, in a field without quotes, up to behind the next quote, or to the start of a row that
// may be empty or may start with a quote.
func (c *rowCounter) addLines(p []byte, i, quote int) int {
	for {
		n := bytes.IndexByte(p[i:quote], '\n')
		if n < 0 {
			break
		}
		c.rows++
		if i += n + 1; i == len(p) || p[i] <= '"' {
			c.state = rowStart
			return i
		}
	}
	switch {
	case quote == len(p):
		if p[len(p)-1] == ',' {
			c.state = rowField
		}
		return quote
	case i < quote && p[quote-1] == ',':
		c.state = rowQuoted
	}
	return quote + 1
}

func (c *rowCounter) endRow() rowState {
	c.rows++
	return rowStart
}

// step gives the state after one byte more.
func (c *rowCounter) step(b byte) rowState {
	switch c.state {
	case rowQuote:
		switch b {
		case '"':
			return rowQuoted
		case ',':
			return rowField
		case '\r':
			return rowQuoteCR
		case '\n':
			return c.endRow()
		}
		return rowQuoted
	case rowQuoteCR:
		switch b {
		case '"':
			return rowQuote
		case '\n':
			return c.endRow()
		}
		return rowQuoted
	case rowStart:
		switch b {
		case '\n':
			return rowStart
		case '\r':
			return rowStartCR
		}
	case rowStartCR:
		if b == '\n' {
			return rowStart
		}
	}
	switch {
	case b == ',':
		return rowField
	case b == '\n':
		return c.endRow()
	case b == '"' && c.state != rowStartCR:
		return rowQuoted
	}
	return rowText
}

// finish counts a last row without line end. False: the text ends inside quotes, and that row is not counted.
func (c *rowCounter) finish() bool {
	switch c.state {
	case rowQuoted:
		return false
	case rowField, rowText, rowQuote, rowQuoteCR:
		c.rows++
	}
	c.state = rowStart
	return true
}
