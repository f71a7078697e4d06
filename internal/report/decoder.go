// Package report reads the response that carries a finished report, of any size in constant memory.
//
// The response is {"reportdata": "<CSV>", "totalrecords": <count>}, and its one string can have hundreds of megabytes.
//
//   - [Decoder] yields the un-escaped CSV text while it arrives, and then the count.
//   - [Rows] cuts CSV text into rows, as encoding/csv does but several times as fast.
//   - [Counter] counts the rows of a text that is not cut, as a by-product of un-escaping it.
//
// A Decoder returns io.EOF only after the whole body was read and is well-formed. A body that is not a report is a *[Malformed],
// whose text names the rule and never the content; an error of the source is returned as it is. Memory is bounded, whatever
// arrives: a row has at most 1 MiB and 65,536 fields, and values are nested at most 128 deep. A source that keeps returning
// nothing is given up.
//
// The package does not compare the rows with the count, knows nothing of HTTP, and closes nothing. No value of it may be used by
// two goroutines at once.
package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	bufferSize    = 64 << 10 // of the JSON input, and of the CSV text at first
	maxDepth      = 128      // nested arrays and objects, the outermost included
	maxEmptyReads = 100      // reads in a row that return neither bytes nor an error

	memberData  = "reportdata"
	memberTotal = "totalrecords"
)

// Malformed means that the body is not a report.
type Malformed struct {
	Offset int64 // the byte of the body at which reading stopped
	Err    error // the rule that was broken, or io.ErrUnexpectedEOF
}

// Error names the rule and the offset.
func (e *Malformed) Error() string {
	return fmt.Sprintf("malformed report at byte %d: %v", e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *Malformed) Unwrap() error { return e.Err }

// Decoder yields the un-escaped text of reportdata. JSON packages hold a whole string in memory; a Decoder holds one buffer.
//
// The members may have either order and others between them. Names match without regard to case, and bytes that are not UTF-8
// become U+FFFD, as with encoding/json.
type Decoder struct {
	src io.Reader

	buf      []byte
	pos, end int   // buf[pos:end] is unread
	base     int64 // offset of buf[0] in the body
	srcErr   error // what ended src

	rows *Counter // of the text; may be nil

	plainEnd, fallbackEnd int64 // offsets in the body, up to where copyText knows what the text is like

	pending           [utf8.UTFMax]byte // a rune that did not fit
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

// CountRows makes the decoder count the rows of the text in c, which must be new. Call it before the first Read.
func (d *Decoder) CountRows(c *Counter) { d.rows = c }

// Total returns totalrecords, the service's count; false until it was read, which may be at the very end.
func (d *Decoder) Total() (int64, bool) { return d.total, d.hasTotal }

// Enlarge gives the input a buffer of size bytes, which must be no less than the one it has.
func (d *Decoder) Enlarge(size int) {
	buf := make([]byte, size)
	d.base += int64(d.pos)
	d.end = copy(buf, d.buf[d.pos:d.end])
	d.buf, d.pos = buf, 0
}

// Read yields text of reportdata. It returns io.EOF only after the whole body was read and found well-formed. All of p may be
// used as scratch space.
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

// members reads what surrounds the text: up to its opening quote, or to the end of the body (io.EOF).
func (d *Decoder) members() error {
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

// nextMember moves to the next member's name; false after the closing brace.
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

// member reads one member; with reportdata it stops inside the string.
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

// peekToken skips white space and returns the byte there, unread.
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

// need reads until at least n bytes are unread; n is small. False: the source ended before, see srcErr.
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

// offset is where in the body the next byte is.
func (d *Decoder) offset() int64 { return d.base + int64(d.pos) }

// truncated is the error for a source that ended too early.
func (d *Decoder) truncated() error {
	if d.srcErr == io.EOF || d.srcErr == io.ErrUnexpectedEOF {
		return &Malformed{Offset: d.base + int64(d.end), Err: io.ErrUnexpectedEOF}
	}
	return d.srcErr
}

// malformed is the error for a broken rule at the next byte. The rule names no content.
func (d *Decoder) malformed(rule string) error {
	return &Malformed{Offset: d.offset(), Err: errors.New(rule)}
}
