// Package reference reads reference/openapi.yaml, the written form of the service's reference, for the emulator and for this
// repository's programs and tests. The client does not import it: it is compared with it.
//
// The document explains its extensions. Generated files have it as JSON, with aliases resolved: the package needs no YAML parser.
package reference

import (
	_ "embed" // the documents
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

//go:embed openapi.json
var written string

//go:embed emulator.json
var emulated string

// Read returns the document as written.
var Read = sync.OnceValue(func() *Document { return parsed(written) })

// Emulator returns the document with the emulator's own requirements, as it is published in api/openapi.json.
var Emulator = sync.OnceValue(func() *Document { return parsed(emulated) })

// Published returns the text that Emulator decodes, indented.
func Published() []byte {
	text := jsontext.Value(emulated)
	_ = text.Indent(jsontext.WithIndent("  ")) // it is JSON: the generator wrote it
	return append(text, '\n')
}

// parsed decodes a document that the generator has decoded before it wrote it.
func parsed(text string) *Document {
	d, _ := Parse([]byte(text))
	return d
}

// Document is the reference.
type Document struct {
	Operations []*Operation     // in the order of the document
	Schemas    Ordered[*Schema] // components, by name
}

// Operation returns the operation with this Go name, or nil.
func (d *Document) Operation(name string) *Operation {
	i := slices.IndexFunc(d.Operations, func(o *Operation) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return d.Operations[i]
}

// Operation is an operation of the service.
type Operation struct {
	Name     string            `json:"x-go"` // such as "Accounts.Get"
	Go       string            `json:"x-go-params"`
	Method   string            `json:"-"`
	Path     string            `json:"-"` // template
	Section  string            `json:"-"` // of the reference
	Tags     []string          `json:"tags"`
	Safety   string            `json:"x-safety"`
	Lane     string            `json:"x-lane"`
	Body     string            `json:"x-body"`
	Note     string            `json:"x-note"`
	Also     map[string]string `json:"x-also"`
	Never    map[string][]any  `json:"x-never"`
	Version1 jsontext.Value    `json:"x-version-1.0"`
	Params   []*Parameter      `json:"parameters"` // those of the path first
	Request  *Payload          `json:"requestBody"`
	Results  Ordered[*Payload] `json:"responses"` // by status
}

// Parameter is a parameter of a path or a query.
type Parameter struct {
	Ref      string  `json:"$ref"`
	Name     string  `json:"name"`
	In       string  `json:"in"` // path or query
	Go       string  `json:"x-go"`
	Redact   string  `json:"x-redact"`
	Required bool    `json:"required"`
	Schema   *Schema `json:"schema"`
}

// Payload is a request body or a response.
type Payload struct {
	Ref     string                    `json:"$ref"`
	Codes   []string                  `json:"x-codes"`
	Headers map[string]jsontext.Value `json:"headers"`
	Content Ordered[struct {
		Schema *Schema `json:"schema"`
	}] `json:"content"`
}

// MediaJSON is the media type of JSON bodies in the document.
const MediaJSON = "application/vnd.vendor+json"

// JSON returns the schema of a JSON body, or nil.
func (p *Payload) JSON() *Schema {
	if p == nil {
		return nil
	}
	content, _ := p.Content.Get(MediaJSON)
	return content.Schema
}

// Query returns the parameters of the query.
func (o *Operation) Query() []*Parameter {
	return slices.DeleteFunc(slices.Clone(o.Params), func(p *Parameter) bool { return p.In != "query" })
}

// Success returns the statuses of a success, including those that the client reads in the same way.
func (o *Operation) Success() []string {
	var all []string
	for _, result := range o.Results {
		if strings.HasPrefix(result.Name, "2") {
			all = append(all, result.Name)
		}
	}
	switch { // without a body to read, both are equal
	case o.Body == "none" && slices.Equal(all, []string{"200"}):
		return []string{"200", "204"}
	case o.Body == "none" && slices.Equal(all, []string{"204"}):
		return []string{"204", "200"}
	}
	return all
}

// Response returns the schema of a success, or nil without a JSON body.
func (o *Operation) Response() *Schema {
	for _, status := range o.Success() {
		if result, ok := o.Results.Get(status); ok && result.JSON() != nil {
			return result.JSON()
		}
	}
	return nil
}

// Codes returns the known error codes of a status.
func (o *Operation) Codes(status string) []string {
	if result, ok := o.Results.Get(status); ok {
		return result.Codes
	}
	return nil
}

// Schema is a JSON Schema. A reference to another schema is resolved: the members next to it take precedence.
type Schema struct {
	Ref              string            `json:"$ref"`
	Name             string            `json:"-"`    // of the component
	Type             Types             `json:"type"` // of OneOf too
	OneOf            []*Schema         `json:"oneOf"`
	Description      string            `json:"description"`
	Format           string            `json:"format"`
	Encoding         string            `json:"contentEncoding"`
	Pattern          string            `json:"pattern"`
	Enum             []any             `json:"enum"`
	Default          any               `json:"default"`
	Deprecated       bool              `json:"deprecated"`
	Minimum          *float64          `json:"minimum"`
	Maximum          *float64          `json:"maximum"`
	ExclusiveMinimum *float64          `json:"exclusiveMinimum"`
	MinLength        int               `json:"minLength"`
	MaxLength        int               `json:"maxLength"`
	MinItems         int               `json:"minItems"`
	Items            *Schema           `json:"items"`
	Required         *[]string         `json:"required"` // nil if the reference marks no member
	Properties       Ordered[*Schema]  `json:"properties"`
	Open             bool              `json:"additionalProperties"`
	Section          string            `json:"x-section"`
	Unspecified      string            `json:"x-unspecified"`
	Go               string            `json:"x-go"`
	GoEnum           string            `json:"x-go-enum"`
	GoValues         map[string]string `json:"x-go-values"`
	Redact           string            `json:"x-redact"`
	Include          string            `json:"x-include"`
	Single           bool              `json:"x-single"`
	Future           bool              `json:"x-future"`
	If               string            `json:"x-if"`
	Version1         jsontext.Value    `json:"x-version-1.0"`
	Emulator         string            `json:"x-emulator"`
}

// Requires reports whether the schema marks a member as required.
func (s *Schema) Requires(member string) bool {
	return s.Required != nil && slices.Contains(*s.Required, member)
}

// Sends reports whether a response always has a member: if the schema marks none, all that cannot be null.
func (s *Schema) Sends(member Member[*Schema]) bool {
	return s.Requires(member.Name) || s.Required == nil && !slices.Contains(member.Value.Type, "null")
}

// Types are the types that a value may have.
type Types []string

// UnmarshalJSONFrom implements json.UnmarshalerFrom. A single type is a string.
func (t *Types) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if from.PeekKind() == '"' {
		*t = make(Types, 1)
		return json.UnmarshalDecode(from, &(*t)[0])
	}
	return json.UnmarshalDecode(from, (*[]string)(t))
}

// Ordered is an object whose members keep their order.
type Ordered[V any] []Member[V]

// Member is a member of an object.
type Member[V any] struct {
	Name  string
	Value V
}

// Get returns the member with a name.
func (o Ordered[V]) Get(name string) (value V, ok bool) {
	for _, member := range o {
		if member.Name == name {
			return member.Value, true
		}
	}
	return value, false
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *Ordered[V]) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	if _, err := from.ReadToken(); err != nil {
		return err
	}
	for from.PeekKind() == '"' {
		var member Member[V]
		if err := json.UnmarshalDecode(from, &member.Name); err != nil {
			return err
		}
		if err := json.UnmarshalDecode(from, &member.Value); err != nil {
			return err
		}
		*o = append(*o, member)
	}
	_, err := from.ReadToken()
	return err
}

// Parse decodes a document in JSON.
func Parse(text []byte) (*Document, error) {
	var read struct {
		Tags []struct {
			Name    string `json:"name"`
			Section string `json:"x-section"`
		} `json:"tags"`
		Paths      Ordered[Ordered[jsontext.Value]] `json:"paths"`
		Components struct {
			Parameters Ordered[*Parameter] `json:"parameters"`
			Responses  Ordered[*Payload]   `json:"responses"`
			Schemas    Ordered[*Schema]    `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, err
	}
	r := resolver{
		parameters: read.Components.Parameters, responses: read.Components.Responses, schemas: read.Components.Schemas, done: map[*Schema]bool{},
	}
	d := &Document{Schemas: read.Components.Schemas}
	for _, s := range d.Schemas {
		s.Value.Name = s.Name
	}
	for _, s := range d.Schemas {
		r.schema(s.Value)
	}
	sections := map[string]string{}
	for _, tag := range read.Tags {
		sections[tag.Name] = tag.Section
	}
	for _, item := range read.Paths {
		var shared []*Parameter
		for _, entry := range item.Value {
			if entry.Name == "parameters" {
				if err := json.Unmarshal(entry.Value, &shared); err != nil {
					return nil, fmt.Errorf("%s: %w", item.Name, err)
				}
				continue
			}
			o := &Operation{Method: strings.ToUpper(entry.Name), Path: item.Name}
			if err := json.Unmarshal(entry.Value, o); err != nil {
				return nil, fmt.Errorf("%s %s: %w", o.Method, o.Path, err)
			}
			if len(o.Tags) != 1 || o.Name == "" {
				return nil, fmt.Errorf("%s %s needs one tag and x-go", o.Method, o.Path)
			}
			o.Section, o.Params = sections[o.Tags[0]], slices.Concat(shared, o.Params)
			r.operation(o)
			d.Operations = append(d.Operations, o)
		}
	}
	if len(r.unknown) > 0 {
		return nil, fmt.Errorf("nothing has the name %s", strings.Join(r.unknown, ", "))
	}
	return d, nil
}

// resolver replaces references by their targets.
type resolver struct {
	parameters Ordered[*Parameter]
	responses  Ordered[*Payload]
	schemas    Ordered[*Schema]
	done       map[*Schema]bool
	unknown    []string // references without a target
}

func (r *resolver) operation(o *Operation) {
	if o.Lane == "" {
		o.Lane = "call"
	}
	for i, p := range o.Params {
		if target := find(r, r.parameters, p.Ref); target != nil {
			p = target
			o.Params[i] = p
		}
		r.schema(p.Schema)
	}
	r.payload(o.Request)
	for _, result := range o.Results {
		r.payload(result.Value)
	}
}

func (r *resolver) payload(p *Payload) {
	if p == nil {
		return
	}
	if target := find(r, r.responses, p.Ref); target != nil {
		fillIn(p, target)
	}
	for _, content := range p.Content {
		r.schema(content.Value.Schema)
	}
}

func (r *resolver) schema(s *Schema) {
	if s == nil || r.done[s] {
		return
	}
	r.done[s] = true
	for _, one := range s.OneOf {
		s.Type = append(s.Type, one.Type...)
	}
	if target := find(r, r.schemas, s.Ref); target != nil {
		r.schema(target)
		fillIn(s, target)
		return
	}
	r.schema(s.Items)
	for _, member := range s.Properties {
		r.schema(member.Value)
	}
}

// find returns the target of a reference, or nil.
func find[V any](r *resolver, all Ordered[*V], ref string) *V {
	if ref == "" {
		return nil
	}
	target, ok := all.Get(path.Base(ref))
	if !ok {
		r.unknown = append(r.unknown, ref)
	}
	return target
}

// fillIn copies the members of target that are zero in s.
func fillIn[T any](s, target *T) {
	into, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(target).Elem()
	for i := range into.NumField() {
		if into.Field(i).IsZero() {
			into.Field(i).Set(from.Field(i))
		}
	}
}

// Names returns the names of the parameters of the query.
func (o *Operation) Names() []string {
	var names []string
	for _, p := range o.Query() {
		names = append(names, p.Name)
	}
	return names
}
