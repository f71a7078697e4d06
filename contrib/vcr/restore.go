package prepaidvcr

import (
	"cmp"
	"slices"
)

// sentValues are the caller's values, by pseudonym and then by the label of the place in which each was sent.
type sentValues map[string]map[string][]string

// add records one value.
func (s sentValues) add(pseudonym, label, value string) {
	if s[pseudonym] == nil {
		s[pseudonym] = map[string][]string{}
	}
	if !slices.Contains(s[pseudonym][label], value) {
		s[pseudonym][label] = append(s[pseudonym][label], value)
	}
}

// all returns the different values of a pseudonym under any label.
func (s sentValues) all(pseudonym string) []string {
	var values []string
	for _, some := range s[pseudonym] {
		values = append(values, some...)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// sentIn returns the values of one request, including pseudonyms that the caller got from the cassette.
func sentIn(request, recorded *scrubbedRequest) sentValues {
	s := sentValues{}
	for l, there := range pairsOf(request, recorded) {
		s.add(there, labelOf(request.operation, l.where), l.value)
	}
	return s
}

// labelOf returns the label of a place: the kind of its ID or, if it has no ID, its name.
func labelOf(op *operation, where string) string {
	return cmp.Or(kindOf(op, where), nameOf(where))
}

// restorer puts the caller's values into a response: programs that compare sent with received values must
// find them equal.
type restorer struct {
	operation   *operation
	before, now sentValues
	changed     bool
	ambiguous   []string // places that could show more than one value
}

// value returns the caller's value for the pseudonym l, from this request or an earlier one. It prefers values
// with the same label. If no value was sent, it returns the pseudonym.
func (r *restorer) value(l leaf) string {
	label := labelOf(r.operation, l.where)
	for _, values := range [][]string{
		r.now[l.value][label], r.before[l.value][label], r.now.all(l.value), r.before.all(l.value),
	} {
		switch len(values) {
		case 0:
			continue
		case 1:
			r.changed = r.changed || values[0] != l.value
			return values[0]
		}
		r.ambiguous = append(r.ambiguous, "response "+l.where)
		return l.value
	}
	return l.value
}
