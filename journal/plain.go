package journal

import (
	"encoding/base64"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
)

// member is a field of Entry in JSON.
type member struct {
	start string // what precedes the value
	omit  bool   // if zero
}

// members has the fields in their order, which is that of the JSON.
var members = sync.OnceValue(func() (all []member) {
	start := `{"`
	for field := range reflect.TypeFor[Entry]().Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		all = append(all, member{start + name + `":`, options != ""})
		start = `,"`
	}
	return all
})

// decodePlain decodes the JSON of an Entry, into a zero one, in the form that encode nearly always writes: no escapes, and times
// in UTC. It accepts nothing that encode would write in another way. If it returns false, the text may still be valid.
func decodePlain(text string, into *Entry) bool {
	fields := reflect.ValueOf(into).Elem()
	for i, m := range members() {
		rest, found := strings.CutPrefix(text, m.start)
		if !found && m.omit {
			continue
		}
		value, quoted := strings.CutPrefix(rest, `"`)
		end := 0
		if quoted {
			end = strings.IndexByte(value, '"')
		} else {
			end = strings.IndexAny(value, ",}")
		}
		if !found || end < 0 {
			return false
		}
		if value, text = value[:end], value[end:]; quoted {
			text = text[1:]
		}
		if field := fields.Field(i); !setPlain(field, value, quoted) || m.omit && field.IsZero() {
			return false
		}
	}
	return text == "}"
}

// setPlain sets a field from its value in JSON, without quotation marks. It returns false if encode might write another value.
func setPlain(field reflect.Value, text string, quoted bool) bool {
	switch field.Kind() { //nolint:exhaustive // any other is below
	case reflect.String:
		for i := range len(text) {
			if c := text[i]; c < ' ' || c > '~' || c == '\\' || c == '<' || c == '>' || c == '&' {
				return false
			}
		}
		field.SetString(text)
		return quoted
	case reflect.Int, reflect.Int64:
		n, err := strconv.Atoi(text)
		field.SetInt(int64(n))
		return !quoted && err == nil && strconv.Itoa(n) == text
	case reflect.Bool:
		field.SetBool(text == "true")
		return !quoted && (text == "true" || text == "false")
	}
	again := make([]byte, 0, 40)
	switch to := field.Addr().Interface().(type) {
	case *time.Time:
		if !quoted || !strings.HasSuffix(text, "Z") || to.UnmarshalText([]byte(text)) != nil {
			return false
		}
		again, _ = to.AppendText(again) // what was just read
	case *prepaid.Amount:
		if quoted || to.UnmarshalText([]byte(text)) != nil {
			return false
		}
		again, _ = to.AppendText(again)
	case *[]byte:
		var err error
		*to, err = base64.StdEncoding.Strict().DecodeString(text)
		return quoted && err == nil && len(text) == base64.StdEncoding.EncodedLen(len(*to)) // no line breaks
	default:
		return false
	}
	return string(again) == text
}
