package prepaidtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/reference"
)

// document sends the requests of one operation.
type document struct {
	*caller
	operation *reference.Operation
	path      string
	body      map[string]any // a valid one with every member
}

// documents are the operations. Their path parameters name objects that exist.
func documents(t *testing.T) []*document {
	t.Helper()
	c := start(t, Options{RateLimit: -1}).withKeyPair()
	account := c.AddAccount(SeedAccount{Balance: "1000000"})
	hook := c.addHook(hookText(t, "https://partner.example/", map[string]any{"enabled": false}))
	var all []*document
	for _, o := range reference.Emulator().Operations {
		id := map[string]string{"Policy": "42", "Hooks": hook}[o.Tags[0]]
		if id == "" {
			id = account
		}
		path := strings.NewReplacer(
			"{id}", id, "{provider}", "googlepay", "{companyid}", "42", "{templatename}", "daily_settlement", "{reportid}", "none",
		).Replace(o.Path[1:])
		body, _ := sample(o.Request.JSON(), 0).(map[string]any)
		all = append(all, &document{c, o, path, body})
	}
	return all
}

// sample returns a value that a schema allows; a text has n characters if its length is not fixed. It is nil without a schema.
func sample(s *reference.Schema, n int) any {
	switch {
	case s == nil:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Items != nil:
		return []any{sample(s.Items, n)}
	case len(s.Properties) > 0:
		object := map[string]any{}
		for _, member := range s.Properties {
			object[member.Name] = sample(member.Value, n)
		}
		return object
	case slices.Contains(s.Type, "boolean"):
		return false
	case !slices.Contains(s.Type, "string") || slices.Contains(s.Type, "number"):
		return 42
	case s.Format != "":
		return map[string]string{
			"date-time": "2090-01-01T00:00:00Z", "uuid": dipApplication, "email": "a@b.example", "uri": "https://partner.example/",
		}[s.Format]
	case s.Encoding != "":
		return base64.StdEncoding.EncodeToString(make([]byte, s.MaxLength/4*3-1))
	}
	n = max(n, s.MinLength, 1)
	if s.Pattern == "" {
		return strings.Repeat("é", n) // the limits are of characters, not bytes
	}
	parsed, _ := syntax.Parse(s.Pattern, syntax.Perl)
	return matching(parsed.Simplify(), n)
}

// matching returns a text that a pattern matches. A star is n characters.
func matching(pattern *syntax.Regexp, n int) string {
	switch pattern.Op {
	case syntax.OpLiteral:
		return string(pattern.Rune)
	case syntax.OpCharClass:
		return string(pattern.Rune[0])
	case syntax.OpStar, syntax.OpPlus:
		one := matching(pattern.Sub[0], n)
		return strings.Repeat(one, max(1, n/len(one)))
	case syntax.OpAlternate:
		return matching(pattern.Sub[0], n)
	}
	var text strings.Builder
	for _, part := range pattern.Sub {
		text.WriteString(matching(part, n))
	}
	return text.String()
}

// send returns the faults of the body, or "" if it has none.
func (d *document) send(field string) string {
	d.t.Helper()
	text, err := json.Marshal(d.body)
	require.NoError(d.t, err)
	got := d.do(d.operation.Method, d.path, string(text))
	if got.status < 300 || field == "" {
		return ""
	}
	problem := got.object()
	faults, ok := strings.CutPrefix(fmt.Sprint(problem["error_description"]), "invalid fields: ")
	if !ok || !strings.HasPrefix(faults, field+" ") {
		return ""
	}
	member, _, _ := strings.Cut(strings.ReplaceAll(field, "[", "."), ".")
	want := "invalid_request"
	for _, code := range d.operation.Codes("400") {
		if code == "invalid_"+member || code == "bad_"+member {
			want = code
		}
	}
	if member != "more" { // which has no code
		require.Equal(d.t, want, problem["error"], field)
	}
	return faults
}

// check puts each value into a member and requires that it is a fault, or that it is not. It restores the member.
func (d *document) check(object map[string]any, name, field string, fault bool, values ...any) {
	d.t.Helper()
	before, had := object[name]
	for _, value := range values {
		object[name] = value
		require.Equal(d.t, fault, d.send(field) != "", "%s %s: %s = %v", d.operation.Method, d.path, field, value)
	}
	if object[name] = before; !had {
		delete(object, name)
	}
}

// members checks each member of an object.
func (d *document) members(object map[string]any, s *reference.Schema, prefix string) {
	d.check(object, "more", prefix+"more", true, 1)
	for _, member := range s.Properties {
		name, field := member.Name, prefix+member.Name
		before := object[name]
		delete(object, name)
		require.Equal(d.t, s.Requires(name), strings.HasPrefix(d.send(field), field+" is required"), field)
		object[name] = before
		limits(func(fault bool, values ...any) {
			d.t.Helper()
			d.check(object, name, field, fault, values...)
		}, member.Value, s.Requires(name))
		switch inner := before.(type) {
		case map[string]any:
			d.members(inner, member.Value, field+".")
		case []any:
			if element, ok := inner[0].(map[string]any); ok {
				d.members(element, member.Value.Items, field+"[0].")
				continue
			}
			limits(func(fault bool, values ...any) {
				d.t.Helper()
				for _, value := range values {
					d.check(object, name, field+"[0]", fault, []any{value})
				}
			}, member.Value.Items, false)
		}
	}
}

// wrong is a value of another type.
func wrong(s *reference.Schema) any {
	return map[string]any{"boolean": "true", "string": true, "integer": "42", "number": "x", "object": "x", "array": "x"}[s.Type[0]]
}

func limits(check func(fault bool, values ...any), s *reference.Schema, required bool) {
	check(true, nil, wrong(s))
	switch {
	case s.MinItems > 0:
		check(true, []any{})
	case len(s.Enum) > 0:
		check(false, s.Enum...)
		check(true, "other", 99, true)
	case s.Type[0] == "integer" || s.Type[0] == "number":
		check(true, "", []any{})
		if s.Minimum != nil {
			check(false, *s.Minimum)
			check(true, *s.Minimum-1)
		}
		if s.Maximum != nil {
			check(false, *s.Maximum)
			check(true, *s.Maximum+1)
		}
		if s.ExclusiveMinimum != nil {
			check(true, *s.ExclusiveMinimum)
		}
	case s.Type[0] == "string":
		textLimits(check, s, required)
	}
}

func textLimits(check func(fault bool, values ...any), s *reference.Schema, required bool) {
	if required {
		check(true, "")
	}
	if s.Format != "" || s.Encoding != "" {
		check(true, "x")
		return
	}
	if s.Pattern != "" {
		check(true, sample(s, 0).(string)+"é", "\n"+sample(s, 0).(string))
	}
	if s.MaxLength > 0 {
		check(false, sample(s, s.MaxLength))
		check(true, sample(&reference.Schema{Type: s.Type, Pattern: s.Pattern}, s.MaxLength+1))
	}
	if s.MinLength > 1 {
		check(false, sample(s, s.MinLength))
		check(true, sample(&reference.Schema{Type: s.Type, Pattern: s.Pattern}, s.MinLength-1))
	}
}

// Each member of each request is checked by the document: missing, unknown, of another type, beyond each limit.
func TestEveryMemberIsChecked(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		if d.body == nil {
			continue
		}
		d.members(d.body, d.operation.Request.JSON(), "")
	}
}

// All faults of a request are listed.
func TestEveryFaultIsListed(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		if d.body == nil {
			continue
		}
		var fields []string
		var spoil func(object map[string]any, s *reference.Schema, prefix string)
		spoil = func(object map[string]any, s *reference.Schema, prefix string) {
			for _, member := range s.Properties {
				if inner, ok := object[member.Name].(map[string]any); ok {
					spoil(inner, member.Value, prefix+member.Name+".")
					continue
				}
				object[member.Name] = wrong(member.Value)
				fields = append(fields, prefix+member.Name+" must be ")
			}
		}
		spoil(d.body, d.operation.Request.JSON(), "")
		faults := d.send(strings.TrimSuffix(fields[0], " must be "))
		for _, field := range fields {
			require.Contains(t, faults, field, d.path)
		}
	}
}

// So is each parameter of each query: missing, unknown, given twice, of another form.
func TestEveryParameterIsChecked(t *testing.T) {
	t.Parallel()
	for _, d := range documents(t) {
		if d.operation.Method != "GET" {
			continue
		}
		all := url.Values{}
		for _, p := range d.operation.Query() {
			if p.Required {
				all.Set(p.Name, fmt.Sprint(sample(p.Schema, 0)))
			}
		}
		check := func(field, rule string, values ...string) {
			query := maps.Clone(all)
			if query[field] = values; values == nil {
				delete(query, field)
			}
			description := fmt.Sprint(d.get(d.path + "?" + query.Encode()).object()["error_description"])
			require.Contains(t, description, "invalid fields: "+field+" "+rule, d.path)
		}
		check("more", "is not a parameter", "1")
		for _, p := range d.operation.Query() {
			check(p.Name, "is given more than once", "1", "1")
			if p.Required {
				check(p.Name, "is required")
				check(p.Name, "is required", "")
			}
			if p.Schema.Pattern != "" || p.Schema.Format != "" || p.Schema.Enum != nil || p.Schema.Type[0] == "boolean" {
				check(p.Name, "must ", "x")
			}
		}
	}
}
