package prepaidtest

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// query reads query parameters as binder reads members.
type query struct {
	values  url.Values
	faults  *faultList
	lenient bool
}

func (q *query) take(name string) (string, bool) {
	values, present := q.values[name]
	delete(q.values, name)
	if len(values) > 1 && !q.lenient {
		q.faults.add(name, "is given more than once")
	}
	if !present {
		return "", false
	}
	return values[0], true
}

func (q *query) finish() {
	if q.lenient {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		q.faults.add(name, "is not a parameter of this operation")
	}
}

func (q *query) string(name string, into *string) { *into, _ = q.take(name) }

func (q *query) requiredString(name string, into *string) {
	var present bool
	if *into, present = q.take(name); !present || *into == "" {
		q.faults.add(name, "is required")
	}
}

func (q *query) oneOf(name string, into *string, words []string) {
	q.string(name, into)
	if *into != "" && !slices.Contains(words, *into) {
		q.faults.add(name, "must be one of "+strings.Join(words, ", "))
	}
}

// flag is on with any value that is not blank (section 1, optional field groups).
func (q *query) flag(name string, into *bool) {
	value, _ := q.take(name)
	*into = strings.TrimSpace(value) != ""
}

func (q *query) requiredBoolean(name string, into *bool) {
	value, present := q.take(name)
	switch {
	case !present && !q.lenient:
		q.faults.add(name, "is required")
	case value == "true":
		*into = true
	case present && value != "false":
		q.faults.add(name, "must be true or false")
	}
}

func (q *query) dateTime(name string, into *time.Time) {
	value, present := q.take(name)
	if !present {
		return
	}
	at, err := parseTime(value, q.lenient)
	if err != nil {
		q.faults.add(name, err.Error())
	}
	*into = at
}

// paging reads page_number and page_size.
func (q *query) paging(into *pageRequest) {
	var numbered bool
	if into.number, numbered = q.count("page_number"); numbered && into.number < 1 {
		q.faults.add("page_number", "must be at least 1")
	}
	into.size, into.sized = q.count("page_size")
}

// count reads a whole number; one beyond the range of int becomes its end.
func (q *query) count(name string) (number int, present bool) {
	value, present := q.take(name)
	if !present {
		return 0, false
	}
	if !isDigits(strings.TrimPrefix(value, "-")) {
		q.faults.add(name, "must be a whole number")
		return 0, false
	}
	number, _ = strconv.Atoi(value) // out of range: the nearest
	return number, true
}
