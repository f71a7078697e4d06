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

// Reader reads one JSON object member by member, as package flag reads arguments: each call names a member,
// the variable for its value, and its limits. Members left over at the end are unknown.
type Reader struct {
	Path     string
	Members  map[string]json.RawMessage
	Faults   *Faults
	Lenient  bool
	Now      time.Time
	Document bool     // the text is a user's document, not a request
	asked    []string // members that were read from a document
	role     string   // of the object, see Field
}

// Value is a member just read, for the checks that follow.
type Value struct {
	binder  *Reader
	field   string
	Present bool
	Usable  bool // present and of the right type
	text    string
	at      time.Time
	amount  Money
	count   int // elements of an array
	number  int64
	numbers []int64 // of an array
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

// Finish adds a fault for each member that was not read.
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

// Integer reads a JSON number that is an integer, however it is written.
func (b *Reader) Integer(name string, into *int64) Value {
	raw, v := b.take(name)
	if !v.Present {
		return v
	}
	number, ok := ParseInteger(string(raw))
	if !ok {
		return v.Fault("must be an integer")
	}
	*into, v.number, v.Usable = number, number, true
	return v
}

// Decimal reads a JSON number and, if quoted is true, also a number in a string.
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

// LoadAmount reads initial_load_amount. Octal and hexadecimal forms are not JSON numbers: they arrive as strings, or
// QuoteLoadAmount has quoted them. A string may have any form.
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
	at, err := ParseTime(text, b.Lenient)
	if err != nil {
		return v.Fault(err.Error())
	}
	*into, v.at = at, at
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

// list reads an array and calls the function element for each element, with the element's path.
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
	v.Usable, v.count = len(b.Faults.Found) == before, len(elements)
	return v
}

// Objects reads an array of objects.
func (b *Reader) Objects(name string, bind func(*Reader)) Value {
	v := b.list(name, func(v Value, raw json.RawMessage, path string) { v.nested(raw, path, bind) })
	return v
}

// Integers reads an array of integers.
func (b *Reader) Integers(name string, into *[]int64) Value {
	v := b.list(name, func(v Value, raw json.RawMessage, path string) {
		number, ok := ParseInteger(string(raw))
		if !ok {
			v.binder.Faults.Add(path, "must be an integer")
			return
		}
		*into = append(*into, number)
	})
	v.numbers = *into
	return v
}

// Strings reads an array of strings.
func (b *Reader) Strings(name string, into *[]string) Value {
	v := b.list(name, func(v Value, raw json.RawMessage, path string) {
		var text string
		if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
			v.binder.Faults.Add(path, "must be a string")
			return
		}
		*into = append(*into, text)
	})
	return v
}

// Fault records the rule that the value breaks.
func (v Value) Fault(rule string) Value {
	v.binder.Faults.Add(v.field, rule)
	v.Usable = false
	return v
}

// Limit adds a fault for a usable value that breaks a limit; a lenient server has no limits.
func (v Value) Limit(ok bool, rule string) Value {
	return v.limit(ok, rule)
}

func (v Value) limit(ok bool, rule string) Value {
	if !v.Usable || ok || v.binder.Lenient {
		return v
	}
	return v.Fault(rule)
}

// Required adds a fault for an absent member.
func (v Value) Required() Value {
	if !v.Present {
		return v.Fault("is required")
	}
	return v
}

// RequiredWhen adds a fault for an absent member if holds is true. The parameter when describes this condition.
func (v Value) RequiredWhen(holds bool, when string) Value {
	if holds {
		return v.Required()
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
	return v.limit(utf8.RuneCountInString(v.text) <= n, "has more than "+strconv.Itoa(n)+" characters")
}

// Min requires at least n code points.
func (v Value) Min(n int) Value {
	return v.limit(utf8.RuneCountInString(v.text) >= n, "has fewer than "+strconv.Itoa(n)+" characters")
}

// Filled adds a fault for an empty text of a request. In a document, an empty text is allowed, since the service may return one.
func (v Value) Filled() Value {
	return v.limit(v.text != "" || v.binder.Document, "must not be empty")
}

// OneOf adds a fault for any other word, on a lenient server too, since no server can handle other words.
func (v Value) OneOf(words ...string) Value {
	if v.Usable && !slices.Contains(words, v.text) {
		return v.Fault("must be one of " + strings.Join(words, ", "))
	}
	return v
}

// Form adds a fault for a text that does not have the form.
func (v Value) Form(form Form) Value {
	return v.limit(!v.Usable || form.Holds(v.text), form.Rule)
}

// NotEmpty adds a fault for an array without elements.
func (v Value) NotEmpty(rule string) Value {
	return v.limit(v.count > 0, rule)
}

// Between adds a fault for an integer, or an element of an array, that is out of range.
func (v Value) Between(least, most int64, rule string) Value {
	outside := func(n int64) bool { return n < least || n > most }
	return v.limit(!slices.ContainsFunc(v.numbers, outside) && (v.numbers != nil || !outside(v.number)), rule)
}

// NotNegative adds a fault for an amount below zero.
func (v Value) NotNegative() Value {
	return v.limit(v.amount.Sign() >= 0, "must not be negative")
}

// Positive adds a fault for zero or less, on a lenient server too: a transfer below zero would take money.
func (v Value) Positive() Value {
	if v.Usable && v.amount.Sign() <= 0 {
		return v.Fault("must be positive")
	}
	return v
}
