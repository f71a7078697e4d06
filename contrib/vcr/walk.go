package prepaidvcr

import (
	"bytes"
	"encoding/csv"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// leaf is one value.
type leaf struct {
	value    string
	kept     bool
	number   bool   // a number of JSON
	constant string // its pseudonym
	label    string // the kind of an ID, otherwise a name
	id       bool
}

// walk reads the parts of one exchange with the schema of its operation. It keeps each value, replaces it, or drops it: a recording
// that drops a value is not written, and a replay does not use such a response.
type walk struct {
	schema    *schema
	operation *operation        // nil if unknown
	replace   func(leaf) string // returns the replacement of a value that is not kept
	places    map[string][]leaf // such as "body.amount" or "path {id}"
	dropped   []string          // places
}

// asIs replaces nothing.
func asIs(l leaf) string { return l.value }

// unknownName replaces the name of a member or parameter that is not in the schema: it may be personal.
const unknownName = "(unknown)"

// drop drops a member or parameter that neither the schema nor the program names.
func (w *walk) drop(where, name string) {
	place := where + unknownName
	w.places[place] = append(w.places[place], leaf{})
	if looksLikeCode(name) { // a single word may be a person's name
		place = where + name
	}
	w.lose(place)
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// lose records a place whose value a replay could not show.
func (w *walk) lose(where string) { w.dropped = append(w.dropped, index.ReplaceAllString(where, "")) }

func (w *walk) scalar(where, name, value string, known *shape, number bool) string {
	l := leaf{value: value, number: number, constant: known.constant, kept: known.keep != nil && known.keep(value)}
	if w.operation != nil {
		l.label, l.id = w.operation.labelOf(name)
	}
	w.places[where] = append(w.places[where], l)
	if l.kept {
		return value
	}
	if known.amount {
		w.lose(where)
	}
	return w.replace(l)
}

// named returns the shape of a member or parameter; nil if neither the schema nor the program names it.
func (w *walk) named(known map[string]*shape, name string) *shape {
	switch {
	case known[name] != nil:
		return known[name]
	case slices.Contains(w.schema.names.keep, name):
		return &shape{keep: func(string) bool { return true }}
	case slices.Contains(w.schema.names.scrub, name):
		return &shape{}
	}
	return nil
}

var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// read reads a body. One pseudonym replaces a body that is not JSON.
func (w *walk) read(body []byte, known *shape) string {
	value := jsontext.Value(bytes.TrimSpace(body))
	if known == nil {
		known = &shape{}
	}
	if !value.IsValid(tolerant) {
		return w.scalar("body", "body", string(value), &shape{}, false)
	}
	var out bytes.Buffer // in formatted lines, for readers of the cassette
	w.json("body", "body", jsontext.NewDecoder(bytes.NewReader(value), tolerant), jsontext.NewEncoder(&out, tolerant, jsontext.WithIndent("  ")), known)
	return strings.TrimSuffix(out.String(), "\n")
}

// json reads one value of JSON that is known to be valid: neither reading nor writing fails.
func (w *walk) json(where, name string, in *jsontext.Decoder, out *jsontext.Encoder, known *shape) {
	token, _ := in.ReadToken()
	switch kind := token.Kind(); kind {
	case '{':
		_ = out.WriteToken(token)
		for in.PeekKind() == '"' {
			w.member(where, in, out, known)
		}
		token, _ = in.ReadToken()
	case '[':
		_ = out.WriteToken(token)
		for i := 0; in.PeekKind() != ']'; i++ {
			w.json(where+"["+strconv.Itoa(i)+"]", name, in, out, known)
		}
		token, _ = in.ReadToken()
	case '"':
		if known.table {
			token = jsontext.String(w.table(where, token.String()))
			break
		}
		token = jsontext.String(w.scalar(where, name, token.String(), known, false))
	case '0':
		number := jsontext.Value(w.scalar(where, name, token.String(), known, true))
		if number.Kind() == '0' && number.IsValid() {
			_ = out.WriteValue(number)
			return
		}
		token = jsontext.String(string(number)) // the caller's value is a text, not a number
	case 't', 'f':
		if known.keep == nil || !known.keep(token.String()) { // no pseudonym can replace it
			w.lose(where)
			token = jsontext.False
			break
		}
		w.places[where] = append(w.places[where], leaf{value: token.String(), kept: true})
	}
	_ = out.WriteToken(token)
}

func (w *walk) member(where string, in *jsontext.Decoder, out *jsontext.Encoder, known *shape) {
	token, _ := in.ReadToken()
	name := token.String()
	inner := w.named(known.members, name)
	if inner == nil {
		w.drop(where+".", name)
		_ = in.SkipValue()
		return
	}
	_ = out.WriteToken(jsontext.String(name))
	w.json(where+"."+name, name, in, out, inner)
}

// table reads a report in CSV. It keeps the names that the program lists in the first row, and amounts below names whose values are kept.
func (w *walk) table(where, text string) string {
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord = -1
	rows, err := reader.ReadAll()
	if err != nil {
		return w.scalar(where, "", text, &shape{}, false)
	}
	var out strings.Builder
	writer := csv.NewWriter(&out)
	writer.UseCRLF = strings.Contains(text, "\r\n")
	var header []string
	for i, row := range rows {
		if i == 0 {
			header = slices.Clone(row)
		}
		for column, cell := range row {
			known, name := &shape{}, ""
			if column < len(header) {
				name = strings.TrimSpace(strings.TrimPrefix(header[column], byteOrderMark))
			}
			named := w.named(nil, name)
			switch {
			case named != nil && i == 0:
				known.keep = func(string) bool { return true }
			case named != nil && named.keep != nil:
				known.keep = isAmount
			}
			row[column] = w.scalar(where+" row "+strconv.Itoa(i), name, cell, known, false)
		}
		_ = writer.Write(row) // a Builder does not fail
	}
	writer.Flush()
	return out.String()
}

const byteOrderMark = "\ufeff"

// path reads the path of an operation.
func (w *walk) path(segments []string) string {
	if w.operation == nil {
		w.lose("path")
		return "/unknown"
	}
	var path strings.Builder
	for i, part := range strings.Split(strings.TrimPrefix(w.operation.path, "/"), "/") {
		if strings.HasPrefix(part, "{") {
			known := &shape{}
			if part == "{provider}" { // the name of a wallet
				known.keep = isProvider
			}
			segments[i] = w.scalar("path "+part, part, segments[i], known, false)
		}
		path.WriteString("/" + url.PathEscape(segments[i]))
	}
	return path.String()
}

// pairs reads names and values of a query or a form, in the order of their names.
func (w *walk) pairs(where, raw string, known map[string]*shape) string {
	values, err := url.ParseQuery(raw)
	if err != nil {
		w.drop(where, "")
		return ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		shape := w.named(known, name)
		if shape == nil {
			w.drop(where, name)
			continue
		}
		for _, value := range values[name] {
			out = append(out, url.QueryEscape(name)+"="+url.QueryEscape(w.scalar(where+name, name, value, shape, false)))
		}
	}
	return strings.Join(out, "&")
}
