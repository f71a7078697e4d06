// Package report reads the response that carries a finished report. Memory is constant, for a report of any size.
//
// The response is {"reportdata": "<CSV>", "totalrecords": <count>}, and its one string can have hundreds of megabytes.
//
//   - [Decoder] returns the un-escaped CSV text while it arrives, and then the count.
//   - [Rows] splits CSV text into rows, like encoding/csv but several times as fast.
//   - [Counter] counts the rows of a text while the text is un-escaped, without splitting it.
//
// A Decoder returns io.EOF only after the whole body was read and is well-formed. For a body that is not a report, the error is a
// *[Malformed], whose text has the broken rule and never the content; an error of the source is returned unchanged. Memory is
// always bounded: a row has at most 1 MiB and 65,536 fields, and values are nested at most 128 deep. Reading ends if the
// source repeatedly returns no data.
//
// The package does not compare the rows with the count, does not know HTTP, and closes nothing. Its values are not safe for
// concurrent use.
package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	bufferSize    = 64 << 10 // for the JSON input and, initially, for the CSV text
	maxDepth      = 128      // nested arrays and objects, including the outermost
	maxEmptyReads = 100      // successive reads that return neither bytes nor an error

	memberData  = "reportdata"
	memberTotal = "totalrecords"
)

// Malformed means that the body is not a report.
type Malformed struct {
	Offset int64 // the byte of the body at which reading stopped
	Err    error // the rule that was broken, or io.ErrUnexpectedEOF
}

// Error returns the rule and the offset.
func (e *Malformed) Error() string {
	return fmt.Sprintf("malformed report at byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *Malformed) Unwrap() error { return e.Err }

// Decoder yields the un-escaped text of reportdata. JSON packages hold a whole string in memory; a Decoder holds one buffer.
//
// The members may be in any order, with others between them. Names match without regard to case, as with encoding/json. Unlike
// there, a string that is not Unicode is an error: U+FFFD would hide which text was sent.
type Decoder struct {
	src io.Reader

	buf      []byte
	pos, end int   // buf[pos:end] is unread
	base     int64 // offset of buf[0] in the body
	srcErr   error // the error that ended src

	rows *Counter // counts the text's rows; may be nil

	plainEnd, fallbackEnd int64 // offsets in the body up to which copyText has classified the text

	pending           [utf8.UTFMax]byte // a rune that did not fit into the caller's buffer
	pendPos, pendSize int

	opened   bool // the outer brace was read
	inText   bool // inside the string of reportdata
	hasText  bool
	hasTotal bool
	total    int64
	err      error // final: io.EOF once everything was checked
}

// NewDecoder returns a Decoder that reads the body of a response from src.
func NewDecoder(src io.Reader) *Decoder {
	return &Decoder{src: src, buf: make([]byte, bufferSize)}
}

// CountRows makes the decoder count rows in c, which must be new. Call it before the first Read.
func (d *Decoder) CountRows(c *Counter) { d.rows = c }

// Total returns totalrecords, the service's count. It returns false until the count was read, possibly at the end.
func (d *Decoder) Total() (int64, bool) { return d.total, d.hasTotal }

// Enlarge increases the input buffer to size bytes, which must not be less than its current size.
func (d *Decoder) Enlarge(size int) {
	buf := make([]byte, size)
	d.base += int64(d.pos)
	d.end = copy(buf, d.buf[d.pos:d.end])
	d.buf, d.pos = buf, 0
}

// Read returns text of reportdata. It returns io.EOF only after the whole body was read and is well-formed. Read may overwrite
// all of p, also past the text.
func (d *Decoder) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.err == nil {
		if !d.inText {
			d.err = d.members()
			continue
		}
		n, closed, err := d.unescape(p, d.rows)
		if closed {
			d.inText = false
		}
		d.err = err
		if n > 0 {
			return n, nil
		}
	}
	return 0, d.err
}

// members reads the body outside the text: up to the opening quote of the text, or to the end (io.EOF).
func (d *Decoder) members() error {
	if d.offset() == 0 && d.need(len(utf8BOM)) && string(d.buf[:len(utf8BOM)]) == utf8BOM {
		d.pos = len(utf8BOM)
	}
	more, err := d.nextMember()
	for ; more && err == nil; more, err = d.nextMember() {
		if err = d.member(); err != nil || d.inText {
			return err
		}
	}
	if err != nil {
		return err
	}
	switch {
	case !d.hasText:
		return d.malformed(memberData + ": missing")
	case !d.hasTotal:
		return d.malformed(memberTotal + ": missing")
	}
	d.skipSpace()
	if d.pos < d.end {
		return d.malformed("data after the report")
	}
	if d.srcErr != io.EOF {
		return d.truncated()
	}
	return io.EOF
}

// nextMember moves to the next member's name; it returns false after the closing brace.
func (d *Decoder) nextMember() (bool, error) {
	c, err := d.peekToken()
	if err != nil {
		return false, err
	}
	if !d.opened {
		if c != '{' {
			return false, d.malformed("a report must be a JSON object")
		}
		d.opened = true
		d.pos++
		if c, err = d.peekToken(); err != nil || c != '}' {
			return true, err
		}
	}
	switch c {
	case '}':
		d.pos++
		return false, nil
	case ',':
		d.pos++
		return true, nil
	}
	return false, d.malformed("want a comma or the end of the object")
}

// member reads one member; if this is reportdata, member stops inside the string.
func (d *Decoder) member() error {
	var space [64]byte
	name, err := d.shortString(space[:0])
	if err != nil {
		return err
	}
	if err := d.expect(':'); err != nil {
		return err
	}
	switch {
	case bytes.EqualFold(name, []byte(memberData)):
		if d.hasText {
			return d.malformed(memberData + ": more than one")
		}
		c, err := d.peekToken()
		if err != nil {
			return err
		}
		if c != '"' {
			return d.malformed(memberData + ": must be a string")
		}
		d.pos++
		d.hasText, d.inText = true, true
		return nil
	case bytes.EqualFold(name, []byte(memberTotal)):
		if d.hasTotal {
			return d.malformed(memberTotal + ": more than one")
		}
		d.total, err = d.count()
		d.hasTotal = err == nil
		return err
	}
	return d.skipValue(1)
}

// peekToken skips white space and returns the next byte, which stays unread.
func (d *Decoder) peekToken() (byte, error) {
	d.skipSpace()
	return d.peek()
}

// skipSpace stops at a byte that is not white space, or at the end of the source.
func (d *Decoder) skipSpace() {
	for d.need(1) {
		switch d.buf[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

func (d *Decoder) peek() (byte, error) {
	if !d.need(1) {
		return 0, d.truncated()
	}
	return d.buf[d.pos], nil
}

func (d *Decoder) expect(want byte) error {
	c, err := d.peekToken()
	if err != nil {
		return err
	}
	if c != want {
		return d.malformed("want " + string(rune(want)))
	}
	d.pos++
	return nil
}

// need reads input until the buffer has at least n unread bytes; n is small. False means that the source ended earlier, see srcErr.
func (d *Decoder) need(n int) bool {
	for empty := 0; d.end-d.pos < n; {
		if d.srcErr != nil {
			return false
		}
		if d.pos > 0 {
			d.base += int64(d.pos)
			d.end = copy(d.buf, d.buf[d.pos:d.end])
			d.pos = 0
		}
		var got int
		got, d.srcErr = d.src.Read(d.buf[d.end:])
		d.end += got
		if got > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads && d.srcErr == nil {
			d.srcErr = io.ErrNoProgress
		}
	}
	return true
}

// offset returns the offset of the next byte in the body.
func (d *Decoder) offset() int64 { return d.base + int64(d.pos) }

// truncated returns the error for a source that ended too early.
func (d *Decoder) truncated() error {
	if d.srcErr == io.EOF || d.srcErr == io.ErrUnexpectedEOF {
		return &Malformed{Offset: d.base + int64(d.end), Err: io.ErrUnexpectedEOF}
	}
	return d.srcErr
}

// malformed returns the error for a broken rule at the next byte. The rule must not quote content.
func (d *Decoder) malformed(rule string) error {
	return &Malformed{Offset: d.offset(), Err: errors.New(rule)}
}
