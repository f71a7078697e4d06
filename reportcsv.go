package prepaid

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	maxReportRow    = 1 << 20 // bytes of CSV text in a row: with the buffers around it, memory stays under 16 MiB
	maxReportFields = 1 << 16 // in a row
)

var (
	errReportRowSize   = errors.New("longer than 1 MiB")
	errReportRowFields = errors.New("more than 65,536 fields")
)

const utf8BOM = "\uFEFF"

// csvRows reads the rows of a CSV text as encoding/csv does with its defaults (RFC 4180; \n or \r\n ends a line,
// also inside quotes, where it is given as \n; empty lines are skipped), with three differences: rows need not
// have the same number of fields, a byte order mark at the start is dropped, and the length of a row is bounded.
// It is several times as fast.
type csvRows struct {
	src      io.Reader
	buf      []byte
	pos, end int   // buf[pos:end] is unread
	srcErr   error // what ended src

	rows   int64 // read so far
	offset int64 // of buf[pos] in the text

	fields []string    // of the last row
	spans  []fieldSpan // where they are in its text
	text   []byte      // unquoted fields, one behind the other
}

// fieldSpan is where a field starts and ends.
type fieldSpan struct{ start, end int }

func newCSVRows(src io.Reader) *csvRows {
	return &csvRows{src: src, buf: make([]byte, reportBufferSize)}
}

// next returns the next row, valid until the one after; io.EOF behind the last.
func (c *csvRows) next() ([]string, error) {
	for {
		if n, ok := c.scanRow(c.buf[c.pos:c.end]); ok {
			c.cutRow(string(c.buf[c.pos : c.pos+n]))
			c.consume(n + 1)
			c.rows++
			return c.fields, nil
		}
		line, err := c.line(0)
		if err != nil {
			return nil, c.rowError(err)
		}
		text := line.text
		if c.offset == 0 {
			text = bytes.TrimPrefix(text, []byte(utf8BOM))
		}
		if len(text) == 0 {
			c.consume(line.next)
			continue
		}
		used, err := c.readRow(text, line)
		if err != nil {
			return nil, c.rowError(err)
		}
		c.consume(used)
		c.rows++
		return c.fields, nil
	}
}

// cutRow makes the fields from their spans. They share the row's one string.
func (c *csvRows) cutRow(row string) {
	c.fields = slices.Grow(c.fields[:0], len(c.spans))[:len(c.spans)]
	for i, s := range c.spans {
		c.fields[i] = row[s.start:s.end]
	}
}

func (c *csvRows) consume(n int) {
	c.pos += n
	c.offset += int64(n)
}

// rowError says in which row a fault of the text is. What came from the source stays as it is.
func (c *csvRows) rowError(err error) error {
	switch err {
	case csv.ErrQuote, csv.ErrBareQuote, errReportRowSize, errReportRowFields:
		return fmt.Errorf("row %d: %w", c.rows+1, err)
	}
	return err
}

// csvLine is a line of the buffer. Its positions count from buf[pos], where the row at hand starts.
type csvLine struct {
	text []byte // without the line end
	next int    // behind the line end
	last bool   // it has no line end
}

// line returns the line that starts at from; io.EOF when nothing is there. It may move the buffer.
func (c *csvRows) line(from int) (csvLine, error) {
	for seen := from; ; {
		if i := bytes.IndexByte(c.buf[c.pos+seen:c.end], '\n'); i >= 0 {
			return c.cut(from, seen+i, seen+i+1)
		}
		seen = c.end - c.pos
		if c.srcErr == nil && seen <= maxReportRow {
			c.fill()
			continue
		}
		if c.srcErr != nil && c.srcErr != io.EOF {
			return csvLine{}, c.srcErr
		}
		if seen == from && seen <= maxReportRow {
			return csvLine{}, io.EOF
		}
		return c.cut(from, seen, seen)
	}
}

func (c *csvRows) cut(from, end, next int) (csvLine, error) {
	if end > maxReportRow {
		return csvLine{}, errReportRowSize
	}
	text := c.buf[c.pos+from : c.pos+end]
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	return csvLine{text: text, next: next, last: end == next}, nil
}

// fill reads more behind what is unread, and makes room for it first.
func (c *csvRows) fill() {
	switch {
	case c.end < len(c.buf):
	case c.pos > 0:
		c.end = copy(c.buf, c.buf[c.pos:c.end])
		c.pos = 0
	default:
		grown := make([]byte, min(2*len(c.buf), maxReportRow+reportBufferSize))
		copy(grown, c.buf[:c.end])
		c.buf = grown
	}
	for range maxEmptyReads {
		var n int
		n, c.srcErr = c.src.Read(c.buf[c.end:])
		c.end += n
		if n > 0 || c.srcErr != nil {
			return
		}
	}
	c.srcErr = io.ErrNoProgress
}

// readRow reads any row, which may go on over further lines. It returns where the row ends.
func (c *csvRows) readRow(text []byte, line csvLine) (next int, err error) {
	c.text, c.spans = c.text[:0], c.spans[:0]
	for more := true; more; {
		if len(c.spans) == maxReportFields {
			return 0, errReportRowFields
		}
		start := len(c.text)
		if len(text) > 0 && text[0] == '"' {
			text, line, more, err = c.quotedField(text[1:], line)
			if err != nil {
				return 0, err
			}
		} else {
			var field []byte
			field, text, more = bytes.Cut(text, []byte{','})
			if bytes.IndexByte(field, '"') >= 0 {
				return 0, csv.ErrBareQuote
			}
			c.text = append(c.text, field...)
		}
		c.spans = append(c.spans, fieldSpan{start, len(c.text)})
	}
	c.cutRow(string(c.text))
	return line.next, nil
}

// quotedField reads a field behind its opening quote. It returns the text behind the field, and whether another
// field follows.
func (c *csvRows) quotedField(text []byte, line csvLine) (rest []byte, at csvLine, more bool, err error) {
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			if line.last {
				return nil, line, false, csv.ErrQuote
			}
			c.text = append(append(c.text, text...), '\n')
			if line, err = c.line(line.next); err == io.EOF {
				err = csv.ErrQuote
			}
			if err != nil {
				return nil, line, false, err
			}
			text = line.text
			continue
		}
		c.text = append(c.text, text[:i]...)
		text = text[i+1:]
		switch {
		case len(text) == 0:
			return nil, line, false, nil
		case text[0] == ',':
			return text[1:], line, true, nil
		case text[0] == '"':
			c.text = append(c.text, '"')
			text = text[1:]
		default:
			return nil, line, false, csv.ErrQuote
		}
	}
}
