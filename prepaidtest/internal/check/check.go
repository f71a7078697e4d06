// Package check compares JSON values and query parameters with the schemas of the reference.
//
// A Checker collects every fault by field and rule, never with the value. It also returns the value in one canonical form, so that
// handlers can decode it into plain structs: members in the order of the schema, integers and amounts without exponents, date-times in
// the form of responses.
//
// The package does not know the operations, and keeps no state but compiled patterns.
package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Checker checks one request, response or document.
type Checker struct {
	wire.Faults

	Lenient  bool // no limits; unknown members, null for an absent member, quoted numbers and any RFC 3339 time are allowed
	Document bool // it is a user's document: required texts may be empty, and a fault for an unknown member lists the known members
	Response bool // it is a response: required texts may be empty, numbers have any size, and unknown members are counted, not named
	Now      time.Time
	Asked    url.Values // the query of the request for the response: it decides which members are included
}

// Object checks a JSON object that is not in another value, and returns its canonical form. The error is for a text that is not an object.
func (c *Checker) Object(s *reference.Schema, raw []byte) ([]byte, error) {
	members, err := wire.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	return c.object("", s, members), nil
}

// object returns nothing for a member with a fault, so that the others can be decoded.
func (c *Checker) object(path string, s *reference.Schema, members map[string]json.RawMessage) []byte {
	prefix := path
	if path != "" {
		prefix += "."
	}
	text := []byte{'{'}
	for _, member := range s.Properties {
		canonical := c.member(prefix+member.Name, s, member, members[member.Name])
		delete(members, member.Name)
		if canonical != nil {
			text = append(append(append(text, '"'), member.Name...), `":`...)
			text = append(append(text, canonical...), ',')
		}
	}
	c.unknown(path, prefix, s, members)
	if len(text) > 1 {
		text = text[:len(text)-1]
	}
	return append(text, '}')
}

// member returns nothing for a member that is absent or has a fault.
func (c *Checker) member(path string, s *reference.Schema, member reference.Member[*reference.Schema], raw json.RawMessage) []byte {
	present := raw != nil && (!c.Lenient || string(raw) != "null")
	required := s.Requires(member.Name) || c.Response && s.Sends(member)
	switch {
	case c.excludes(member.Value):
		if present {
			c.Add(path, "must be absent without "+member.Value.Include)
		}
		return nil
	case !present && required:
		return c.fault(path, "is required")
	case !present && (member.Value.Default == nil || c.Response):
		return nil
	case !present:
		raw, _ = json.Marshal(member.Value.Default) // it is from JSON
	}
	canonical := c.value(path, member.Value, raw)
	mayBeEmpty := c.Document || c.Lenient || c.Response
	if required && !mayBeEmpty && string(canonical) == `""` {
		return c.fault(path, "must not be empty")
	}
	return canonical
}

// excludes reports whether the response must not have a member.
func (c *Checker) excludes(s *reference.Schema) bool {
	return c.Response && s.Include != "" && strings.TrimSpace(c.Asked.Get(s.Include)) == ""
}

func (c *Checker) unknown(path, prefix string, s *reference.Schema, members map[string]json.RawMessage) {
	if c.Lenient || s.Open {
		return
	}
	if c.Response {
		if len(members) > 0 { // the names are not shown: they may be private
			c.Add(path, "has "+strconv.Itoa(len(members))+" members that the reference does not list")
		}
		return
	}
	rule := "is not a member of this request"
	if c.Document {
		var known []string
		for _, member := range s.Properties {
			known = append(known, member.Name)
		}
		slices.Sort(known)
		rule = "is not known here; known are " + strings.Join(known, ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		c.Add(prefix+name, rule)
	}
}

// value returns the canonical form, or nil after a fault.
func (c *Checker) value(path string, s *reference.Schema, raw json.RawMessage) []byte {
	var canonical []byte
	rule := "must be " + describe(s.Type)
	for _, kind := range s.Type {
		ok := true
		switch kind {
		case "object":
			if raw[0] != '{' {
				continue
			}
			members, err := wire.ParseObject(raw)
			if err != nil {
				c.Add(path, err.Error())
				return nil
			}
			return c.object(path, s, members)
		case "array":
			if raw[0] != '[' {
				continue
			}
			return c.array(path, s, raw)
		case "string":
			if ok = raw[0] == '"'; ok && !slices.Contains(s.Type, "number") {
				return c.text(path, s, raw)
			}
			continue // a number in a string is read as a number
		case "boolean":
			ok = raw[0] == 't' || raw[0] == 'f'
			canonical = raw
		case "null":
			ok = raw[0] == 'n'
			canonical = raw
		case "integer":
			var n int64
			n, ok = wire.ParseInteger(string(raw))
			canonical = strconv.AppendInt(nil, n, 10)
		case "number":
			canonical, ok = c.number(s, raw)
			if !c.Response {
				rule = wire.ErrMoney.Error()
			}
		}
		if ok {
			return c.limited(path, s, canonical)
		}
	}
	c.Add(path, rule)
	return nil
}

func describe(types reference.Types) string {
	names := map[string]string{
		"object": "a JSON object", "array": "an array", "string": "a string", "boolean": "true or false", "null": "null", "integer": "an integer",
		"number": "a number",
	}
	words := make([]string, len(types))
	for i, name := range types {
		words[i] = names[name]
	}
	return strings.Join(words, " or ")
}

func (c *Checker) number(s *reference.Schema, raw json.RawMessage) ([]byte, bool) {
	text := string(raw)
	if c.Response {
		return raw, raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9'
	}
	if raw[0] == '"' && (c.Lenient || slices.Contains(s.Type, "string")) {
		_ = json.Unmarshal(raw, &text)
	}
	amount, err := wire.ParseMoney(text)
	return []byte(amount.String()), err == nil
}

// limited checks the limits of a number, and the values of an enumeration of numbers or booleans.
func (c *Checker) limited(path string, s *reference.Schema, canonical []byte) []byte {
	n, _ := strconv.ParseFloat(string(canonical), 64)
	switch {
	case s.ExclusiveMinimum != nil && n <= *s.ExclusiveMinimum: // on a lenient server too: a transfer below zero would take money
		return c.fault(path, "must be more than "+strconv.FormatFloat(*s.ExclusiveMinimum, 'f', -1, 64))
	case s.Minimum != nil && n < *s.Minimum: // likewise
		return c.fault(path, "must be at least "+strconv.FormatFloat(*s.Minimum, 'f', -1, 64))
	case s.Maximum != nil && n > *s.Maximum && !c.Lenient:
		return c.fault(path, "must be at most "+strconv.FormatFloat(*s.Maximum, 'f', -1, 64))
	case len(s.Enum) > 0 && !c.Lenient && !slices.ContainsFunc(s.Enum, func(allowed any) bool { return text(allowed) == string(canonical) }):
		return c.fault(path, "must be one of "+words(s.Enum))
	}
	return canonical
}

func (c *Checker) fault(path, rule string) []byte {
	c.Add(path, rule)
	return nil
}

// words lists the values of an enumeration.
func words(enum []any) string {
	all := make([]string, len(enum))
	for i, value := range enum {
		all[i] = text(value)
	}
	return strings.Join(all, ", ")
}

// text returns a value of an enumeration, without the quotes of a string.
func text(value any) string {
	if n, ok := value.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

func (c *Checker) array(path string, s *reference.Schema, raw json.RawMessage) []byte {
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil {
		return c.fault(path, "must be an array")
	}
	if len(elements) < s.MinItems && !c.Lenient {
		return c.fault(path, "must have at least "+strconv.Itoa(s.MinItems)+" element")
	}
	made := []byte{'['}
	for i, element := range elements {
		canonical := c.value(path+"["+strconv.Itoa(i)+"]", s.Items, element)
		if canonical == nil {
			canonical = []byte("null") // the others keep their place
		}
		if i > 0 {
			made = append(made, ',')
		}
		made = append(made, canonical...)
	}
	return append(made, ']')
}

// text checks a string.
func (c *Checker) text(path string, s *reference.Schema, raw json.RawMessage) []byte {
	var value string
	if json.Unmarshal(raw, &value) != nil {
		return c.fault(path, "must be a string")
	}
	rule := c.Text(s, value)
	if rule != "" {
		return c.fault(path, rule)
	}
	if s.Format == "date-time" {
		at, _ := wire.ParseTime(value, c.Lenient)
		return []byte(`"` + wire.DateTime(at).String() + `"`)
	}
	return raw
}

// Text returns the rule that a string breaks, or "". It is for parameters too.
func (c *Checker) Text(s *reference.Schema, value string) string {
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(allowed any) bool { return text(allowed) == value }) {
		return "must be one of " + words(s.Enum) // on a lenient server too: no server can handle other words
	}
	if s.Format == "date-time" {
		at, err := wire.ParseTime(value, c.Lenient)
		if err != nil {
			return err.Error()
		}
		if s.Future && !c.Lenient && !c.Response && !at.After(c.Now) {
			return "must be later than the current time"
		}
	}
	length := utf8.RuneCountInString(value)
	switch {
	case c.Lenient:
	case length > s.MaxLength && s.MaxLength > 0:
		return "has more than " + strconv.Itoa(s.MaxLength) + " characters"
	case length < s.MinLength:
		return "has fewer than " + strconv.Itoa(s.MinLength) + " characters"
	case s.Pattern != "" && !compiled(s.Pattern).MatchString(value):
		return "must match " + s.Pattern
	case s.Format == "email" && !wire.IsEmail(value):
		return "must be an e-mail address"
	case s.Format == "uuid" && !wire.IsUUID(value):
		return "must be a UUID"
	}
	return ""
}

// patterns has the compiled patterns of the reference.
var patterns sync.Map

func compiled(pattern string) *regexp.Regexp {
	if known, ok := patterns.Load(pattern); ok {
		return known.(*regexp.Regexp) //nolint:forcetypeassert // nothing else is stored
	}
	made := regexp.MustCompile(pattern) // of a document that the generator has read
	patterns.Store(pattern, made)
	return made
}

// Query checks the parameters of a query.
func (c *Checker) Query(parameters []*reference.Parameter, values url.Values) {
	rest := maps.Clone(values)
	for _, p := range parameters {
		given := rest[p.Name]
		delete(rest, p.Name)
		switch {
		case len(given) > 1 && !c.Lenient:
			c.Add(p.Name, "is given more than once")
		case len(given) == 0 || (given[0] == "" && p.Required):
			if p.Required && (!c.Lenient || p.Schema.Default == nil) {
				c.Add(p.Name, "is required")
			}
		case slices.Contains(p.Schema.Type, "boolean"):
			if given[0] != "true" && given[0] != "false" {
				c.Add(p.Name, "must be true or false")
			}
		case given[0] != "" || len(p.Schema.Enum) == 0: // an empty filter is none
			form := Checker{Lenient: c.Lenient && p.Schema.Format == "date-time", Now: c.Now} // no server can handle another form
			if rule := form.Text(p.Schema, given[0]); rule != "" {
				c.Add(p.Name, rule)
			}
		}
	}
	if c.Lenient {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		c.Add(name, "is not a parameter of this operation")
	}
}
