package report

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/cardprograms/prepaid/internal/ascii"
)

const (
	maxRow    = 1 << 20 // bytes of CSV text in a row: with the buffers, memory stays under 16 MiB
	maxFields = 1 << 16 // fields of one row
)

var (
	errRowSize   = errors.New("longer than 1 MiB")
	errRowFields = errors.New("more than 65,536 fields")
)

const utf8BOM = "\uFEFF"

// Rows reads the rows of a CSV text as encoding/csv does by default (RFC 4180). \n or \r\n ends a line. Inside quotes, Rows
// returns either line end as \n. It skips empty lines. It has three differences from encoding/csv: rows may have different numbers
// of fields, a byte order mark at the start is dropped, and the length of a row is bounded. Rows is several times as fast.
type Rows struct {
	decoder  *Decoder // src, if src is a Decoder
	misses   int      // number of successive rows that could not be cut from the decoder's input
	src      io.Reader
	buf      []byte
	pos, end int   // buf[pos:end] is unread
	srcErr   error // the error that ended src

	rows   int64 // rows read so far
	offset int64 // offset of buf[pos] in the text

	fields []string    // the fields of the last row
	spans  []fieldSpan // where these fields are in the row's text
	text   []byte      // unquoted fields, one after the other
}

// fieldSpan is where a field starts and ends.
type fieldSpan struct{ start, end int }

// NewRows returns Rows that reads CSV text from src.
func NewRows(src io.Reader) *Rows {
	r := &Rows{src: src, buf: make([]byte, bufferSize)}
	if d, ok := src.(*Decoder); ok {
		r.decoder = d
	}
	return r
}

// Count returns how many rows were read so far.
func (r *Rows) Count() int64 { return r.rows }

// Offset returns how many bytes of text were read so far, including line ends and skipped lines.
func (r *Rows) Offset() int64 { return r.offset }

// Next returns the next row; io.EOF after the last. The slice is valid until the next call; its strings may be kept. For a row
// that cannot be read, the error is csv.ErrQuote, csv.ErrBareQuote or an exceeded limit, wrapped with the row number. Next returns
// an error of the source unchanged.
func (r *Rows) Next() ([]string, error) {
	for {
		if r.direct() {
			return r.fields, nil
		}
		if n, ok := r.scanRow(r.buf[r.pos:r.end]); ok {
			r.splitRow(string(r.buf[r.pos : r.pos+n]))
			r.consume(n + 1)
			r.rows++
			return r.fields, nil
		}
		line, err := r.line(0)
		if err != nil {
			return nil, r.rowError(err)
		}
		text := line.text
		if r.offset == 0 {
			text = bytes.TrimPrefix(text, []byte(utf8BOM))
		}
		if len(text) == 0 {
			r.consume(line.next)
			continue
		}
		used, err := r.readRow(text, line)
		if err != nil {
			return nil, r.rowError(err)
		}
		r.consume(used)
		r.rows++
		return r.fields, nil
	}
}

// scanRow finds the fields and the line end of the row at the start of text. It reads only rows that are complete in text and
// whose quoted fields contain neither quotes nor "\r\n": nearly all. False means that readRow must read the row
// or find its error.
func (r *Rows) scanRow(text []byte) (newline int, ok bool) {
	if len(text) == 0 || text[0] <= '\r' || r.offset == 0 && text[0] == utf8BOM[0] {
		return 0, false
	}
	spans := r.spans[:0]
	start, end := 0, -1 // where the field starts and ends; the end is known early for a field in quotes
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
				if len(spans) == maxFields-1 {
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
					if text[at-1] == '\r' { // part of this field: before an empty field there is a comma
						end--
					}
				}
				r.spans = append(spans, fieldSpan{start, end})
				return at, at <= maxRow
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

// closesField reports whether a quote ends its field; rest is the text after the quote.
func closesField(rest []byte) bool {
	return len(rest) > 0 && (rest[0] == ',' || rest[0] == '\n') ||
		len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n'
}

// csvMarks sets the top bit of each byte that is a comma, a quote or a newline. As in [ascii.Special], a higher byte may be marked
// in error.
func csvMarks(word uint64) uint64 {
	return ((word ^ ','*ascii.Ones - ascii.Ones) | (word ^ '"'*ascii.Ones - ascii.Ones) | (word ^ '\n'*ascii.Ones - ascii.Ones)) &^ word & ascii.Tops
}

// splitRow makes the fields from their spans. All fields share the memory of row.
func (r *Rows) splitRow(row string) {
	r.fields = slices.Grow(r.fields[:0], len(r.spans))[:len(r.spans)]
	for i, s := range r.spans {
		r.fields[i] = row[s.start:s.end]
	}
}

func (r *Rows) consume(n int) {
	r.pos += n
	r.offset += int64(n)
}

// rowError adds the row number to an error in the text. It returns an error of the source unchanged.
func (r *Rows) rowError(err error) error {
	switch err {
	case csv.ErrQuote, csv.ErrBareQuote, errRowSize, errRowFields:
		return inRow(r.rows+1, err)
	}
	return err
}

func inRow(row int64, err error) error { return fmt.Errorf("row %d: %w", row, err) }

// csvLine is a line of the buffer. Its positions count from buf[pos], where the current row starts.
type csvLine struct {
	text []byte // without the line end
	next int    // after the line end
	last bool   // the line has no line end
}

// line returns the line that starts at the position from; io.EOF if the text ends there. It may move the buffer.
func (r *Rows) line(from int) (csvLine, error) {
	for seen := from; ; {
		if i := bytes.IndexByte(r.buf[r.pos+seen:r.end], '\n'); i >= 0 {
			return r.cut(from, seen+i, seen+i+1)
		}
		seen = r.end - r.pos
		if r.srcErr == nil && seen <= maxRow {
			r.fill()
			continue
		}
		if r.srcErr != nil && r.srcErr != io.EOF {
			return csvLine{}, r.srcErr
		}
		if seen == from && seen <= maxRow {
			return csvLine{}, io.EOF
		}
		return r.cut(from, seen, seen)
	}
}

func (r *Rows) cut(from, end, next int) (csvLine, error) {
	if end > maxRow {
		return csvLine{}, errRowSize
	}
	text := r.buf[r.pos+from : r.pos+end]
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	return csvLine{text: text, next: next, last: end == next}, nil
}

// fill reads more input. If there is no room for input, fill first moves or enlarges the buffer.
func (r *Rows) fill() {
	switch {
	case r.end < len(r.buf):
	case r.pos > 0:
		r.end = copy(r.buf, r.buf[r.pos:r.end])
		r.pos = 0
	default:
		grown := make([]byte, min(2*len(r.buf), maxRow+bufferSize))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
	for range maxEmptyReads {
		var n int
		n, r.srcErr = r.read(r.buf[r.end:])
		r.end += n
		if n > 0 || r.srcErr != nil {
			return
		}
	}
	r.srcErr = io.ErrNoProgress
}

// readRow reads any row, which may span several lines. It returns where the row ends.
func (r *Rows) readRow(text []byte, line csvLine) (next int, err error) {
	r.text, r.spans = r.text[:0], r.spans[:0]
	for more := true; more; {
		if len(r.spans) == maxFields {
			return 0, errRowFields
		}
		start := len(r.text)
		if len(text) > 0 && text[0] == '"' {
			text, line, more, err = r.quotedField(text[1:], line)
			if err != nil {
				return 0, err
			}
		} else {
			var field []byte
			field, text, more = bytes.Cut(text, []byte{','})
			if bytes.IndexByte(field, '"') >= 0 {
				return 0, csv.ErrBareQuote
			}
			r.text = append(r.text, field...)
		}
		r.spans = append(r.spans, fieldSpan{start, len(r.text)})
	}
	r.splitRow(string(r.text))
	return line.next, nil
}

// quotedField reads the rest of a field after its opening quote. It returns the text after the field, and whether another field follows.
func (r *Rows) quotedField(text []byte, line csvLine) (rest []byte, at csvLine, more bool, err error) {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			if line.last {
				return nil, line, false, csv.ErrQuote
			}
			r.text = append(append(r.text, text...), '\n')
			if line, err = r.line(line.next); err == io.EOF {
				err = csv.ErrQuote
			}
			if err != nil {
				return nil, line, false, err
			}
			text = line.text
			continue
		}
		r.text = append(r.text, text[:i]...)
		text = text[i+1:]
		switch {
		case len(text) == 0:
			return nil, line, false, nil
		case text[0] == ',':
			return text[1:], line, true, nil
		case text[0] == '"':
			r.text = append(r.text, '"')
			text = text[1:]
		default:
			return nil, line, false, csv.ErrQuote
		}
	}
}
