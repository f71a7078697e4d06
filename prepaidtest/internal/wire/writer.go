package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Writer writes a JSON object member by member, each with a comma after it. Callers pass names with quotes and colon.
// A page has hundreds of accounts or history items: with reflection, the emulator would take many times longer than
// the tests themselves.
type Writer struct{ text []byte }

// Begin starts an object after text.
func Begin(text []byte) Writer { return Writer{append(text, '{')} }

// End closes an object, which must have a member.
func (o *Writer) End() []byte {
	o.text[len(o.text)-1] = '}'
	return o.text
}

func (o *Writer) name(name string) { o.text = append(o.text, name...) }

// String writes a string.
func (o *Writer) String(name, value string) {
	o.name(name)
	o.text = append(appendString(o.text, value), ',')
}

// Optional omits an empty string.
func (o *Writer) Optional(name, value string) {
	if value != "" {
		o.String(name, value)
	}
}

// Integer writes an integer.
func (o *Writer) Integer(name string, value int64) {
	o.name(name)
	o.text = append(strconv.AppendInt(o.text, value, 10), ',')
}

// Digits writes a number as a string.
func (o *Writer) Digits(name string, value int64) {
	o.name(name)
	o.text = append(o.text, '"')
	o.text = append(strconv.AppendInt(o.text, value, 10), `",`...)
}

// Boolean writes true or false.
func (o *Writer) Boolean(name string, value bool) {
	o.name(name)
	o.text = append(strconv.AppendBool(o.text, value), ',')
}

// Money writes an amount as a number.
func (o *Writer) Money(name string, value Money) {
	o.name(name)
	o.text = append(value.append(o.text), ',')
}

// Time writes a date-time.
func (o *Writer) Time(name string, value time.Time) {
	o.name(name)
	o.text = append(o.text, '"')
	o.text = appendTime(o.text, value)
	o.text = append(o.text, `",`...)
}

// Plain writes a string that needs no escape.
func (o *Writer) Plain(name, value string) {
	o.name(name)
	o.text = append(o.text, '"')
	o.text = append(o.text, value...)
	o.text = append(o.text, `",`...)
}

// Raw writes a value that is JSON already.
func (o *Writer) Raw(name string, value []byte) {
	o.name(name)
	o.text = append(o.text, value...)
	o.text = append(o.text, ',')
}

// AppendJSON appends a value that does not need a Writer. The emulator's own types always marshal.
func AppendJSON[T any](to []byte, value T) []byte {
	text := bytes.NewBuffer(to)
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// appendString appends a JSON string. Stored text is UTF-8, so quoting cannot fail.
func appendString(to []byte, value string) []byte {
	for _, c := range []byte(value) {
		if c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			to, _ = jsontext.AppendQuote(to, value)
			return to
		}
	}
	to = append(to, '"')
	to = append(to, value...)
	return append(to, '"')
}
