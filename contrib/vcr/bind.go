package prepaidvcr

import (
	"slices"
	"strings"
)

// boundKey is a value, or a pseudonym, of one kind.
type boundKey struct{ kind, text string }

// bindings are a replay's mapping of values: the pseudonyms of this cassette, and for each value of the caller its
// pseudonym. The first use of an ID binds the ID to a pseudonym for the whole replay.
type bindings struct {
	onTape map[string]bool
	tape   map[boundKey]string // the pseudonym of an ID
	own    map[boundKey]string // the ID of a pseudonym
	sent   sentValues          // in all requests so far
}

func newBindings() *bindings {
	return &bindings{onTape: map[string]bool{}, tape: map[boundKey]string{}, own: map[boundKey]string{}, sent: sentValues{}}
}

// learn records the pseudonyms of a recorded exchange.
func (b *bindings) learn(leaves []leaf) {
	for _, l := range leaves {
		if l.scrubs() && distinguishes(l.value) {
			b.onTape[l.value] = true
		}
	}
}

// distinguishes reports whether a pseudonym identifies its value. Constants, zeros and dates do not: there are too few dates,
// and the client may write a date in a form other than the one that it read.
func distinguishes(pseudonym string) bool {
	switch pseudonym {
	case stateConstant, alpha2Constant, alpha3Constant, sexConstant:
		return false
	}
	return strings.Trim(pseudonym, "0") != "" && !isDate(pseudonym)
}

// contradictions returns the places where a value in request contradicts the recorded request. The requests match otherwise.
func (b *bindings) contradictions(request, recorded *scrubbedRequest) []string {
	var places []string
	for l, there := range pairsOf(request, recorded) {
		if l.value != there && b.contradicts(request.operation, l, there) {
			places = append(places, l.where)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

func (b *bindings) contradicts(op *operation, l leaf, there string) bool {
	if b.onTape[l.value] {
		return true
	}
	kind := kindOf(op, l.where)
	if kind == "" {
		return false
	}
	pseudonym, bound := b.tape[boundKey{kind, l.value}]
	own, taken := b.own[boundKey{kind, there}]
	return bound && pseudonym != there || taken && own != l.value
}

// bind records the pseudonyms that stand for the values of request.
func (b *bindings) bind(request, recorded *scrubbedRequest) {
	for l, there := range pairsOf(request, recorded) {
		if l.value == there {
			continue
		}
		b.sent.add(there, labelOf(request.operation, l.where), l.value)
		if kind := kindOf(request.operation, l.where); kind != "" {
			b.tape[boundKey{kind, l.value}] = there
			b.own[boundKey{kind, there}] = l.value
		}
	}
}

// pairsOf iterates over scrubbed values of request that can be distinguished, with the recorded pseudonyms. It omits
// members whose names are not in the schema: their order may differ.
func pairsOf(request, recorded *scrubbedRequest) func(yield func(leaf, string) bool) {
	return func(yield func(leaf, string) bool) {
		there, next := recorded.scrubbedValues(), map[string]int{}
		for _, l := range request.leaves {
			if !l.scrubs() {
				continue
			}
			i := next[l.where]
			next[l.where]++
			if strings.Contains(l.where, unknownName) || l.value == "" || i >= len(there[l.where]) || !distinguishes(there[l.where][i]) {
				continue
			}
			if !yield(l, there[l.where][i]) {
				return
			}
		}
	}
}

// kindOf returns the kind of ID in this place; empty if the place has no ID. Other texts may change with each run: two
// texts made within a second may be equal in one run and different in the next.
func kindOf(op *operation, where string) string {
	if op == nil || op.name == tokenName {
		return ""
	}
	if parameter, ok := strings.CutPrefix(where, "path "); ok {
		switch {
		case parameter == "{companyid}", parameter == "{id}" && strings.HasPrefix(op.path, "/policy/"):
			return companyKind
		case parameter == "{id}" && strings.HasPrefix(op.path, "/accounts/"):
			return accountKind
		}
		return parameter
	}
	name := nameOf(where)
	if strings.HasSuffix(name, "account_id") {
		return accountKind
	}
	for _, ending := range []string{"id", "ids", "_key", "account_number"} {
		if strings.HasSuffix(name, ending) {
			return name
		}
	}
	return ""
}

const (
	accountKind = "account"
	companyKind = "company_id"
)

// nameOf returns the name of the member or parameter in a place.
func nameOf(where string) string {
	name := where[strings.LastIndexAny(where, ". ")+1:]
	name, _, _ = strings.Cut(name, "[")
	return name
}
