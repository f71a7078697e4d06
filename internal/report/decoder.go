// Package report reads the response that carries a finished report. Memory is constant, for a report of any size.
//
// The response is {"reportdata": "<CSV>", "totalrecords": <count>}, and its one string can have hundreds of megabytes.
//
//   - [Decoder] returns the un-escaped CSV text while it arrives, counts its rows, and then returns the service's count.
//   - [Rows] splits the text of a Decoder into rows with encoding/csv.
//
// A Decoder returns io.EOF only after the whole body was read and is well-formed. For a body that is not a report, the error is a
// *[Malformed], whose text has the broken rule and never the content; an error of the source is returned unchanged. Memory is
// always bounded: a row of Rows has at most 1 MiB and 65,536 fields, a string other than the text is not kept, and any other
// value, and white space, has at most 64 KiB. Reading ends if the source repeatedly returns no data.
//
// The package does not compare the rows with the count, does not know HTTP, and closes nothing. Its values are not safe for
// concurrent use.
package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/number"
)

const (
	bufferSize     = 64 << 10
	maxCountLength = 64 // bytes of totalrecords

	memberData  = "reportdata"
	memberTotal = "totalrecords"
)

var errSyntax = errors.New("invalid JSON")

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

// Decoder yields the un-escaped text of reportdata. JSON packages hold a whole string in memory; a Decoder holds a part.
//
// The members may be in any order, with others between them. Names match without regard to case, as with encoding/json. Unlike
// there, a string that is not Unicode is an error: U+FFFD would hide which text was sent.
type Decoder struct {
	body *body
	json *jsontext.Decoder // reads body

	rune   [utf8.UTFMax]byte // a rune that did not fit into the caller's buffer
	text   []byte            // not returned yet
	rows   counter
	byRows bool // a Rows reads the text

	opened   bool // the outer brace was read
	inText   bool // inside the string of reportdata
	hasText  bool
	hasTotal bool
	total    int64
	err      error // final: io.EOF once everything was checked
}

// NewDecoder returns a Decoder that reads the body of a response from src.
func NewDecoder(src io.Reader) *Decoder {
	b := newBody(src)
	return &Decoder{body: b, json: jsontext.NewDecoder(b, jsontext.AllowDuplicateNames(true))}
}

// Total returns totalrecords, the service's count. It returns false until the count was read, possibly at the end.
func (d *Decoder) Total() (int64, bool) { return d.total, d.hasTotal }

// CountedRows returns how many rows of the text have ended so far. In well-formed text they are the rows that [Rows] returns. In
// malformed text quotes are read as by encoding/csv with LazyQuotes, so that such a report can still be read as text.
func (d *Decoder) CountedRows() int64 { return d.rows.rows }

// FinishRows counts a last row without line end, after Read has returned io.EOF. If the text ends inside quotes, FinishRows returns
// csv.ErrQuote with the row number, and does not count that row.
func (d *Decoder) FinishRows() error {
	if !d.rows.finish() {
		return inRow(d.rows.rows+1, csv.ErrQuote)
	}
	return nil
}

// Read returns text of reportdata. It returns io.EOF only after the whole body was read and is well-formed.
func (d *Decoder) Read(p []byte) (int, error) {
	for len(p) > 0 && len(d.text) == 0 && d.err == nil {
		space := d.rune[:0]
		if len(p) >= utf8.UTFMax {
			space = p[:0:len(p)]
		}
		d.text, d.err = d.next(space)
	}
	n := copy(p, d.text)
	d.text = d.text[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, d.err
}

// next returns more of the text, in space, or reads the members up to the text or to the end (io.EOF).
func (d *Decoder) next(space []byte) (text []byte, err error) {
	if !d.inText {
		return nil, d.members()
	}
	if d.byRows && d.rows.limit != nil { // the text before it was returned
		return nil, inRow(d.rows.limitRow, d.rows.limit)
	}
	text, err = d.body.unescape(space, &d.rows)
	if err == nil && !d.body.inString {
		d.inText = false
		d.body.endText()
		err = d.skipValue()
	}
	return text, err
}

// open reads the opening brace.
func (d *Decoder) open() error {
	d.body.skipMark()
	start, err := d.json.ReadToken()
	if err != nil {
		return d.failed(err)
	}
	if start.Kind() != '{' {
		return d.malformed("a report must be a JSON object")
	}
	d.opened = true
	return nil
}

func (d *Decoder) members() error {
	if !d.opened {
		if err := d.open(); err != nil {
			return err
		}
	}
	for {
		name, err := d.json.ReadToken()
		if err != nil {
			return d.failed(err)
		}
		if name.Kind() == '}' {
			return d.finish()
		}
		if err := d.member(name.String()); err != nil || d.inText {
			return err
		}
	}
}

// member reads the value of one member; if this is reportdata, member stops inside the string.
func (d *Decoder) member(name string) error {
	switch {
	case strings.EqualFold(name, memberData):
		if d.hasText {
			return d.malformed(memberData + ": more than one")
		}
		if kind := d.json.PeekKind(); kind == 0 {
			break // SkipValue returns the error
		} else if kind != '"' {
			return d.malformed(memberData + ": must be a string")
		}
		d.hasText, d.inText = true, true
		return nil
	case strings.EqualFold(name, memberTotal):
		if d.hasTotal {
			return d.malformed(memberTotal + ": more than one")
		}
		return d.count()
	}
	return d.skipValue()
}

func (d *Decoder) skipValue() error {
	if err := d.json.SkipValue(); err != nil {
		return d.failed(err)
	}
	return nil
}

// count reads totalrecords: a whole number of 0 or more, which may be written 12, 12.0, 1.2e1 or "12".
func (d *Decoder) count() error {
	token, err := d.json.ReadToken()
	if err != nil {
		return d.failed(err)
	}
	if kind := token.Kind(); kind == '0' || kind == '"' {
		d.total, d.hasTotal = countOf(token.String())
	}
	if !d.hasTotal {
		return d.malformed(memberTotal + ": must be a whole number of 0 or more")
	}
	return nil
}

// countOf reads a JSON number that is whole and not negative.
func countOf(text string) (int64, bool) {
	if len(text) > maxCountLength || strings.HasPrefix(text, "-") {
		return 0, false
	}
	return number.Int64([]byte(text))
}

// finish makes the checks after the closing brace; io.EOF if all succeed.
func (d *Decoder) finish() error {
	switch {
	case !d.hasText:
		return d.malformed(memberData + ": missing")
	case !d.hasTotal:
		return d.malformed(memberTotal + ": missing")
	}
	if _, err := d.json.ReadToken(); err == nil {
		return d.malformed("data after the report")
	} else if err != io.EOF {
		return d.failed(err)
	}
	return io.EOF
}

// failed returns the cause of an error of json, whose text may quote content.
func (d *Decoder) failed(err error) error {
	if d.body.err != nil && d.body.err != io.EOF {
		return d.body.err
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok && !errors.Is(err, io.ErrUnexpectedEOF) {
		return &Malformed{Offset: d.body.offsetOf(syntax.ByteOffset), Err: errSyntax}
	}
	return d.body.ended(io.EOF)
}

// malformed returns the error for a broken rule after the last token. The rule must not quote content.
func (d *Decoder) malformed(rule string) error {
	return &Malformed{Offset: d.body.offsetOf(d.json.InputOffset()), Err: errors.New(rule)}
}

func inRow(row int64, err error) error { return fmt.Errorf("row %d: %w", row, err) }
