package wire

import (
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Writer writes the bodies of payments member by member, without reflection. If it cannot write a value, it falls back: the
// caller encodes the body with the JSON library, which returns the error.
type Writer struct {
	body     []byte
	fallback bool
}

// writers are reused; bodies are not, because a transport may hold a body longer than its call.
var writers = sync.Pool{New: func() any { return new(Writer) }}

// Write returns the body that the function write writes; false if the JSON library must encode the body.
func Write(write func(*Writer)) ([]byte, bool) {
	if !enabled {
		return nil, false
	}
	w := writers.Get().(*Writer)
	w.body = make([]byte, 0, 256)
	write(w)
	written, fallback := w.body, w.fallback
	*w = Writer{}
	writers.Put(w)
	return written, !fallback
}

// Begin starts an object.
func (w *Writer) Begin() { w.body = append(w.body, '{') }

// End ends an object.
func (w *Writer) End() { w.body = append(w.body, '}') }

// Name starts a member.
func (w *Writer) Name(name string) {
	if w.body[len(w.body)-1] != '{' {
		w.body = append(w.body, ',')
	}
	w.body = append(append(append(w.body, '"'), name...), `":`...)
}

// Text writes a member that is a string.
func (w *Writer) Text(name, value string) {
	w.Name(name)
	if plainLength([]byte(value)) == len(value) {
		w.body = append(append(append(w.body, '"'), value...), '"')
		return
	}
	body, err := jsontext.AppendQuote(w.body, value)
	w.body, w.fallback = body, w.fallback || err != nil
}

// Integer writes a member that is a whole number.
func (w *Writer) Integer(name string, value int64) {
	w.Name(name)
	w.body = strconv.AppendInt(w.body, value, 10)
}

// Append writes a value with a function that appends the JSON form of its type.
func (w *Writer) Append(value func([]byte) []byte) { w.body = value(w.body) }
