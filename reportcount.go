package prepaid

// rowCounter counts the rows of a CSV text that passes by in pieces. In well-formed text it counts what csvRows
// yields. Malformed quoting is no fault here, so that an odd report can be had as text: quotes are then taken
// as encoding/csv takes them with LazyQuotes.
//
// Quotes and line ends are escaped in JSON, so it is told of them where they are un-escaped, and of what lies
// between only the ends: the text is not looked through a second time.
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

// plain counts on through p, which is not empty and holds neither quotes nor line ends.
func (c *rowCounter) plain(p []byte) { c.state = c.state.plain(p[0], p[len(p)-1]) }

// step counts on through one byte more.
func (c *rowCounter) step(b byte) {
	next, ended := c.state.step(b)
	c.state = next
	c.rows += ended
}

// plain gives the state after text without quotes and line ends, from its first and its last byte.
func (s rowState) plain(first, last byte) rowState {
	switch {
	case s == rowQuoted, s == rowQuoteCR, s == rowQuote && first != ',':
		return rowQuoted
	case last == ',':
		return rowField
	}
	return rowText
}

// quote gives the state after a quote.
func (s rowState) quote() rowState {
	switch s {
	case rowQuoted, rowQuoteCR:
		return rowQuote
	case rowStart, rowField, rowQuote:
		return rowQuoted
	}
	return rowText
}

// endsRow says whether a newline ends a row here.
func (s rowState) endsRow() bool {
	return s == rowField || s == rowText || s == rowQuote || s == rowQuoteCR
}

// carriageReturn gives the state after "\r".
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

// newline gives the state after "\n".
func (s rowState) newline() rowState {
	if s == rowQuoted {
		return rowQuoted
	}
	return rowStart
}

// step gives the state after one byte more, and how many rows ended with it.
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
