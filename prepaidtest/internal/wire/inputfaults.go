package wire

import (
	"slices"
	"strconv"
	"strings"
)

// Fault names a field and the rule that its value breaks, never the value.
type Fault struct{ Field, Rule string }

// Faults collects every fault of one request.
type Faults struct{ Found []Fault }

// Add adds a field with the first rule that its value breaks.
func (l *Faults) Add(field, rule string) {
	if !slices.ContainsFunc(l.Found, func(f Fault) bool { return f.Field == field }) {
		l.Found = append(l.Found, Fault{field, rule})
	}
}

// In returns a function that adds fields of an element of a list.
func (l *Faults) In(list string, i int) func(field, rule string) {
	return func(field, rule string) { l.Add(list+"["+strconv.Itoa(i)+"]."+field, rule) }
}

// Describe lists the fields with their rules.
func (l *Faults) Describe() string { return "invalid fields: " + l.String() }

// String is the list without the introduction of Describe.
func (l *Faults) String() string {
	parts := make([]string, len(l.Found))
	for i, fault := range l.Found {
		parts[i] = fault.Field + " " + fault.Rule
	}
	return strings.Join(parts, "; ")
}
