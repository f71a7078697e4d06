package conformance

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// reporter receives a violation.
type reporter func(section, field, rule string)

// rule checks a JSON value and reports violations.
type rule func(section, field string, value any, report reporter)

// member is a field of an object.
type member struct {
	name     string
	required bool
	rule     rule
}

func req(r rule, names ...string) []member { return members(true, r, names) }
func opt(r rule, names ...string) []member { return members(false, r, names) }

func members(required bool, r rule, names []string) []member {
	list := make([]member, len(names))
	for i, name := range names {
		list[i] = member{name, required, r}
	}
	return list
}

// object returns the rule for an object that has only the listed members.
func object(section string, groups ...[]member) rule {
	return shape(section, false, slices.Concat(groups...))
}

// openObject returns the rule for an object that may have further members.
func openObject(section string, groups ...[]member) rule {
	return shape(section, true, slices.Concat(groups...))
}

func shape(section string, open bool, list []member) rule {
	return func(_, field string, value any, report reporter) {
		fields, ok := value.(map[string]any)
		if !ok {
			report(section, field, "must be an object")
			return
		}
		known := make(map[string]bool, len(list))
		for _, m := range list {
			known[m.name] = true
			if v, present := fields[m.name]; present {
				m.rule(section, field+"."+m.name, v, report)
			} else if m.required {
				report(section, field+"."+m.name, "is required")
			}
		}
		unknown := 0
		for name := range maps.Keys(fields) {
			if !known[name] {
				unknown++
			}
		}
		if unknown > 0 && !open { // the names are not shown: they may be private
			report(section, field, "has "+strconv.Itoa(unknown)+" fields that the reference does not list")
		}
	}
}

func listOf(r rule) rule {
	return func(section, field string, value any, report reporter) {
		list, ok := value.([]any)
		if !ok {
			report(section, field, "must be an array")
			return
		}
		for i, element := range list {
			r(section, field+"["+strconv.Itoa(i)+"]", element, report)
		}
	}
}

func textWhere(holds func(string) bool, what string) rule {
	return func(section, field string, value any, report reporter) {
		if text, ok := value.(string); !ok {
			report(section, field, "must be a string")
		} else if !holds(text) {
			report(section, field, "must be "+what)
		}
	}
}

func text(section, field string, value any, report reporter) {
	textWhere(func(string) bool { return true }, "")(section, field, value, report)
}

func upTo(n int) rule {
	return textWhere(func(s string) bool { return utf8.RuneCountInString(s) <= n }, "of at most "+strconv.Itoa(n)+" characters")
}

func oneOf(words ...string) rule {
	return textWhere(func(s string) bool { return slices.Contains(words, s) }, "one of "+strings.Join(words, ", "))
}

func matching(pattern, what string) rule {
	return textWhere(regexp.MustCompile(pattern).MatchString, what)
}

func dateTime(section, field string, value any, report reporter) {
	textWhere(func(s string) bool {
		_, err := time.Parse(time.RFC3339, s)
		return err == nil && strings.HasSuffix(s, "Z")
	}, "an ISO 8601 date-time in UTC")(section, field, value, report)
}

func number(section, field string, value any, report reporter) {
	if _, ok := value.(json.Number); !ok {
		report(section, field, "must be a number")
	}
}

func integer(section, field string, value any, report reporter) {
	n, ok := value.(json.Number)
	if !ok || strings.ContainsAny(string(n), ".eE") {
		report(section, field, "must be an integer")
	}
}

func boolean(section, field string, value any, report reporter) {
	if _, ok := value.(bool); !ok {
		report(section, field, "must be a boolean")
	}
}

func orNull(r rule) rule {
	return func(section, field string, value any, report reporter) {
		if value != nil {
			r(section, field, value, report)
		}
	}
}
