package prepaidtest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// object writes a JSON object member by member, each with a comma behind it. Accounts and history items go out by
// the hundred in a page, where reflection would make the emulator many times slower than the tests it serves.
type object struct{ text []byte }

// beginObject goes on after text.
func beginObject(text []byte) object { return object{append(text, '{')} }

// end closes an object of at least one member.
func (o *object) end() []byte {
	o.text[len(o.text)-1] = '}'
	return o.text
}

func (o *object) name(name string) {
	o.text = append(o.text, '"')
	o.text = append(o.text, name...)
	o.text = append(o.text, `":`...)
}

func (o *object) string(name, value string) {
	o.name(name)
	o.text = append(appendString(o.text, value), ',')
}

// optional leaves an empty string out.
func (o *object) optional(name, value string) {
	if value != "" {
		o.string(name, value)
	}
}

func (o *object) integer(name string, value int64) {
	o.name(name)
	o.text = append(strconv.AppendInt(o.text, value, 10), ',')
}

// digits writes a number as a string.
func (o *object) digits(name string, value int64) {
	o.name(name)
	o.text = append(o.text, '"')
	o.text = append(strconv.AppendInt(o.text, value, 10), `",`...)
}

func (o *object) boolean(name string, value bool) {
	o.name(name)
	o.text = append(strconv.AppendBool(o.text, value), ',')
}

func (o *object) money(name string, value money) {
	o.name(name)
	o.text = append(value.append(o.text), ',')
}

func (o *object) time(name string, value time.Time) {
	o.name(name)
	o.text = append(o.text, '"')
	o.text = value.UTC().AppendFormat(o.text, time.RFC3339) // in UTC the same as timeLayout, and much faster
	o.text = append(o.text, `",`...)
}

// plain writes a string that is known to need no escape.
func (o *object) plain(name, value string) {
	o.name(name)
	o.text = append(o.text, '"')
	o.text = append(o.text, value...)
	o.text = append(o.text, `",`...)
}

// raw writes what is JSON already.
func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.text = append(o.text, value...)
	o.text = append(o.text, ',')
}

// appendJSON appends what is not worth writing by hand. The emulator's own types always marshal.
func appendJSON[T any](to []byte, value T) []byte {
	text := bytes.NewBuffer(to)
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// appendString appends a JSON string. Text is UTF-8 when it is stored, so that quoting cannot fail.
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
