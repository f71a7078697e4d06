package prepaidtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// timeLayout is the form of date-times in responses (section 1).
const timeLayout = "2006-01-02T15:04:05Z"

// inputFault names a field and the rule it breaks, never its value.
type inputFault struct{ field, rule string }

// faultList collects every fault of one request.
type faultList struct{ found []inputFault }

func (l *faultList) add(field, rule string) { l.found = append(l.found, inputFault{field, rule}) }

// describe lists the fields with their rules.
func (l *faultList) describe() string { return "invalid fields: " + l.String() }

// String is the list alone.
func (l *faultList) String() string {
	parts := make([]string, len(l.found))
	for i, fault := range l.found {
		parts[i] = fault.field + " " + fault.rule
	}
	return strings.Join(parts, "; ")
}

// binder reads one JSON object member by member, as package flag reads arguments: each line names a member once
// and says where its value goes and which limits it has. What is left over at the end is unknown.
type binder struct {
	path    string
	members map[string]json.RawMessage
	faults  *faultList
	lenient bool
	now     time.Time
	written bool     // by hand: a document, not a request
	asked   []string // members of a document
}

// bound is a member just read, for the checks that follow.
type bound struct {
	binder  *binder
	field   string
	present bool
	usable  bool // present and of the right type
	text    string
	amount  money
}

var errNotObject = errors.New("must be a JSON object")

// parseObject splits an object into its members and refuses what is not JSON or names a member twice.
func parseObject(raw []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("is not valid UTF-8")
	}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true)) // said in our own words
	if decoder.PeekKind() != jsontext.KindBeginObject {
		return nil, errNotObject
	}
	_, _ = decoder.ReadToken()
	members := make(map[string]json.RawMessage)
	for decoder.PeekKind() == jsontext.KindString {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, errNotObject
		}
		key := name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, errNotObject
		}
		if _, twice := members[key]; twice {
			return nil, errors.New("names a member twice")
		}
		end := decoder.InputOffset()
		members[key] = raw[end-int64(len(value)) : end]
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, errNotObject
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has text after the JSON object")
	}
	return members, nil
}

func (b *binder) take(name string) (json.RawMessage, bound) {
	raw, present := b.members[name]
	delete(b.members, name)
	if b.written {
		b.asked = append(b.asked, name)
	}
	if b.lenient && string(raw) == "null" {
		present = false
	}
	return raw, bound{binder: b, field: b.path + name, present: present}
}

// finish faults the members nobody asked for.
func (b *binder) finish() {
	if b.lenient {
		return
	}
	rule := "is not a member of this request"
	if b.written {
		slices.Sort(b.asked)
		rule = "is not known here; known are " + strings.Join(b.asked, ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(b.members)) {
		b.faults.add(b.path+name, rule)
	}
}

func (b *binder) string(name string, into *string) bound {
	raw, v := b.take(name)
	if !v.present {
		return v
	}
	if raw[0] != '"' || json.Unmarshal(raw, into) != nil {
		return v.fault("must be a string")
	}
	v.usable, v.text = true, *into
	return v
}

func (b *binder) boolean(name string, into *bool) bound {
	raw, v := b.take(name)
	if !v.present {
		return v
	}
	if json.Unmarshal(raw, into) != nil || raw[0] == 'n' {
		return v.fault("must be true or false")
	}
	v.usable = true
	return v
}

func (b *binder) integer(name string, into *int64) bound {
	raw, v := b.take(name)
	if !v.present {
		return v
	}
	number, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return v.fault("must be an integer")
	}
	*into, v.usable = number, true
	return v
}

// decimal reads a JSON number; with quoted, a string that holds one as well.
func (b *binder) decimal(name string, into *money, quoted bool) bound {
	raw, v := b.take(name)
	if !v.present {
		return v
	}
	text := string(raw)
	if raw[0] == '"' && (quoted || b.lenient) {
		_ = json.Unmarshal(raw, &text)
	}
	amount, err := parseMoney(text)
	if err != nil {
		return v.fault(err.Error())
	}
	*into, v.amount, v.usable = amount, amount, true
	return v
}

// loadAmount reads initial_load_amount. Its octal and hexadecimal forms are no JSON numbers: they come as strings, as
// which any form is taken, or bare, when quoteLoadAmount has quoted them.
func (b *binder) loadAmount(name string, into *money) bound {
	raw, v := b.take(name)
	if !v.present {
		return v
	}
	text := string(raw)
	if raw[0] == '"' {
		_ = json.Unmarshal(raw, &text)
	}
	amount, err := parseLoadAmount(text)
	if err != nil {
		return v.fault(err.Error())
	}
	*into, v.amount, v.usable = amount, amount, true
	return v
}

func (b *binder) dateTime(name string, into *time.Time) bound {
	var text string
	v := b.string(name, &text)
	if !v.usable {
		return v
	}
	at, err := parseTime(text, b.lenient)
	if err != nil {
		return v.fault(err.Error())
	}
	*into = at
	return v
}

// parseTime reads a date-time in UTC. It may have a fraction of a second, which JavaScript always writes.
func parseTime(text string, lenient bool) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); lenient && err == nil {
		return at.UTC(), nil
	}
	local, utc := strings.CutSuffix(text, "Z")
	if !utc {
		local, utc = strings.CutSuffix(text, "+00:00")
	}
	const layout = "2006-01-02T15:04:05"
	whole, _, _ := strings.Cut(local, ".") // time.Parse takes a comma, too, and an hour of one digit
	at, err := time.Parse(layout, local)
	if err != nil || !utc || len(whole) != len(layout) {
		return time.Time{}, errors.New("must be a date-time in UTC of the form YYYY-MM-DDThh:mm:ssZ")
	}
	return at, nil
}

// object reads a nested object with its own members.
func (b *binder) object(name string, bind func(*binder)) bound {
	raw, v := b.take(name)
	if !v.present {
		return v
	}
	return v.nested(raw, v.field, bind)
}

func (v bound) nested(raw json.RawMessage, path string, bind func(*binder)) bound {
	members, err := parseObject(raw)
	if err != nil {
		v.binder.faults.add(path, err.Error())
		return v
	}
	inner := &binder{
		path: path + ".", members: members, faults: v.binder.faults, lenient: v.binder.lenient, now: v.binder.now, written: v.binder.written,
	}
	bind(inner)
	inner.finish()
	v.usable = true
	return v
}

// list reads an array and hands each element on with its path.
func (b *binder) list(name string, element func(v bound, raw json.RawMessage, path string)) bound {
	raw, v := b.take(name)
	if !v.present {
		return v
	}
	var elements []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &elements) != nil {
		return v.fault("must be an array")
	}
	before := len(b.faults.found)
	for i, raw := range elements {
		element(v, raw, v.field+"["+strconv.Itoa(i)+"]")
	}
	v.usable = len(b.faults.found) == before
	return v
}

// objects reads an array of objects.
func (b *binder) objects(name string, bind func(*binder)) bound {
	return b.list(name, func(v bound, raw json.RawMessage, path string) { v.nested(raw, path, bind) })
}

func (b *binder) integers(name string, into *[]int64) bound {
	return b.list(name, func(v bound, raw json.RawMessage, path string) {
		number, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			v.binder.faults.add(path, "must be an integer")
			return
		}
		*into = append(*into, number)
	})
}

func (b *binder) strings(name string, into *[]string) bound {
	return b.list(name, func(v bound, raw json.RawMessage, path string) {
		var text string
		if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
			v.binder.faults.add(path, "must be a string")
			return
		}
		*into = append(*into, text)
	})
}

func (v bound) fault(rule string) bound {
	v.binder.faults.add(v.field, rule)
	v.usable = false
	return v
}

// limit faults a usable value that breaks a limit; a lenient server knows no limits.
func (v bound) limit(ok bool, rule string) bound {
	if !v.usable || ok || v.binder.lenient {
		return v
	}
	return v.fault(rule)
}

func (v bound) required() bound {
	if !v.present {
		return v.fault("is required")
	}
	return v
}

// seen tells whether the member was there.
func (v bound) seen(into *bool) bound {
	*into = v.present
	return v
}

// max limits a string in code points.
func (v bound) max(n int) bound {
	return v.limit(utf8.RuneCountInString(v.text) <= n, "has more than "+strconv.Itoa(n)+" characters")
}

func (v bound) min(n int) bound {
	return v.limit(utf8.RuneCountInString(v.text) >= n, "has fewer than "+strconv.Itoa(n)+" characters")
}

// oneOf holds on a lenient server too: an unknown word cannot be carried out.
func (v bound) oneOf(words ...string) bound {
	if v.usable && !slices.Contains(words, v.text) {
		return v.fault("must be one of " + strings.Join(words, ", "))
	}
	return v
}

func (v bound) form(ok func(string) bool, rule string) bound {
	return v.limit(!v.usable || ok(v.text), rule)
}

// positive holds on a lenient server too: a negative transfer would take money the wrong way.
func (v bound) positive() bound {
	if v.usable && v.amount <= 0 {
		return v.fault("must be positive")
	}
	return v
}
