// Package wire is the fast path of JSON: it reads list responses, and writes the bodies of payments, without reflection.
//
// A [Reader] reads plain JSON into the fields of structs, member by member, several times as fast as reflection. It never
// refuses anything. Whatever is not plain (an escaped name, an ambiguous number, invalid UTF-8, malformed JSON) makes it
// fall back. [Read] and [ReadItems] then return false, and the caller reads the body again from the start with its JSON
// library, which alone decides about acceptance and errors. The values that a Reader reads must equal those of that
// library: the fuzz tests of the callers compare the two. The build tag prepaid_nofastpath switches the Reader off, so that
// every test can run on the library alone. Bodies that a [Writer] writes must equal those of the library too.
//
// A reading function takes the destination and the Reader, in this order. So does the method expression of a type that
// reads itself. The reading functions of structs are generated from the struct tags (tools/wiregen).
//
// The package knows no type of the service. A type with its own JSON form reads itself with [Reader.Null],
// [Reader.PlainText], [Reader.StringOrInteger], [Reader.Number] and [Reader.Set].
package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
)

// Reader is the fast path for list responses: plain JSON, no reflection. The strings of an item are allocated together and
// share memory.
type Reader struct {
	data     []byte
	pos      int
	value    int // where the value of the current member begins
	fallback bool

	texts   []byte // of the current item
	spans   []span
	scratch []byte // the last text that had escapes

	records   []record // of the current item
	inexact   bool     // see Inexact
	recording bool     // inside Record: a member that is not read is not plain
}

// span is a text of the current item that is not yet stored in its field.
type span struct {
	to         *string
	start, end int
}

// record is a call of keep that waits until the texts of the item are stored.
type record struct {
	of    any
	keep  func(of any, raw []byte, exact bool)
	raw   []byte
	exact bool
}

// readers keeps the buffers of used Readers.
var readers = sync.Pool{New: func() any { return new(Reader) }}

const (
	maxDepth = 64      // greatest depth of skipped values
	maxTexts = 1 << 16 // bytes kept in the pool
	maxGuess = 512     // items allocated in advance, by the size of the first
)

// Read reads body's single value, which is not null, with the function read. If Read returns false, nothing is known about
// body, and the values that were set are undefined.
func Read(body []byte, read func(*Reader)) bool {
	if !enabled {
		return false
	}
	r := readers.Get().(*Reader)
	r.data, r.pos, r.value, r.fallback = body, 0, -1, false
	if r.peek() == 'n' { // some reading functions accept the null of a member
		r.Fallback()
	}
	read(r)
	r.FlushStrings()
	r.peek()
	whole := !r.fallback && r.pos == len(body) // nothing follows the value
	r.data = nil
	clear(r.spans[:cap(r.spans)]) // the pool must keep no item in memory
	if cap(r.texts) <= maxTexts && cap(r.scratch) <= maxTexts {
		readers.Put(r)
	}
	return whole
}

// ReadItems reads body, an array, with the function read for each element. After the result false, nothing is known about body.
func ReadItems[T any](body []byte, read func(*T, *Reader)) ([]T, bool) {
	list := make([]T, 0)
	whole := Read(body, func(r *Reader) {
		for more := r.enter('[', ']'); more; more = r.another(']') {
			began := r.pos
			list = extend(list)
			read(&list[len(list)-1], r)
			r.FlushStrings()
			if len(list) == 1 && !r.fallback { // assume that the others have the same size
				list = append(make([]T, 0, min((len(body)-began)/(r.pos-began)+1, maxGuess)), list...)
			}
		}
	})
	return list, whole
}

// extend returns list with one more zero element, mostly without a copy: the spare capacity was never used, so it is zero.
func extend[T any](list []T) []T {
	if len(list) < cap(list) {
		return list[:len(list)+1]
	}
	return append(list, *new(T))
}

// FlushStrings stores the texts read since the last call in their fields, with one allocation.
func (r *Reader) FlushStrings() {
	if !r.fallback {
		texts := string(r.texts)
		for _, s := range r.spans {
			*s.to = texts[s.start:s.end]
		}
		for _, record := range r.records {
			record.keep(record.of, record.raw, record.exact)
		}
	}
	clear(r.records)
	r.spans, r.texts, r.records = r.spans[:0], r.texts[:0], r.records[:0]
}

// Record reads a value with the function read. When the texts of the item are stored, it calls keep with the pointer of, and with the value as
// received, which shares memory with the response; exact reports whether the value would be written in the same way. An item has each such
// value at most once.
func (r *Reader) Record(of any, read func(*Reader), keep func(of any, raw []byte, exact bool)) {
	if slices.ContainsFunc(r.records, func(earlier record) bool { return earlier.of == of }) {
		r.Fallback()
	}
	r.inexact, r.recording = false, true
	raw := r.Raw(read)
	r.recording = false
	r.records = append(r.records, record{of, keep, raw, !r.inexact})
}

// Raw reads a value with the function read and returns its bytes, which share memory with the body.
func (r *Reader) Raw(read func(*Reader)) []byte {
	r.peek()
	start := r.pos
	read(r)
	return r.data[start:r.pos]
}

// Inexact records that the value just read would be written in another form.
func (r *Reader) Inexact() { r.inexact = true }

// Fallback leaves the body to the JSON library. The Reader reads nothing more.
func (r *Reader) Fallback() {
	r.fallback, r.pos = true, len(r.data)
}

// peek skips white space and returns the next byte, which stays unread; 0 at the end.
func (r *Reader) peek() byte {
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; c {
		case ' ', '\t', '\r', '\n':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// enter steps into an array or object; it returns false if there is none or it is empty.
func (r *Reader) enter(open, closing byte) bool {
	if r.peek() != open {
		r.Fallback()
		return false
	}
	r.pos++
	if r.peek() == closing {
		r.pos++
		return false
	}
	return !r.fallback
}

// another steps to the next element; it returns false after the last element.
func (r *Reader) another(closing byte) bool {
	switch r.peek() {
	case ',':
		r.pos++
		return true
	case closing:
		r.pos++
	default:
		r.Fallback()
	}
	return false
}

// First steps into an object, to the value of its first member.
func (r *Reader) First() (name []byte, ok bool) {
	if !r.enter('{', '}') {
		return nil, false
	}
	return r.name()
}

// Next steps to the value of the next member. A value that was not read is skipped.
func (r *Reader) Next() (name []byte, ok bool) {
	if r.pos == r.value {
		if r.recording {
			r.Fallback()
		}
		r.skip(0)
	}
	if !r.another('}') {
		return nil, false
	}
	return r.name()
}

// Required returns mark for a required member, whose value is next. Null and empty text are not plain.
func (r *Reader) Required(mark uint) uint {
	if c := r.peek(); c == 'n' || c == '"' && bytes.HasPrefix(r.data[r.pos:], []byte(`""`)) {
		r.Fallback()
	}
	return mark
}

func (r *Reader) name() ([]byte, bool) {
	name, ok := r.PlainText()
	if !ok || r.peek() != ':' {
		r.Fallback()
		return nil, false
	}
	r.pos++
	r.value = r.pos
	return name, true
}

// PlainText reads a string of ASCII without escapes. False means that something else is next: nothing was read.
func (r *Reader) PlainText() ([]byte, bool) {
	if r.peek() != '"' {
		return nil, false
	}
	text := r.data[r.pos+1:]
	n := 0
	for ; len(text)-n >= 8; n += 8 { // like ascii.PlainLength, but without the call
		if marks := ascii.Special(binary.LittleEndian.Uint64(text[n:])); marks != 0 {
			n += bits.TrailingZeros64(marks) >> 3
			if text[n] != '"' {
				return nil, false
			}
			r.pos += n + 2
			return text[:n], true
		}
	}
	n = ascii.PlainLength(text)
	if n == len(text) || text[n] != '"' {
		return nil, false
	}
	r.pos += n + 2
	return text[:n], true
}

// text reads any string. The result is valid until the next string is read.
func (r *Reader) text() []byte {
	if text, ok := r.PlainText(); ok {
		return text
	}
	if r.peek() != '"' {
		r.Fallback()
		return nil
	}
	end := r.pos + 1
	for end < len(r.data) && r.data[end] != '"' {
		if r.data[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(r.data) {
		r.Fallback()
		return nil
	}
	text, err := jsontext.AppendUnquote(r.scratch[:0], r.data[r.pos:end+1])
	if err != nil {
		r.Fallback()
		return nil
	}
	r.scratch, r.pos = text, end+1
	return text
}

// Set stores a copy of text in *to, when the texts of the item are complete.
func (r *Reader) Set(to *string, text []byte) {
	start := len(r.texts)
	r.texts = append(r.texts, text...)
	r.spans = append(r.spans, span{to, start, len(r.texts)})
}

// literal reads a word; it returns false if something else is next.
func (r *Reader) literal(word string) bool {
	r.peek()
	if rest := r.data[r.pos:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		return false
	}
	r.pos += len(word)
	return true
}

// Null reads a null; it returns false if something else is next.
func (r *Reader) Null() bool { return r.peek() == 'n' && r.literal("null") }

// isNumber reports whether a number is next.
func (r *Reader) isNumber() bool {
	c := r.peek()
	return c == '-' || ascii.IsDigit(c)
}

// Number reads the bytes of a number; the caller checks the grammar.
func (r *Reader) Number() []byte {
	r.peek()
	start := r.pos
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; {
		case ascii.IsDigit(c), c == '.', c == '-', c == '+', c == 'e', c == 'E':
			r.pos++
			continue
		}
		break
	}
	if r.pos == start {
		r.Fallback()
	}
	return r.data[start:r.pos]
}

// checkedNumber reads a number that fits into a decimal.
func (r *Reader) checkedNumber() []byte {
	text := r.Number()
	if _, err := number.Parse(text, true); err != nil {
		r.Fallback() // also if it is correct but too long
	}
	return text
}

// skip reads and discards any value.
func (r *Reader) skip(depth int) {
	switch c := r.peek(); {
	case depth > maxDepth:
		r.Fallback()
	case c == '{':
		for _, ok := r.First(); ok; _, ok = r.Next() {
			r.skip(depth + 1)
		}
	case c == '[':
		for more := r.enter('[', ']'); more; more = r.another(']') {
			r.skip(depth + 1)
		}
	case c == '"':
		r.text()
	case c == 't' && r.literal("true"), c == 'f' && r.literal("false"), c == 'n' && r.literal("null"):
	default:
		r.checkedNumber()
	}
}
