package report

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// Rows reads the rows of a Decoder's text with encoding/csv (RFC 4180). \n or \r\n ends a line. Inside quotes, Rows returns either
// line end as \n. It skips empty lines. It has three differences from the default of encoding/csv: rows may have different numbers
// of fields, a byte order mark at the start is dropped, and the length of a row is bounded.
type Rows struct {
	decoder *Decoder
	copied  copier
	csv     *csv.Reader
	mark    int64 // length of the byte order mark

	rows   int64 // rows read so far
	offset int64 // the end of the last row in the text
}

// NewRows returns Rows that reads the text of d, which must be new. If into is not nil, the text is also written there, as it is read.
func NewRows(d *Decoder, into io.Writer) *Rows {
	d.byRows = true
	r := &Rows{decoder: d, copied: copier{from: d, into: into}}
	in := bufio.NewReaderSize(&r.copied, bufferSize) // csv.Reader uses it
	if mark, _ := in.Peek(len(utf8BOM)); string(mark) == utf8BOM {
		discarded, _ := in.Discard(len(utf8BOM))
		r.mark = int64(discarded)
	}
	r.csv = csv.NewReader(in)
	r.csv.FieldsPerRecord = -1
	r.csv.ReuseRecord = true
	return r
}

// Count returns how many rows were read so far.
func (r *Rows) Count() int64 { return r.rows }

// Offset returns how many bytes of text were read so far, up to the end of the last row; at the end of the text, all.
func (r *Rows) Offset() int64 { return r.offset }

// Next returns the next row; io.EOF after the last. The slice is valid until the next call; its strings may be kept. For a row
// that cannot be read, the error is csv.ErrQuote, csv.ErrBareQuote or an exceeded limit, wrapped with the row number. Next returns
// an error of the Decoder unchanged.
func (r *Rows) Next() ([]string, error) {
	row, err := r.csv.Read()
	if r.copied.err != nil {
		return nil, fmt.Errorf("write: %w", r.copied.err)
	}
	counted := &r.decoder.rows
	switch {
	case err != nil && r.decoder.err != nil && r.decoder.err != io.EOF: // the current row is cut off
		return nil, r.decoder.err
	case err == nil && counted.limit != nil && r.rows+1 >= counted.limitRow:
		return nil, inRow(counted.limitRow, counted.limit)
	case err == nil:
		r.rows++
	case err != io.EOF:
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			err = parse.Err
		}
		return nil, inRow(r.rows+1, err)
	}
	r.offset = r.mark + r.csv.InputOffset()
	return row, err
}

// copier writes what it reads. It keeps the first error of a write, and returns the text all the same: a buffered reader may drop an error
// that comes with text.
type copier struct {
	from io.Reader
	into io.Writer // nil for none
	err  error
}

func (c *copier) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if c.into != nil && n > 0 && c.err == nil {
		var took int
		if took, c.err = c.into.Write(p[:n]); c.err == nil && took < n {
			c.err = io.ErrShortWrite
		}
	}
	return n, err
}
