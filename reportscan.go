package prepaid

import (
	"encoding/binary"
	"math/bits"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// scanRow finds the fields of the row that text starts with, and where its line end is. It takes the rows that
// are whole in text and need no rewriting, which is nearly all: without quotes, or with fields in quotes that
// hold neither quotes nor "\r\n". False: readRow must read it, or tell what is wrong with it.
func (c *csvRows) scanRow(text []byte) (newline int, ok bool) {
	if len(text) == 0 || text[0] <= '\r' || c.offset == 0 && text[0] == utf8BOM[0] {
		return 0, false
	}
	spans := c.spans[:0]
	start, end := 0, -1 // of the field; the end is known early for a field in quotes
	quoted := false     // inside quotes
	for base := 0; len(text)-base >= 8; base += 8 {
		for marks := csvMarks(binary.LittleEndian.Uint64(text[base:])); marks != 0; marks &= marks - 1 {
			at := base + bits.TrailingZeros64(marks)>>3
			switch b := text[at]; {
			case quoted:
				if b == '"' && closesField(text[at+1:]) {
					quoted = false
					end = at
				} else if b == '"' || b == '\n' && text[at-1] == '\r' {
					return 0, false
				}
			case b == ',':
				if len(spans) == maxReportFields-1 {
					return 0, false
				}
				if end < 0 {
					end = at
				}
				spans = append(spans, fieldSpan{start, end})
				start, end = at+1, -1
			case b == '\n':
				if end < 0 {
					end = at
					if text[at-1] == '\r' { // never of the field before, which a comma ends
						end--
					}
				}
				c.spans = append(spans, fieldSpan{start, end})
				return at, at <= maxReportRow
			case b == '"':
				if at != start || end >= 0 {
					return 0, false
				}
				quoted = true
				start++
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
	return ((word ^ ','*ascii.Ones - ascii.Ones) | (word ^ '"'*ascii.Ones - ascii.Ones) | (word ^ '\n'*ascii.Ones - ascii.Ones)) &^ word & ascii.Tops
}
