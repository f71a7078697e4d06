package wire

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// Writer writes the body of a payment member by member, without reflection. Names are passed with their punctuation.
type Writer struct {
	Body []byte
	Err  error // of the first text that is not UTF-8
}

// Text writes a member that is a string.
func (w *Writer) Text(name, value string) {
	w.Body = append(w.Body, name...)
	if ascii.PlainLength([]byte(value)) == len(value) {
		w.Body = append(append(append(w.Body, '"'), value...), '"')
		return
	}
	body, err := jsontext.AppendQuote(w.Body, value)
	w.Body, w.Err = body, cmp.Or(w.Err, err)
}

// Integer writes a member that is a whole number.
func (w *Writer) Integer(name string, value int64) {
	w.Body = strconv.AppendInt(append(w.Body, name...), value, 10)
}

// Members appends the members of another object, as text, to Body, an object with members. Anything that would not leave one object with
// unique names is an error.
func (w *Writer) Members(text string) {
	if text == "" || w.Err != nil {
		return
	}
	w.Body = append(append(w.Body[:len(w.Body)-1], ','), text[1:]...)
	if text[0] != '{' || !jsontext.Value(w.Body).IsValid() {
		w.Err = errMembers
	}
}

var errMembers = errors.New("further members that are no object, or a name twice")
