package requestid

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// known is what a walk knows of a value whatever the program is given.
type known uint8

const (
	anything known = iota
	isNil          // also the empty string
	notNil         // also a string that is not empty
	isTrue
	isFalse
	outcomeUnknown
	outcomeApplied
	serverError // a status from 500
)

// age says how a value relates to the last sending of the walk or, before the first one, to the beginning of the function.
type age uint8

const (
	same age = iota
	// counted is a counter: 1 or more at the second sending.
	counted
	// made is another value each time that its source runs.
	made
	// other may belong to another payment: an element, a message, the result of a call.
	other
)

// kind of a source of IDs.
type kind uint8

const (
	counter kind = iota // of a loop
	maker               // of the SDK, or a function that sends under its own ID
	random              // uuid.NewString, rand.Text
	clock               // time.Now
)

// source is where a value is made.
type source struct {
	kind kind
	pos  token.Pos
	call *ssa.Call // nil if there is none in the package
	name string
}

// value is what a walk knows of a value.
type value struct {
	known  known
	age    age
	phase  phase // in which the age and what depends on it were found
	source *source
	// name identifies the value: two values of one name and of age same are equal.
	name string
	// failure: the error of a sending, or one that wraps it. verdict: what a function that is not known says of one.
	failure, verdict bool
	// guard: a call that had data of the payment returned it, so it may say that the payment is made already.
	guard bool
	// final and again: an error that a retry library does not repeat, or the only one that it does.
	final, again bool
	// request: it was converted to a request ID.
	request bool
	closure *ssa.Function // of a function value, with the variables that it has captured
	bound   []value
	fields  map[string]value // of a struct, by path: ".Destination.BSB"
	parts   []value          // of a tuple
	points  []string         // the addresses in an interface or a list of arguments
}

// phase of a walk: 0 before the first sending, 1 after it.
type phase uint8

func (v value) ageIn(p phase) age {
	if v.phase != p {
		return same
	}
	oldest := v.age
	for _, f := range v.fields {
		oldest = max(oldest, f.ageIn(p))
	}
	return oldest
}

// identity is the name, with the names of the fields.
func (v value) identity() string {
	if len(v.fields) == 0 {
		return v.name
	}
	var b strings.Builder
	b.WriteString(v.name)
	for _, path := range slices.Sorted(maps.Keys(v.fields)) {
		b.WriteString("{" + path + v.fields[path].identity() + "}")
	}
	return b.String()
}

func (v value) key() string {
	b := []byte{'a' + byte(v.known), 'a' + byte(v.age), 'a' + byte(v.phase)}
	for _, flag := range []bool{v.failure, v.verdict, v.guard, v.final, v.again} {
		b = strconv.AppendBool(b, flag)[:len(b)+1]
	}
	if v.source != nil {
		b = strconv.AppendInt(b, int64(v.source.pos), 10)
	}
	var text strings.Builder
	text.Write(b)
	text.WriteString(v.identity())
	if v.closure != nil {
		text.WriteString(v.closure.String())
		for _, bound := range v.bound {
			text.WriteString("," + bound.name)
		}
	}
	for _, part := range v.parts {
		text.WriteString("(" + part.key() + ")")
	}
	return text.String()
}

// field is a field of a struct value.
func (v value) field(path string, p phase) value {
	if f, ok := v.fields[path]; ok {
		return f
	}
	inner := value{age: v.age, phase: v.phase, source: v.source, name: v.name + path, guard: v.guard}
	for at, f := range v.fields {
		if rest, ok := strings.CutPrefix(at, path+"."); ok {
			if inner.fields == nil {
				inner.fields = map[string]value{}
			}
			inner.fields["."+rest] = f
		}
	}
	return inner
}

// join is a value made of others.
func join(p phase, name string, of ...value) value {
	joined := value{phase: p, name: name}
	for _, v := range of {
		a := v.ageIn(p)
		if a != same && v.source != nil && (joined.source == nil || v.source.kind > joined.source.kind) {
			joined.source = v.source
		}
		joined.age = max(joined.age, a)
		joined.guard = joined.guard || v.guard && v.phase == p
		joined.verdict = joined.verdict || v.verdict
		joined.failure = joined.failure || v.failure
		for _, f := range v.fields {
			inner := join(p, "", f)
			joined.age = max(joined.age, inner.age)
			if joined.source == nil {
				joined.source = inner.source
			}
		}
	}
	return joined
}

// fieldName is the path of one field.
func fieldName(t types.Type, index int) string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		return "." + s.Field(index).Name()
	}
	return "." + strconv.Itoa(index)
}
