package prepaidvcr

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// leaf is one value: its place, whether it was kept, and the form of its pseudonym.
type leaf struct {
	where   string
	value   string
	kept    bool
	flag    bool // a truth value
	unnamed bool // a name or a path that neither the schema nor the program names
	lost    bool // an amount that is not kept
	form    form
	offset  int64 // the value's end in the JSON text
}

// scrubs reports whether a pseudonym replaces the value.
func (l leaf) scrubs() bool { return !l.kept && !l.flag }

// leftOut reports whether a cassette loses the value: no pseudonym replaces it where a program looks for it.
func (l leaf) leftOut() bool { return l.unnamed || l.lost || l.flag && !l.kept }

// clean reports whether a cassette may have the value unchanged.
func (l leaf) clean() bool {
	return l.kept || l.flag && l.value == "false" || !l.flag && isPseudonym(l.value, l.form)
}

// scrubber processes the parts of one exchange, replaces values by pseudonyms, and records the values.
type scrubber struct {
	names   *pseudonyms
	restore func(leaf) string // returns a pseudonym's replacement in a replay; nil in a recording
	named   named
	used    []string // of named
	columns columns
	header  []string // the names in the first row of a report, if they are kept
	leaves  []leaf
}

// text scrubs one value that is a text.
func (s *scrubber) text(where, value string, known *shape) string {
	return s.scalar(where, value, known, false, 0)
}

func (s *scrubber) scalar(where, value string, known *shape, number bool, offset int64) string {
	if known.form == formCSV && !number {
		return s.table(where, value, offset)
	}
	l := leaf{where: where, value: value, form: known.form, offset: offset}
	if number { // narrow forms are for texts
		l.form = formByValue
	} else if known.varies {
		value = cutFraction(value)
		l.value = value
	}
	l.kept = known.keep != nil && known.keep(value)
	l.lost = known.amount && !l.kept
	s.leaves = append(s.leaves, l)
	switch {
	case l.kept:
		return value
	case s.restore != nil:
		return s.restore(l)
	case number:
		return s.names.digitsStand(value)
	}
	return s.names.stand(value, known.form)
}

// flag scrubs an unknown boolean, which may describe a person: its pseudonym is false.
func (s *scrubber) flag(where string, value bool, known *shape, offset int64) bool {
	text := strconv.FormatBool(value)
	kept := known.keep != nil && known.keep(text)
	s.leaves = append(s.leaves, leaf{where: where, value: text, kept: kept, flag: true, offset: offset})
	return value && kept
}

var (
	errTrailing = errors.New("more than one value")
	errDeep     = errors.New("too deep")
)

// maxDepth is the greatest accepted depth of JSON, and so of its indentation.
const maxDepth = 100

// json scrubs one JSON value. It returns the value in formatted lines, for readers of the cassette. If body is not
// JSON, it returns an error, and the caller must not use any part of the result.
func (s *scrubber) json(where string, body []byte, known *shape) (string, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var out bytes.Buffer
	encoder := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
		jsontext.WithIndent("  "))
	before := len(s.leaves)
	err := s.value(where, decoder, encoder, known)
	if err == nil {
		if _, last := decoder.ReadToken(); !errors.Is(last, io.EOF) {
			err = errTrailing
		}
	}
	if err != nil {
		s.leaves = s.leaves[:before]
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

func (s *scrubber) value(where string, in *jsontext.Decoder, out *jsontext.Encoder, known *shape) error {
	token, err := in.ReadToken()
	if err != nil {
		return err
	}
	token = token.Clone()
	end := in.InputOffset()
	if in.StackDepth() > maxDepth {
		return errDeep
	}
	switch token.Kind() {
	case '{':
		return s.object(where, in, out, known)
	case '[':
		return s.array(where, in, out, known)
	case '"':
		return out.WriteToken(jsontext.String(s.scalar(where, token.String(), known, false, end)))
	case '0':
		number := jsontext.Value(s.scalar(where, token.String(), known, true, end))
		if number.Kind() == '0' && number.IsValid() {
			return out.WriteValue(number)
		}
		return out.WriteToken(jsontext.String(string(number))) // the caller's value is a text, not a number
	case 't', 'f':
		return out.WriteToken(jsontext.Bool(s.flag(where, token.Bool(), known, end)))
	}
	return out.WriteToken(token) // null
}

func (s *scrubber) object(where string, in *jsontext.Decoder, out *jsontext.Encoder, known *shape) error {
	if err := out.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for in.PeekKind() == '"' {
		token, err := in.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		inner := s.shapeOf(known.members, name)
		shown := name
		if inner == nil { // a map's keys may be personal
			shown = s.unnamed(where+"."+unknownName, name)
			s.leaves[len(s.leaves)-1].offset = in.InputOffset()
			inner, name = scrubbed(), unknownName
		}
		if err := out.WriteToken(jsontext.String(shown)); err != nil {
			return err
		}
		if err := s.value(where+"."+name, in, out, inner); err != nil {
			return err
		}
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	return out.WriteToken(jsontext.EndObject)
}

// shapeOf returns the shape of a member or parameter; nil if neither the schema nor the program names it.
func (s *scrubber) shapeOf(known map[string]*shape, name string) *shape {
	if inner := known[name]; inner != nil {
		return inner
	}
	inner := scrubbed()
	switch {
	case slices.Contains(s.named.keep, name):
		inner.keep = func(string) bool { return true }
		inner.element = inner
	case !slices.Contains(s.named.scrub, name):
		return nil
	}
	s.used = append(s.used, name)
	return inner
}

// unnamed scrubs a name or a path that neither the schema nor the program names.
func (s *scrubber) unnamed(where, name string) string {
	shown := s.text(where, name, scrubbed())
	s.leaves[len(s.leaves)-1].unnamed = true
	return shown
}

// unknownName replaces the name of a member or parameter that is not in the schema.
const unknownName = "(unknown)"

func (s *scrubber) array(where string, in *jsontext.Decoder, out *jsontext.Encoder, known *shape) error {
	if err := out.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	inner := known.element
	if inner == nil {
		inner = scrubbed()
	}
	for i := 0; in.PeekKind() != ']'; i++ {
		if err := s.value(where+"["+strconv.Itoa(i)+"]", in, out, inner); err != nil {
			return err
		}
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	return out.WriteToken(jsontext.EndArray)
}

// table scrubs CSV cell by cell. It keeps commas, quotes, line ends, and a first row that has only column names given
// by the caller.
func (s *scrubber) table(where, text string, offset int64) string {
	var out strings.Builder
	s.header = s.columns.header(text)
	column := 0
	for row, rest := 0, text; rest != "" && out.Len() <= maxRecorded; { // a longer body is not written
		cell, length := nextCell(rest)
		known := scrubbed()
		switch {
		case row == 0 && s.header != nil:
			known.keep = func(string) bool { return true }
		case column < len(s.header) && contains(s.columns.amounts, s.header[column]):
			known.keep = isAmount
		}
		shown := s.scalar(where+" row "+strconv.Itoa(row), cell, known, false, offset)
		restored := s.restore != nil && shown != cell // may need quotes
		if rest[0] == '"' || restored && strings.ContainsAny(shown, separators+`"`) {
			shown = `"` + strings.ReplaceAll(shown, `"`, `""`) + `"`
		}
		out.WriteString(shown)
		for rest = rest[length:]; rest != "" && strings.ContainsRune(separators, rune(rest[0])); rest = rest[1:] {
			out.WriteByte(rest[0])
			if rest[0] == '\n' || rest[0] == '\r' && !strings.HasPrefix(rest, "\r\n") {
				row++
			}
			if column++; rest[0] != ',' {
				column = 0
			}
		}
	}
	return out.String()
}

const separators = ",\r\n"

// header returns the cells of a table's first row if all are names of columns.
func (c columns) header(text string) []string {
	var names []string
	for len(c.names) > 0 && text != "" {
		cell, length := nextCell(text)
		name := strings.Trim(strings.TrimPrefix(cell, byteOrderMark), " \t\"")
		if !contains(c.names, name) || !isColumn(name) {
			return nil
		}
		names = append(names, name)
		if text = text[length:]; text == "" || text[0] != ',' {
			return names
		}
		text = text[1:]
	}
	return nil
}

const byteOrderMark = "\ufeff"

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(one string) bool { return strings.EqualFold(one, name) })
}

// nextCell returns the value of the first cell of text, and the cell's length in text. After a quote without an end,
// the rest is one cell.
func nextCell(text string) (cell string, length int) {
	if !strings.HasPrefix(text, `"`) {
		if end := strings.IndexAny(text, separators); end >= 0 {
			return text[:end], end
		}
		return text, len(text)
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] != '"':
		case strings.HasPrefix(text[i:], `""`):
			i++
		case i+1 == len(text) || strings.ContainsRune(separators, rune(text[i+1])):
			return strings.ReplaceAll(text[1:i], `""`, `"`), i + 1
		}
	}
	return text[1:], len(text)
}
