package prepaid

import (
	"encoding/binary"
	"math/bits"
)

// scanRow finds the fields of the row that text starts with, and where its line end is. It takes the rows that
// are whole in text and need no rewriting, which is nearly all: without quotes, or with fields in quotes that
// hold neither quotes nor "\r\n". False: readRow must read it, or tell what is wrong with it.
func (c *csvRows) scanRow(text []byte) (newline int, ok bool) {
	if len(text) == 0 || text[0] <= '\r' || c.offset == 0 && text[0] == utf8BOM[0] {
		return 0, false
	}
	c.spans = c.spans[:0]
	field := fieldSpan{end: -1} // end is known early for a field in quotes
	quoted := false             // inside quotes
	for base := 0; len(text)-base >= 8; base += 8 {
		for marks := csvMarks(binary.LittleEndian.Uint64(text[base:])); marks != 0; marks &= marks - 1 {
			at := base + bits.TrailingZeros64(marks)>>3
			switch b := text[at]; {
			case b == '"':
				switch {
				case quoted && closesField(text[at+1:]):
					quoted = false
					field.end = at
				case !quoted && at == field.start && field.end < 0:
					quoted = true
					field.start++
				default:
					return 0, false
				}
			case b == '\n' && quoted:
				if text[at-1] == '\r' {
					return 0, false
				}
			case b == ',' && !quoted, b == '\n':
				if field.end < 0 {
					field.end = at
					if b == '\n' && at > field.start && text[at-1] == '\r' {
						field.end--
					}
				}
				if len(c.spans) == maxReportFields {
					return 0, false
				}
				c.spans = append(c.spans, field)
				if b == '\n' {
					return at, at <= maxReportRow
				}
				field = fieldSpan{start: at + 1, end: -1}
			}
		}
	}
	return 0, false
}

// closesField says whether a quote before rest ends its field.
func closesField(rest []byte) bool {
	return len(rest) > 0 && (rest[0] == ',' || rest[0] == '\n') ||
		len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n'
}

// csvMarks sets the top bit of bytes that are a comma, a quote or a newline. A byte above a mark may be marked in
// error, see specialBytes.
func csvMarks(word uint64) uint64 {
	const (
		ones = 0x0101010101010101
		tops = 0x80 * ones
	)
	return ((word ^ ','*ones - ones) | (word ^ '"'*ones - ones) | (word ^ '\n'*ones - ones)) &^ word & tops
}
