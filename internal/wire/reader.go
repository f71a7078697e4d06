// Package wire is the fast path of JSON: it reads list responses, and writes the bodies of payments, without reflection.
//
// A [Reader] reads plain JSON into the fields of structs, member by member, several times as fast as reflection. It decides
// nothing. Whatever is not plain (an escaped name, a number where another reading is possible, bad UTF-8, what is no JSON)
// makes it fall back: [Read] and [ReadItems] then report false, and the caller reads the body again from the start with its
// JSON library, which alone decides what is accepted and which error is returned. What a Reader does read must be what that
// library reads: the fuzz tests of the callers compare the two. A [Writer] keeps the same promise for bodies.
//
// A reading function takes where to put the value, and the Reader, in this order: so the method expression of a type that
// reads itself is one. Those of structs are generated from their tags (internal/wiregen).
//
// The package knows no type of the service. A type with a form of its own reads itself, by [Reader.Null],
// [Reader.PlainText], [Reader.StringOrInteger], [Reader.Number] and [Reader.Set].
package wire

import (
	"encoding/binary"
	"math/bits"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
)

// Reader is the fast path for list responses: plain JSON, no reflection. The texts of an item are made in one allocation,
// and share memory.
type Reader struct {
	data     []byte
	pos      int
	value    int // where the value of the newest member begins
	fallback bool

	texts   []byte // of the item at hand
	spans   []span
	scratch []byte // the newest text that had escapes

	records []record // of the item at hand
	inexact bool     // see Inexact
}

// span is a text of the item at hand that is not yet where it belongs.
type span struct {
	to         *string
	start, end int
}

// Recorded is a value that wants to know what it was read from.
type Recorded interface {
	// Record is called when the texts of the item are in place. raw is the value as it arrived, and belongs to the response;
	// exact reports that the value would be written in the same way.
	Record(raw []byte, exact bool)
}

type record struct {
	of    Recorded
	raw   []byte
	exact bool
}

// readers are kept for their buffers.
var readers = sync.Pool{New: func() any { return new(Reader) }}

const (
	maxDepth = 64      // of what is skipped
	maxTexts = 1 << 16 // kept in the pool
	maxGuess = 512     // items that are made room for, by the size of the first
)

// Read reads body's one value with read. False means that nothing is known of it, and that what read has set is rubbish.
func Read(body []byte, read func(*Reader)) bool {
	r := newReader(body)
	defer r.free()
	read(r)
	r.FlushStrings()
	return r.ended()
}

// ReadItems reads body, an array, each element with read. False means that nothing is known of it.
func ReadItems[T any](body []byte, read func(*T, *Reader)) ([]T, bool) {
	r := newReader(body)
	defer r.free()
	list := make([]T, 0)
	for more := r.enter('[', ']'); more; more = r.another(']') {
		began := r.pos
		var item T
		list = append(list, item)
		read(&list[len(list)-1], r)
		r.FlushStrings()
		if len(list) == 1 && !r.fallback { // the others will be as long
			list = append(make([]T, 0, min((len(body)-began)/(r.pos-began)+1, maxGuess)), list...)
		}
	}
	return list, r.ended()
}

func newReader(body []byte) *Reader {
	r := readers.Get().(*Reader)
	r.data, r.pos, r.value, r.fallback = body, 0, -1, false
	return r
}

func (r *Reader) free() {
	r.data = nil
	if cap(r.texts) <= maxTexts && cap(r.scratch) <= maxTexts {
		readers.Put(r)
	}
}

// FlushStrings puts the texts that were read since the last time where they belong, in one allocation.
func (r *Reader) FlushStrings() {
	if !r.fallback {
		texts := string(r.texts)
		for _, s := range r.spans {
			*s.to = texts[s.start:s.end]
		}
		for _, record := range r.records {
			record.of.Record(record.raw, record.exact)
		}
	}
	clear(r.spans)
	clear(r.records)
	r.spans, r.texts, r.records = r.spans[:0], r.texts[:0], r.records[:0]
}

// Record reads a value with read, and reports to it what it was read from. There is one such value in an item.
func (r *Reader) Record(value Recorded, read func(*Reader)) {
	if len(r.records) > 0 {
		r.Fallback()
	}
	r.inexact = false
	raw := r.Raw(read)
	r.records = append(r.records, record{value, raw, !r.inexact})
}

// Raw reads a value with read, and returns its bytes, which belong to the body.
func (r *Reader) Raw(read func(*Reader)) []byte {
	r.peek()
	start := r.pos
	read(r)
	return r.data[start:r.pos]
}

// Inexact notes that a value was read that would be written in another form.
func (r *Reader) Inexact() { r.inexact = true }

// ended reports whether the value was read and nothing follows.
func (r *Reader) ended() bool {
	r.peek()
	return !r.fallback && r.pos == len(r.data)
}

// Fallback leaves the body to the JSON library. Nothing more is found in it.
func (r *Reader) Fallback() {
	r.fallback, r.pos = true, len(r.data)
}

// peek skips white space and returns the byte there; 0 at the end.
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

// enter steps into an array or object; false when it is empty.
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

// another steps to the next element; false after the last.
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
		r.skip(0)
	}
	if !r.another('}') {
		return nil, false
	}
	return r.name()
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

// PlainText reads a string of ASCII without escapes. False means that something else is there, and nothing was read.
func (r *Reader) PlainText() ([]byte, bool) {
	if r.peek() != '"' {
		return nil, false
	}
	start := r.pos + 1
	end := start + plainLength(r.data[start:])
	if end == len(r.data) || r.data[end] != '"' {
		return nil, false
	}
	r.pos = end + 1
	return r.data[start:end], true
}

// plainLength returns how much of text comes before a byte that is not plain.
func plainLength(text []byte) int {
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		if marks := ascii.Special(binary.LittleEndian.Uint64(text[n:])); marks != 0 {
			return n + bits.TrailingZeros64(marks)>>3
		}
	}
	for n < len(text) && ascii.IsPlain(text[n]) {
		n++
	}
	return n
}

// text reads any string. Its content is good until the next one is read.
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

// Set puts a copy of text where it belongs, when the texts of the item are complete.
func (r *Reader) Set(to *string, text []byte) {
	start := len(r.texts)
	r.texts = append(r.texts, text...)
	r.spans = append(r.spans, span{to, start, len(r.texts)})
}

// literal reads a word; false when it is not there.
func (r *Reader) literal(word string) bool {
	r.peek()
	if rest := r.data[r.pos:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		return false
	}
	r.pos += len(word)
	return true
}

// Null reads a null; false when something else is there.
func (r *Reader) Null() bool { return r.peek() == 'n' && r.literal("null") }

// isNumber reports whether a number is next.
func (r *Reader) isNumber() bool {
	c := r.peek()
	return c == '-' || ascii.IsDigit(c)
}

// Number reads the bytes of a number; their grammar is left to the caller.
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

// checkedNumber reads a number that a decimal can hold.
func (r *Reader) checkedNumber() []byte {
	text := r.Number()
	if _, err := number.Parse(text, true); err != nil {
		r.Fallback() // also for one that is only too long
	}
	return text
}

// skip reads any value and drops it.
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
