package report

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// Nearly all rows of a report can be cut from the JSON string as it is: they are ASCII, and have escapes only for line
// ends and for the quotes around a whole field. Such a row is copied once, into its string. Rows reads any other row from
// un-escaped text. For the first such row, it un-escapes only one line, so that the next row may be cut. At the second such
// row in succession, it un-escapes the whole buffer.

// readLine returns text of reportdata up to the next line end, or more.
func (d *Decoder) readLine(p []byte) (int, error) {
	text := d.buf[d.pos:d.end]
	at := bytes.Index(text, escapedNewline)
	if !d.inText || d.err != nil || at < 0 || bytes.Contains(text[:at], escapedRune) { // two \u escapes may be one rune
		return d.Read(p)
	}
	end := d.end
	d.end, d.plainEnd, d.fallbackEnd = d.pos+at+len(escapedNewline), 0, 0
	n, closed, err := d.unescape(p, d.rows)
	d.end, d.inText, d.err = end, !closed, err
	if n == 0 {
		return d.Read(p)
	}
	return n, nil
}

var (
	escapedNewline = []byte(`\n`)
	escapedRune    = []byte(`\u`)
)

// read reads un-escaped text.
func (r *Rows) read(p []byte) (int, error) {
	if r.decoder == nil {
		return r.src.Read(p)
	}
	if r.misses < 2 {
		return r.decoder.readLine(p)
	}
	r.misses = 1
	return r.decoder.Read(p)
}

// direct cuts the next row from the JSON string. If it returns false, no text was read.
func (r *Rows) direct() bool {
	d := r.decoder
	if d == nil || d.err != nil || r.pos < r.end || d.pendPos < d.pendSize {
		return false
	}
	if !d.inText {
		if d.hasText {
			return false
		}
		if d.err = d.members(); d.err != nil {
			return false
		}
	}
	row, more := r.scanEscaped(d.buf[d.pos:d.end])
	if more && d.end-d.pos < len(d.buf) && d.need(d.end-d.pos+1) {
		row, _ = r.scanEscaped(d.buf[d.pos:d.end])
	}
	if row.next == 0 {
		r.misses++
		return false
	}
	r.misses = 0
	r.splitRow(string(d.buf[d.pos : d.pos+row.end]))
	d.pos += row.next
	r.offset += int64(row.next - row.escapes)
	r.rows++
	return true
}

// escapedRow is a row in the JSON string: where its text ends, where the next row starts (0 if there is none), and how many
// escapes of two bytes it has.
type escapedRow struct{ end, next, escapes int }

// scanEscaped finds the fields and the line end of the row at the start of text. more means that text ends too early.
func (r *Rows) scanEscaped(text []byte) (row escapedRow, more bool) {
	spans := r.spans[:0]
	start, end := 0, -1 // where the field starts and ends; the end is known early for a field in quotes
	quoted := false     // inside quotes
	past := 0           // the end of the last escape
	for base := 0; len(text)-base >= 8; base += 8 {
		word := binary.LittleEndian.Uint64(text[base:])
		if (word|(word-' '*ascii.Ones))&ascii.Tops != 0 {
			return escapedRow{}, false
		}
		for marks := escapedMarks(word); marks != 0; marks &= marks - 1 {
			at := base + bits.TrailingZeros64(marks)>>3
			switch b := text[at]; {
			case b == ',' && !quoted:
				if len(spans) == maxFields-1 {
					return escapedRow{}, false
				}
				if end < 0 {
					end = at
				}
				spans = append(spans, fieldSpan{start, end})
				start, end = at+1, -1
			case b == '\\':
				if len(text)-at < len(`\"\n`) {
					return escapedRow{}, true
				}
				row.escapes++
				past = at + 2
				switch escaped, next := text[at+1], text[at+2:]; {
				case escaped == '"' && quoted && (next[0] == ',' || next[0] == '\\' && next[1] != '"'):
					quoted, end = false, at
				case escaped == '"' && !quoted && at == start && end < 0:
					quoted, start = true, past
				case quoted:
					return escapedRow{}, false
				case escaped == 'r' && next[0] == '\\' && next[1] == 'n':
					row.escapes++
					past += 2
					fallthrough
				case escaped == 'n':
					if at == 0 { // an empty line
						return escapedRow{}, false
					}
					if end < 0 {
						end = at
					}
					spans = append(spans, fieldSpan{start, end})
					r.spans = spans
					row.end, row.next = at, past
					return row, false
				default:
					return escapedRow{}, false
				}
			case b == '"' && at >= past: // the end of the string
				return escapedRow{}, false
			}
		}
	}
	return escapedRow{}, true
}

// escapedMarks sets the top bit of each byte that is a comma, a quote or a backslash, in a word that is ASCII. A higher byte may
// be marked in error.
func escapedMarks(word uint64) uint64 {
	return ((word ^ ','*ascii.Ones - ascii.Ones) | (word ^ '"'*ascii.Ones - ascii.Ones) | (word ^ '\\'*ascii.Ones - ascii.Ones)) & ascii.Tops
}
