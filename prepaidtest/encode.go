package prepaidtest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// object writes a JSON object member by member, each with a comma behind it; names come quoted, with their colon.
// Accounts and history items go out by the hundred in a page, where reflection would make the emulator many times
// slower than the tests it serves.
type object struct{ text []byte }

const (
	daySeconds    = 24 * 60 * 60
	secondsOf9999 = 253402300799
)

// appendTime appends timeLayout; time.Time's own formatting takes most of a page's time.
func appendTime(to []byte, t time.Time) []byte {
	seconds := t.Unix()
	if seconds < 0 || seconds > secondsOf9999 {
		return t.UTC().AppendFormat(to, timeLayout)
	}
	year, month, day := dateOf(seconds / daySeconds)
	second := int(seconds % daySeconds)
	return append(appendTwo(appendTwo(appendTwo(appendTwo(appendTwo(appendTwo(appendTwo(
		to, year/100, 0), year%100, 0), month, '-'), day, '-'), second/3600, 'T'), second/60%60, ':'), second%60, ':'), 'Z')
}

// appendTwo appends two digits behind a separator, if there is one.
func appendTwo(to []byte, n int, separator byte) []byte {
	if separator != 0 {
		to = append(to, separator)
	}
	const digits = "0123456789"
	return append(to, digits[n/10], digits[n%10])
}

// dateOf turns days since 1970 into a date of the Gregorian calendar. Years begin in March here, so that the leap day
// is their last, and months of 153 days in five follow.
func dateOf(days int64) (year, month, day int) {
	days += 719468 // from March of the year 0
	era, ofEra := days/146097, int(days%146097)
	ofCycle := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*ofCycle + ofCycle/4 - ofCycle/100)
	march := (5*ofYear + 2) / 153
	year, month, day = ofCycle+int(era)*400, march+3, ofYear-(153*march+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// beginObject goes on after text.
func beginObject(text []byte) object { return object{append(text, '{')} }

// end closes an object of at least one member.
func (o *object) end() []byte {
	o.text[len(o.text)-1] = '}'
	return o.text
}

func (o *object) name(name string) { o.text = append(o.text, name...) }

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
	o.text = appendTime(o.text, value)
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
