package wire

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Query reads query parameters as Reader reads members.
type Query struct {
	Values  url.Values
	Faults  *Faults
	Lenient bool
	schema  *Schema // filled in by DescribeQuery; nothing is read then
}

// describe adds a parameter to the description. It returns nil if the query is being read instead.
func (q *Query) describe(name string) *Schema {
	if q.schema == nil {
		return nil
	}
	return q.schema.property(name, []string{"string"})
}

func (q *Query) take(name string) (string, bool) {
	values, present := q.Values[name]
	delete(q.Values, name)
	if len(values) > 1 && !q.Lenient {
		q.Faults.Add(name, "is given more than once")
	}
	if !present {
		return "", false
	}
	return values[0], true
}

// Finish adds a fault for each parameter that was not read.
func (q *Query) Finish() {
	if q.Lenient {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(q.Values)) {
		q.Faults.Add(name, "is not a parameter of this operation")
	}
}

// String reads an optional text.
func (q *Query) String(name string, into *string) {
	q.describe(name)
	*into, _ = q.take(name)
}

// RequiredString reads a text that must not be empty.
func (q *Query) RequiredString(name string, into *string) {
	if q.schema != nil {
		q.describe(name).MinLength = 1
		q.schema.Required = append(q.schema.Required, name)
		return
	}
	var present bool
	if *into, present = q.take(name); !present || *into == "" {
		q.Faults.Add(name, "is required")
	}
}

// OneOf reads an optional text that must be one of words.
func (q *Query) OneOf(name string, into *string, words []string) {
	if q.schema != nil {
		q.describe(name).Enum = words
		return
	}
	q.String(name, into)
	if *into != "" && !slices.Contains(words, *into) {
		q.Faults.Add(name, "must be one of "+strings.Join(words, ", "))
	}
}

// Flags reports for each name whether its value is not blank (section 1, optional field groups).
func (q *Query) Flags(names ...string) map[string]bool {
	on := make(map[string]bool)
	for _, name := range names {
		q.describe(name).note("On with any value that is not blank.")
		value, _ := q.take(name)
		on[name] = strings.TrimSpace(value) != ""
	}
	return on
}

// RequiredBoolean reads true or false.
func (q *Query) RequiredBoolean(name string, into *bool) {
	if q.schema != nil {
		q.describe(name).Type = Types{"boolean"}
		q.schema.Required = append(q.schema.Required, name)
		return
	}
	value, present := q.take(name)
	switch {
	case !present && !q.Lenient:
		q.Faults.Add(name, "is required")
	case value == "true":
		*into = true
	case present && value != "false":
		q.Faults.Add(name, "must be true or false")
	}
}

// DateTime reads an optional date-time.
func (q *Query) DateTime(name string, into *time.Time) {
	q.describe(name).dateTime()
	value, present := q.take(name)
	if !present {
		return
	}
	at, err := parseTime(value, q.Lenient)
	if err != nil {
		q.Faults.Add(name, err.Error())
	}
	*into = at
}

// Paging reads page_number and page_size.
func (q *Query) Paging(into *PageRequest) {
	if q.schema != nil {
		q.describe("page_number").Pattern = "^0*[1-9][0-9]*$"
		q.describe("page_size").Pattern = "^-?[0-9]+$"
		return
	}
	var numbered bool
	if into.number, numbered = q.count("page_number"); numbered && into.number < 1 {
		q.Faults.Add("page_number", "must be at least 1")
	}
	into.size, into.sized = q.count("page_size")
}

// count reads a whole number. For a number outside the range of int, it returns the nearest limit of this range.
func (q *Query) count(name string) (number int, present bool) {
	value, present := q.take(name)
	if !present {
		return 0, false
	}
	if !IsDigits(strings.TrimPrefix(value, "-")) {
		q.Faults.Add(name, "must be a whole number")
		return 0, false
	}
	number, _ = strconv.Atoi(value) // out of range: the nearest
	return number, true
}
