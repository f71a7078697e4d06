package wire

import "strings"

// Fault names a field and the rule that its value breaks, never the value.
type Fault struct{ Field, rule string }

// Faults collects every fault of one request.
type Faults struct{ Found []Fault }

// Add adds a field with the rule that its value breaks.
func (l *Faults) Add(field, rule string) { l.Found = append(l.Found, Fault{field, rule}) }

// Describe lists the fields with their rules.
func (l *Faults) Describe() string { return "invalid fields: " + l.String() }

// String is the list without the introduction of Describe.
func (l *Faults) String() string {
	parts := make([]string, len(l.Found))
	for i, fault := range l.Found {
		parts[i] = fault.Field + " " + fault.rule
	}
	return strings.Join(parts, "; ")
}
