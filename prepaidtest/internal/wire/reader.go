package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Reader reads one JSON object member by member, as package flag reads arguments: each line names a member once
// and says where its value goes and which limits it has. What is left over at the end is unknown.
type Reader struct {
	Path     string
	Members  map[string]json.RawMessage
	Faults   *Faults
	Lenient  bool
	Now      time.Time
	Document bool     // written by a person: a document, not a request
	asked    []string // members of a document
}

// Value is a member just read, for the checks that follow.
type Value struct {
	binder  *Reader
	field   string
	Present bool
	Usable  bool // present and of the right type
	text    string
	amount  Money
}

func (b *Reader) take(name string) (json.RawMessage, Value) {
	raw, present := b.Members[name]
	delete(b.Members, name)
	if b.Document {
		b.asked = append(b.asked, name)
	}
	if b.Lenient && string(raw) == "null" {
		present = false
	}
	return raw, Value{binder: b, field: b.Path + name, Present: present}
}

// Finish faults the members nobody asked for.
func (b *Reader) Finish() {
	if b.Lenient {
		return
	}
	rule := "is not a member of this request"
	if b.Document {
		slices.Sort(b.asked)
		rule = "is not known here; known are " + strings.Join(b.asked, ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(b.Members)) {
		b.Faults.Add(b.Path+name, rule)
	}
}

// String reads a string.
func (b *Reader) String(name string, into *string) Value {
	raw, v := b.take(name)
	if !v.Present {
		return v
	}
	if raw[0] != '"' || json.Unmarshal(raw, into) != nil {
		return v.Fault("must be a string")
	}
	v.Usable, v.text = true, *into
	return v
}

// Boolean reads true or false.
func (b *Reader) Boolean(name string, into *bool) Value {
	raw, v := b.take(name)
	if !v.Present {
		return v
	}
	if json.Unmarshal(raw, into) != nil || raw[0] == 'n' {
		return v.Fault("must be true or false")
	}
	v.Usable = true
	return v
}

// Integer reads a JSON number without fraction and exponent.
func (b *Reader) Integer(name string, into *int64) Value {
	raw, v := b.take(name)
	if !v.Present {
		return v
	}
	number, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return v.Fault("must be an integer")
	}
	*into, v.Usable = number, true
	return v
}

// Decimal reads a JSON number; with quoted, a string that holds one as well.
func (b *Reader) Decimal(name string, into *Money, quoted bool) Value {
	raw, v := b.take(name)
	if !v.Present {
		return v
	}
	text := string(raw)
	if raw[0] == '"' && (quoted || b.Lenient) {
		_ = json.Unmarshal(raw, &text)
	}
	amount, err := ParseMoney(text)
	if err != nil {
		return v.Fault(err.Error())
	}
	*into, v.amount, v.Usable = amount, amount, true
	return v
}

// LoadAmount reads initial_load_amount. Its octal and hexadecimal forms are no JSON numbers: they come as strings, as
// which any form is taken, or bare, when quoteLoadAmount has quoted them.
func (b *Reader) LoadAmount(name string, into *Money) Value {
	raw, v := b.take(name)
	if !v.Present {
		return v
	}
	text := string(raw)
	if raw[0] == '"' {
		_ = json.Unmarshal(raw, &text)
	}
	amount, err := parseLoadAmount(text)
	if err != nil {
		return v.Fault(err.Error())
	}
	*into, v.amount, v.Usable = amount, amount, true
	return v
}

// DateTime reads a date-time in a string.
func (b *Reader) DateTime(name string, into *time.Time) Value {
	var text string
	v := b.String(name, &text)
	if !v.Usable {
		return v
	}
	at, err := parseTime(text, b.Lenient)
	if err != nil {
		return v.Fault(err.Error())
	}
	*into = at
	return v
}

// Object reads a nested object with its own members.
func (b *Reader) Object(name string, bind func(*Reader)) Value {
	raw, v := b.take(name)
	if !v.Present {
		return v
	}
	return v.nested(raw, v.field, bind)
}

func (v Value) nested(raw json.RawMessage, path string, bind func(*Reader)) Value {
	members, err := ParseObject(raw)
	if err != nil {
		v.binder.Faults.Add(path, err.Error())
		return v
	}
	inner := &Reader{
		Path: path + ".", Members: members, Faults: v.binder.Faults, Lenient: v.binder.Lenient, Now: v.binder.Now, Document: v.binder.Document,
	}
	bind(inner)
	inner.Finish()
	v.Usable = true
	return v
}

// list reads an array and hands each element on with its path.
func (b *Reader) list(name string, element func(v Value, raw json.RawMessage, path string)) Value {
	raw, v := b.take(name)
	if !v.Present {
		return v
	}
	var elements []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &elements) != nil {
		return v.Fault("must be an array")
	}
	before := len(b.Faults.Found)
	for i, raw := range elements {
		element(v, raw, v.field+"["+strconv.Itoa(i)+"]")
	}
	v.Usable = len(b.Faults.Found) == before
	return v
}

// Objects reads an array of objects.
func (b *Reader) Objects(name string, bind func(*Reader)) Value {
	return b.list(name, func(v Value, raw json.RawMessage, path string) { v.nested(raw, path, bind) })
}

// Integers reads an array of integers.
func (b *Reader) Integers(name string, into *[]int64) Value {
	return b.list(name, func(v Value, raw json.RawMessage, path string) {
		number, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			v.binder.Faults.Add(path, "must be an integer")
			return
		}
		*into = append(*into, number)
	})
}

// Strings reads an array of strings.
func (b *Reader) Strings(name string, into *[]string) Value {
	return b.list(name, func(v Value, raw json.RawMessage, path string) {
		var text string
		if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
			v.binder.Faults.Add(path, "must be a string")
			return
		}
		*into = append(*into, text)
	})
}

// Fault says which rule the value breaks.
func (v Value) Fault(rule string) Value {
	v.binder.Faults.Add(v.field, rule)
	v.Usable = false
	return v
}

// Limit faults a usable value that breaks a limit; a lenient server knows no limits.
func (v Value) Limit(ok bool, rule string) Value {
	if !v.Usable || ok || v.binder.Lenient {
		return v
	}
	return v.Fault(rule)
}

// Required faults an absent member.
func (v Value) Required() Value {
	if !v.Present {
		return v.Fault("is required")
	}
	return v
}

// Seen reports whether the member was present.
func (v Value) Seen(into *bool) Value {
	*into = v.Present
	return v
}

// Max limits a string in code points.
func (v Value) Max(n int) Value {
	return v.Limit(utf8.RuneCountInString(v.text) <= n, "has more than "+strconv.Itoa(n)+" characters")
}

// Min is a least number of code points.
func (v Value) Min(n int) Value {
	return v.Limit(utf8.RuneCountInString(v.text) >= n, "has fewer than "+strconv.Itoa(n)+" characters")
}

// OneOf holds on a lenient server too: an unknown word cannot be carried out.
func (v Value) OneOf(words ...string) Value {
	if v.Usable && !slices.Contains(words, v.text) {
		return v.Fault("must be one of " + strings.Join(words, ", "))
	}
	return v
}

// Form faults a text that is not of a form.
func (v Value) Form(ok func(string) bool, rule string) Value {
	return v.Limit(!v.Usable || ok(v.text), rule)
}

// Positive holds on a lenient server too: a negative transfer would take money the wrong way.
func (v Value) Positive() Value {
	if v.Usable && v.amount <= 0 {
		return v.Fault("must be positive")
	}
	return v
}
