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
		c.state = c.step(b)
	}
}

// plain counts on through p, which is not empty and holds neither quotes nor line ends.
func (c *rowCounter) plain(p []byte) {
	switch c.state {
	case rowQuoted:
		return
	case rowQuote, rowQuoteCR:
		if c.state = c.step(p[0]); c.state == rowQuoted {
			return
		}
	}
	if c.state = rowText; p[len(p)-1] == ',' {
		c.state = rowField
	}
}

func (c *rowCounter) endRow() rowState {
	c.rows++
	return rowStart
}

// step gives the state after one byte more.
func (c *rowCounter) step(b byte) rowState {
	switch c.state {
	case rowQuoted:
		if b == '"' {
			return rowQuote
		}
		return rowQuoted
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
	case b == '"' && (c.state == rowStart || c.state == rowField):
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
