package wire

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// Field is a member of a stored object. Only its tags describe it:
//
//	json      its name in requests, responses, seed documents and the saved state; omitzero if it can be absent
//	computed  like json, for a member that is not stored; its field is blank
//	rule      its limits, separated by commas: see Value.rule
//	sent      further limits when it is read
//	seed      further limits in a seed document; "-" for a member that a seed document does not have
//	as        the role of an object; the tag of this name on each of its members has further limits
//	only      a role: only an object in this role has the member
//	after     the member in front of a computed one
//	in        a part of the object that some responses show alone
//	with      the query parameter that includes it in a response; ",single" if only for a single account
//	ref       the name of its schema
//	about     its description
//	emulator  the emulator's choice where the reference leaves a choice open
type Field struct {
	Name     string
	Part     string
	With     string
	Required bool // it is in each response
	Optional bool // it is omitted if it is zero
	Computed bool // it is not stored
	After    string

	tag    reflect.StructTag
	kind   reflect.Type
	index  int
	quoted string
}

// FieldsOf returns the members that a struct describes, in the order of its fields.
func FieldsOf(kind reflect.Type) []Field {
	var members []Field
	for i := range kind.NumField() {
		field := kind.Field(i)
		name, options, _ := strings.Cut(cmp.Or(field.Tag.Get("json"), field.Tag.Get("computed")), ",")
		if name == "" || name == "-" {
			continue
		}
		with, _, _ := strings.Cut(field.Tag.Get("with"), ",")
		members = append(members, Field{
			Name: name, Part: field.Tag.Get("in"), With: with, Required: with == "" && options == "", Optional: options != "", Computed: field.Name == "_", After: field.Tag.Get("after"),
			tag: field.Tag, kind: field.Type, index: i, quoted: `"` + name + `":`,
		})
	}
	return members
}

// Struct reads the members of a struct, in the order of its fields.
func (b *Reader) Struct(into any) {
	object := reflect.ValueOf(into).Elem()
	for _, f := range FieldsOf(object.Type()) {
		if only := f.tag.Get("only"); !f.Computed && (only == "" || only == b.role) {
			b.member(object, f)
		}
	}
}

// Member reads one member of a struct.
func (b *Reader) Member(into any, name string) Value {
	object := reflect.ValueOf(into).Elem()
	members := FieldsOf(object.Type())
	return b.member(object, members[slices.IndexFunc(members, func(f Field) bool { return f.Name == name })])
}

// Some reads some members of a struct, and returns the names of the present members.
func (b *Reader) Some(into any, names ...string) (sent []string) {
	for _, name := range names {
		if b.Member(into, name).Present {
			sent = append(sent, name)
		}
	}
	return sent
}

// Rest reads those members of a struct that a seed document can have and that are still unread.
func (b *Reader) Rest(into any) {
	object := reflect.ValueOf(into).Elem()
	for _, f := range FieldsOf(object.Type()) {
		if f.tag.Get("seed") != "-" && !f.Computed && !slices.Contains(b.asked, f.Name) {
			b.member(object, f)
		}
	}
}

func (b *Reader) member(object reflect.Value, f Field) Value {
	v := b.read(object.Field(f.index), f)
	limits := []string{f.tag.Get("rule"), f.tag.Get("sent"), f.tag.Get(b.role)}
	if b.Document {
		limits = append(limits, f.tag.Get("seed"))
	}
	for rule := range strings.SplitSeq(strings.Join(limits, ","), ",") {
		v = v.rule(rule)
	}
	return v
}

func (b *Reader) read(field reflect.Value, f Field) Value {
	switch into := plain(field).(type) {
	case *string:
		if f.isTime() {
			return b.dateText(f.Name, into)
		}
		return b.String(f.Name, into)
	case *bool:
		return b.Boolean(f.Name, into)
	case *state.Inverted:
		on := !bool(*into)
		v := b.Boolean(f.Name, &on)
		*into = state.Inverted(!on)
		return v
	case *int64:
		return b.Integer(f.Name, into)
	case *Money:
		return b.Decimal(f.Name, into, true)
	case *time.Time:
		return b.DateTime(f.Name, into)
	case *[]string:
		return b.Strings(f.Name, into)
	}
	made := field.Addr()
	if f.kind.Kind() == reflect.Pointer {
		made = reflect.New(f.kind.Elem())
	}
	v := b.Object(f.Name, func(inner *Reader) {
		inner.role = f.tag.Get("as")
		inner.Struct(made.Interface())
	})
	if v.Usable && f.kind.Kind() == reflect.Pointer {
		field.Set(made)
	}
	return v
}

// plain returns a pointer to a field. The types of IDs are strings and integers here.
func plain(field reflect.Value) any {
	pointer := field.Addr()
	switch field.Kind() {
	case reflect.String:
		pointer = pointer.Convert(reflect.TypeFor[*string]())
	case reflect.Int64:
		pointer = pointer.Convert(reflect.TypeFor[*int64]())
	}
	return pointer.Interface()
}

// dateText reads a date-time and keeps its text.
func (b *Reader) dateText(name string, into *string) Value {
	var at time.Time
	v := b.DateTime(name, &at)
	if v.Usable {
		*into = DateTime(at).String()
	}
	return v
}

const dateTimeRule = "date-time"

// isTime reports whether the member is a date-time.
func (f Field) isTime() bool {
	return f.kind == reflect.TypeFor[time.Time]() || f.tag.Get("rule") == dateTimeRule || strings.HasPrefix(f.tag.Get("rule"), dateTimeRule+",")
}

// rule applies a limit of a tag. An unknown limit refuses every value, so that tests find a misspelled limit.
func (v Value) rule(text string) Value {
	name, argument, _ := strings.Cut(text, "=")
	n, _ := strconv.Atoi(argument)
	switch name {
	case "", dateTimeRule:
		return v
	case "required":
		return v.Required()
	case "filled":
		return v.Filled()
	case "min":
		return v.Min(n)
	case "max":
		return v.Max(n)
	case "in":
		return v.OneOf(strings.Split(argument, "|")...)
	case "account-status":
		return v.OneOf(state.AccountStatuses()...)
	case "holder-type":
		return v.Between(1, 2, "must be 1 or 2")
	case "later":
		return v.Limit(v.at.After(v.binder.Now), "must be later than the current time")
	}
	if form, known := forms()[name]; known {
		return v.Form(form)
	}
	return v.Fault("has the unknown rule " + name)
}

func forms() map[string]Form {
	return map[string]Form{
		"four-digits": FourDigits(), "email": Email(), "country2": Country2(), "country3": Country3(), "alphanumeric": Alphanumeric(),
		"ascii": PrintableASCII(), "name-on-card": NameOnCard(), "sequence-number": SequenceNumber(), "month-year": MonthYear(), "token-reference": TokenReference(),
	}
}

// Member writes a member that is stored.
func (o *Writer) Member(f Field, object reflect.Value) {
	field := object.Field(f.index)
	if f.Optional && field.IsZero() {
		return
	}
	switch value := plain(field).(type) {
	case *string:
		o.String(f.quoted, *value)
	case *bool:
		o.Boolean(f.quoted, *value)
	case *state.Inverted:
		o.Boolean(f.quoted, !bool(*value))
	case *int64:
		o.Integer(f.quoted, *value)
	case *Money:
		o.Money(f.quoted, *value)
	case *time.Time:
		o.Time(f.quoted, *value)
	default:
		o.Raw(f.quoted, AppendJSON(nil, value))
	}
}

// Take copies the members of *from that are not zero.
func Take[T any](into, from *T) {
	assign(into, from, func(_ Field, _, given reflect.Value) bool { return !given.IsZero() })
}

// FillIn replaces an empty text by the text in usual if every response has the member.
func FillIn[T any](into, usual *T) {
	assign(into, usual, func(f Field, old, _ reflect.Value) bool {
		return f.Required && old.Kind() == reflect.String && old.IsZero()
	})
}

// Assign copies the members with these names.
func Assign[T any](into, from *T, names []string) {
	assign(into, from, func(f Field, _, _ reflect.Value) bool { return slices.Contains(names, f.Name) })
}

func assign[T any](into, from *T, wanted func(f Field, old, given reflect.Value) bool) {
	object, values := reflect.ValueOf(into).Elem(), reflect.ValueOf(from).Elem()
	for _, f := range FieldsOf(object.Type()) {
		old, given := object.Field(f.index), values.Field(f.index)
		if !f.Computed && wanted(f, old, given) {
			old.Set(given)
		}
	}
}
