package wire

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Schema is a JSON Schema, in the words of OpenAPI 3.1.
type Schema struct {
	Ref              string           `json:"$ref,omitzero"`
	Type             Types            `json:"type,omitzero"`
	OneOf            []*Schema        `json:"oneOf,omitzero"`
	Description      string           `json:"description,omitzero"`
	Reference        string           `json:"x-reference,omitzero"` // section of the reference
	Emulator         string           `json:"x-emulator,omitzero"`  // open point of the reference, and the emulator's choice
	Deprecated       bool             `json:"deprecated,omitzero"`
	Format           string           `json:"format,omitzero"`
	Pattern          string           `json:"pattern,omitzero"`
	Enum             []string         `json:"enum,omitzero"`
	GoType           string           `json:"x-go-type,omitzero"` // for oapi-codegen
	Values           Ordered[string]  `json:"x-values,omitzero"`  // known values with their meaning; others may exist
	Minimum          *int64           `json:"minimum,omitzero"`
	Maximum          *int64           `json:"maximum,omitzero"`
	ExclusiveMinimum *int64           `json:"exclusiveMinimum,omitzero"`
	MinLength        int              `json:"minLength,omitzero"`
	MaxLength        int              `json:"maxLength,omitzero"`
	MinItems         int              `json:"minItems,omitzero"`
	Items            *Schema          `json:"items,omitzero"`
	Required         []string         `json:"required,omitzero"`
	Properties       Ordered[*Schema] `json:"properties,omitzero"`
}

// Types are the types that a value may have. In JSON, a single type is a string, not an array.
type Types []string

// MarshalJSON implements json.Marshaler.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Ordered is a JSON object whose members keep their order.
type Ordered[V any] []Member[V]

// Member is a member of an object.
type Member[V any] struct {
	Name  string
	Value V
}

// Put adds a member.
func (o *Ordered[V]) Put(name string, value V) { *o = append(*o, Member[V]{name, value}) }

// Get returns a member; the zero value if absent.
func (o Ordered[V]) Get(name string) (value V) {
	for _, member := range o {
		if member.Name == name {
			return member.Value
		}
	}
	return value
}

// MarshalJSON implements json.Marshaler.
func (o Ordered[V]) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	text.WriteByte('{')
	for i, member := range o {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := encoder.Encode(member.Name); err != nil {
			return nil, err
		}
		text.WriteByte(':')
		if err := encoder.Encode(member.Value); err != nil {
			return nil, err
		}
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// DescribeObject returns the members that bind reads, without reading anything. If these depend on values, it returns
// the members that bind would read from an empty object.
func DescribeObject(bind func(*Reader)) *Schema {
	schema := &Schema{Type: Types{"object"}}
	bind(&Reader{schema: schema})
	return schema
}

// DescribeQuery returns an object whose properties are the parameters that bind reads. It reads nothing.
func DescribeQuery(bind func(*Query)) *Schema {
	schema := &Schema{Type: Types{"object"}}
	bind(&Query{schema: schema})
	return schema
}

func (s *Schema) property(name string, types []string) *Schema {
	made := &Schema{Type: types}
	s.Properties.Put(name, made)
	return made
}

// On a nil Schema the methods below do nothing: nil means that the value is read, not described.

// note adds a sentence to the description.
func (s *Schema) note(sentence string) {
	if s != nil {
		s.Description = strings.TrimSpace(s.Description + " " + sentence)
	}
}

// chosen adds a sentence to the emulator's choices.
func (s *Schema) chosen(sentence string) {
	if s != nil {
		s.Emulator = strings.TrimSpace(s.Emulator + " " + sentence)
	}
}

func (s *Schema) formatted(format string) {
	if s != nil {
		s.Format = format
	}
}

func (s *Schema) dateTime() {
	s.formatted("date-time")
	s.note("In UTC.")
}

func (s *Schema) least(n int64) {
	if s != nil {
		s.Minimum = &n
	}
}

func (s *Schema) formed(form Form) {
	if s == nil {
		return
	}
	s.Pattern, s.Format = form.Pattern, form.Format
	if form.Pattern == "" {
		s.note("It " + form.Rule + ".")
	}
}
