package prepaid

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
)

// wireReader reads the answers that come in numbers (accounts, transactions, transfers) by their plain form, several
// times as fast as reflection can. It decides nothing: whatever is not plain (an escaped name, a number where a text
// should stand, bad UTF-8, anything that is no JSON) makes it odd, and the answer is read again from the start with
// decodeOptions, which alone say what is accepted and what error is made. What it does read, it reads as they do.
//
// The texts of an item are made in one allocation, and share memory.
type wireReader struct {
	data  []byte
	pos   int
	odd   bool
	texts []byte // of the item at hand
	spans []textSpan

	people  []person // of the item at hand
	inexact bool     // a value was read that would be written in another form
}

// person is a registration of the item at hand, and where it stands.
type person struct {
	of         *Cardholder
	start, end int
	exact      bool
}

// textSpan is a text of the item at hand that is not yet where it belongs.
type textSpan struct {
	to         *string
	start, end int
}

// wireReadable is a type that can be read by its plain form.
type wireReadable interface{ readWire(r *wireReader) }

// wireReaders are kept for their buffers.
var wireReaders = sync.Pool{New: func() any { return new(wireReader) }}

const (
	maxWireDepth  = 64      // of what is skipped
	maxWireTexts  = 1 << 16 // kept in the pool
	maxWireGuess  = 512     // items that are made room for, by the size of the first
	plainWireTime = len(wireTime)
)

// readWire reads body's one value into item. False: nothing is known of it, and item holds rubbish.
func readWire(body []byte, item wireReadable) bool {
	r := newWireReader(body)
	defer r.free()
	item.readWire(r)
	r.settle()
	return r.ended()
}

// readWireItems reads body, an array, in the same way.
func readWireItems[T any](body []byte, items *[]T) bool {
	if _, ok := any((*T)(nil)).(wireReadable); !ok {
		return false
	}
	r := newWireReader(body)
	defer r.free()
	list := make([]T, 0)
	for more := r.enter('[', ']'); more; more = r.another(']') {
		began := r.pos
		var item T
		list = append(list, item)
		any(&list[len(list)-1]).(wireReadable).readWire(r)
		r.settle()
		if len(list) == 1 && !r.odd { // the others will be as long
			list = append(make([]T, 0, min((len(body)-began)/(r.pos-began)+1, maxWireGuess)), list...)
		}
	}
	*items = list
	return r.ended()
}

func newWireReader(body []byte) *wireReader {
	r := wireReaders.Get().(*wireReader)
	r.data, r.pos, r.odd = body, 0, false
	return r
}

func (r *wireReader) free() {
	r.data, r.spans, r.people = nil, r.spans[:0], r.people[:0]
	if r.texts = r.texts[:0]; cap(r.texts) <= maxWireTexts {
		wireReaders.Put(r)
	}
}

// settle makes the texts of an item.
func (r *wireReader) settle() {
	if !r.odd {
		texts := string(r.texts)
		for _, s := range r.spans {
			*s.to = texts[s.start:s.end]
		}
		for _, p := range r.people {
			p.of.keep(r.data[p.start:p.end], p.exact)
		}
	}
	clear(r.spans)
	clear(r.people)
	r.spans, r.texts, r.people = r.spans[:0], r.texts[:0], r.people[:0]
}

// ended reports whether the value was read and nothing follows.
func (r *wireReader) ended() bool {
	r.peek()
	return !r.odd && r.pos == len(r.data)
}

// giveUp ends the reading: behind the end nothing is found any more.
func (r *wireReader) giveUp() {
	r.odd, r.pos = true, len(r.data)
}

// peek skips white space and returns the byte there; 0 at the end.
func (r *wireReader) peek() byte {
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
func (r *wireReader) enter(open, closing byte) bool {
	if r.peek() != open {
		r.giveUp()
		return false
	}
	r.pos++
	if r.peek() == closing {
		r.pos++
		return false
	}
	return !r.odd
}

// another steps to the next element; false behind the last.
func (r *wireReader) another(closing byte) bool {
	switch r.peek() {
	case ',':
		r.pos++
		return true
	case closing:
		r.pos++
	default:
		r.giveUp()
	}
	return false
}

// first steps into an object, to the value of its first member.
func (r *wireReader) first() (name []byte, ok bool) {
	if !r.enter('{', '}') {
		return nil, false
	}
	return r.name()
}

// next steps to the value of the next member.
func (r *wireReader) next() (name []byte, ok bool) {
	if !r.another('}') {
		return nil, false
	}
	return r.name()
}

func (r *wireReader) name() ([]byte, bool) {
	name, ok := r.plainText()
	if !ok || r.peek() != ':' {
		r.giveUp()
		return nil, false
	}
	r.pos++
	return name, true
}

// plainText reads a string of ASCII without escapes. False: it is none, and nothing was read.
func (r *wireReader) plainText() ([]byte, bool) {
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

// plainLength is how much of text comes before a quote, a backslash, a control character or a byte above ASCII.
func plainLength(text []byte) int {
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		if marks := ascii.Special(binary.LittleEndian.Uint64(text[n:])); marks != 0 {
			return n + bits.TrailingZeros64(marks)>>3
		}
	}
	for n < len(text) && text[n] >= ' ' && text[n] < 0x80 && text[n] != '"' && text[n] != '\\' {
		n++
	}
	return n
}

// anyText appends the content of any string to the texts.
func (r *wireReader) anyText() {
	if text, ok := r.plainText(); ok {
		r.texts = append(r.texts, text...)
		return
	}
	if r.peek() != '"' {
		r.giveUp()
		return
	}
	end := r.pos + 1
	for end < len(r.data) && r.data[end] != '"' {
		if r.data[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(r.data) {
		r.giveUp()
		return
	}
	texts, err := jsontext.AppendUnquote(r.texts, r.data[r.pos:end+1])
	if err != nil {
		r.giveUp()
		return
	}
	r.texts, r.pos = texts, end+1
}

// literal reads a word; false when it is not there.
func (r *wireReader) literal(word string) bool {
	r.peek()
	if rest := r.data[r.pos:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		return false
	}
	r.pos += len(word)
	return true
}

// null reads a null; false when something else is there.
func (r *wireReader) null() bool { return r.peek() == 'n' && r.literal("null") }

// number reads the bytes of a number; their grammar is left to the caller.
func (r *wireReader) number() []byte {
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
		r.giveUp()
	}
	return r.data[start:r.pos]
}

// skip reads any value and drops it.
func (r *wireReader) skip(depth int) {
	switch c := r.peek(); {
	case depth > maxWireDepth:
		r.giveUp()
	case c == '{':
		for _, ok := r.first(); ok; _, ok = r.next() {
			r.skip(depth + 1)
		}
	case c == '[':
		for more := r.enter('[', ']'); more; more = r.another(']') {
			r.skip(depth + 1)
		}
	case c == '"':
		before := len(r.texts)
		if r.anyText(); !r.odd {
			r.texts = r.texts[:before]
		}
	case c == 't' && r.literal("true"), c == 'f' && r.literal("false"), c == 'n' && r.literal("null"):
	default:
		if _, err := number.Parse(r.number(), true); err != nil {
			r.giveUp() // also for one that is only too long for an amount
		}
	}
}

// plainTimeOf reads a date-time in the form of wireTime; false when it has another.
func plainTimeOf(b []byte) (time.Time, bool) {
	if len(b) != plainWireTime || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != 'Z' {
		return time.Time{}, false
	}
	for _, i := range [...]int{0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18} {
		if !ascii.IsDigit(b[i]) {
			return time.Time{}, false
		}
	}
	two := func(i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, minute, second := two(11), two(14), two(17)
	if year == 0 || month == 0 || month > 12 || day == 0 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	return t, t.Day() == day
}
