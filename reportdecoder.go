package prepaid

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"
)

const (
	reportBufferSize = 64 << 10 // of the JSON input, and of the CSV text at first
	maxReportDepth   = 128      // nested arrays and objects, the outermost included
	maxEmptyReads    = 100      // reads in a row that bring neither bytes nor an error

	memberReportData   = "reportdata"
	memberTotalRecords = "totalrecords"
)

// reportDecoder reads the answer {"reportdata": "<CSV>", "totalrecords": <count>} and yields the un-escaped
// text of reportdata. JSON packages hold a whole string in memory, and this one can have hundreds of megabytes;
// here memory is constant.
//
// The members may come in either order and with others between them. As for every answer, form alone is no
// reason to refuse: names match without regard to case, and bytes that are not UTF-8 become U+FFFD, as with
// encoding/json. Errors are *DecodeError, or the source's own when it broke off.
type reportDecoder struct {
	src       io.Reader
	mediaType string // of the answer, for errors

	buf      []byte
	pos, end int   // buf[pos:end] is unread
	base     int64 // offset of buf[0] in the body
	srcErr   error // what ended src

	rows *rowCounter // of the text, nil when nobody asks

	plainEnd, oddEnd int64 // offsets in the body, up to where copyText knows what the text is like

	pending           [utf8.UTFMax]byte // a rune that did not fit
	pendPos, pendSize int

	opened   bool // behind the outer brace
	inText   bool // inside the string of reportdata
	hasText  bool
	hasTotal bool
	total    int64
	err      error // final: io.EOF once everything was checked
}

func newReportDecoder(src io.Reader) *reportDecoder {
	return &reportDecoder{src: src, buf: make([]byte, reportBufferSize)}
}

// enlarge gives the input a buffer of size bytes, which is no less than the one it has.
func (d *reportDecoder) enlarge(size int) {
	buf := make([]byte, size)
	d.base += int64(d.pos)
	d.end = copy(buf, d.buf[d.pos:d.end])
	d.buf, d.pos = buf, 0
}

// Read yields text of reportdata. It returns io.EOF only after the whole body was read and found good. All of
// p may be used as scratch space.
func (d *reportDecoder) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for d.err == nil {
		if !d.inText {
			d.err = d.envelope()
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

// envelope reads what stands around the text: up to its opening quote, or to the end of the body (io.EOF).
func (d *reportDecoder) envelope() error {
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
		return d.fault(memberReportData + ": missing")
	case !d.hasTotal:
		return d.fault(memberTotalRecords + ": missing")
	}
	d.skipSpace()
	if d.pos < d.end {
		return d.fault("data after the report")
	}
	if d.srcErr != io.EOF {
		return d.short()
	}
	return io.EOF
}

// nextMember moves to the next member's name; false behind the closing brace.
func (d *reportDecoder) nextMember() (bool, error) {
	c, err := d.token()
	if err != nil {
		return false, err
	}
	if !d.opened {
		if c != '{' {
			return false, d.fault("a report must be a JSON object")
		}
		d.opened = true
		d.pos++
		if c, err = d.token(); err != nil || c != '}' {
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
	return false, d.fault("want a comma or the end of the object")
}

// member reads one member; with reportdata it stops inside the string.
func (d *reportDecoder) member() error {
	var space [64]byte
	name, err := d.shortString(space[:0])
	if err != nil {
		return err
	}
	if err := d.expect(':'); err != nil {
		return err
	}
	switch {
	case bytes.EqualFold(name, []byte(memberReportData)):
		if d.hasText {
			return d.fault(memberReportData + ": more than one")
		}
		c, err := d.token()
		if err != nil {
			return err
		}
		if c != '"' {
			return d.fault(memberReportData + ": must be a string")
		}
		d.pos++
		d.hasText, d.inText = true, true
		return nil
	case bytes.EqualFold(name, []byte(memberTotalRecords)):
		if d.hasTotal {
			return d.fault(memberTotalRecords + ": more than one")
		}
		d.total, err = d.totalRecords()
		d.hasTotal = err == nil
		return err
	}
	return d.skipValue(1)
}

// token skips white space and returns the byte there, unread.
func (d *reportDecoder) token() (byte, error) {
	d.skipSpace()
	return d.peek()
}

// skipSpace stops at a byte that is not white space, or at the end of the source.
func (d *reportDecoder) skipSpace() {
	for d.need(1) {
		switch d.buf[d.pos] {
		case ' ', '\t', '\r', '\n':
			d.pos++
		default:
			return
		}
	}
}

func (d *reportDecoder) peek() (byte, error) {
	if !d.need(1) {
		return 0, d.short()
	}
	return d.buf[d.pos], nil
}

func (d *reportDecoder) expect(want byte) error {
	c, err := d.token()
	if err != nil {
		return err
	}
	if c != want {
		return d.fault("want " + string(rune(want)))
	}
	d.pos++
	return nil
}

// need reads until at least n bytes are unread; n is small. False: the source ended before, see srcErr.
func (d *reportDecoder) need(n int) bool {
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

// short is the error for a source that ended too early.
func (d *reportDecoder) short() error {
	if d.srcErr == io.EOF || d.srcErr == io.ErrUnexpectedEOF {
		return d.decodeError(d.end, io.ErrUnexpectedEOF)
	}
	return d.srcErr
}

// fault is a DecodeError at the next byte. The rule names no content.
func (d *reportDecoder) fault(rule string) error { return d.decodeError(d.pos, errors.New(rule)) }

func (d *reportDecoder) decodeError(at int, err error) error {
	return &DecodeError{
		StatusCode: http.StatusOK, // reports come with no other
		MediaType:  d.mediaType,
		Offset:     d.base + int64(at),
		Err:        err,
	}
}
