package prepaidvcr

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// named are the names that the program adds to the schema.
type named struct {
	keep, scrub []string
	calls       []string // method and path
}

// Headers that a recording adds to a request, so that replays and checks need no settings.
const (
	keptNamesHeader     = "Kept-Names"
	scrubbedNamesHeader = "Scrubbed-Names"
	callHeader          = "Raw-Call"
)

var inArray = regexp.MustCompile(`\[[0-9]+\]`)

var isCall = matching(`^(GET|POST|PUT|PATCH|DELETE) (/([A-Za-z_-]+|\{[A-Za-z_-]+\}))+$`)

// scrubs reports whether the schema scrubs the values of a name: a program must not keep them elsewhere. Nor must it keep the secrets that
// the schema lacks, since they are encrypted or in a header.
func (s *schema) scrubs(name string) bool {
	seen := map[*shape]bool{}
	return slices.Contains([]string{"otp", "pin", "client_secret"}, name) || slices.ContainsFunc(s.operations, func(o operation) bool {
		return (&shape{members: o.query}).scrubs(name, seen) || o.request.scrubs(name, seen) || o.response.scrubs(name, seen)
	})
}

func (s *shape) scrubs(name string, seen map[*shape]bool) bool {
	if s == nil || seen[s] {
		return false
	}
	seen[s] = true
	for member, inner := range s.members {
		if member == name && inner.keep == nil && inner.members == nil || inner.scrubs(name, seen) {
			return true
		}
	}
	return s.element.scrubs(name, seen)
}

// namedBy returns the names that a recorded request lists.
func namedBy(header map[string][]string) named {
	return named{keep: header[keptNamesHeader], scrub: header[scrubbedNamesHeader], calls: header[callHeader]}
}

// list adds the used names and the call to a header.
func (n named) list(header map[string][]string, operation *operation, used []string) {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(used))) {
		key := scrubbedNamesHeader
		if slices.Contains(n.keep, name) {
			key = keptNamesHeader
		}
		header[key] = append(header[key], name)
	}
	if operation != nil && slices.Contains(n.calls, operation.name) {
		header[callHeader] = []string{operation.name}
	}
}

// with returns the schema with further names.
func (s *schema) with(n named) *schema {
	more := *s
	more.named = n
	more.operations = slices.Clone(s.operations)
	for _, call := range n.calls {
		method, path, _ := strings.Cut(call, " ")
		more.operations = append(more.operations, operation{name: call, method: method, path: path})
	}
	return &more
}

// leftOut returns the places of a response in which a replay would have zero instead of the value. A failure shows no
// values, and the client itself reads the response to a token request.
func (s *schema) leftOut(operation *operation, status int, leaves []leaf) []string {
	if status >= http.StatusMultipleChoices || operation != nil && operation.name == tokenName {
		return nil
	}
	return placesOf(leaves)
}

// placesOf returns the places of values that are left out, each place once.
func placesOf(leaves []leaf) []string {
	places := map[string]bool{}
	for _, l := range leaves {
		if !l.leftOut() {
			continue
		}
		where := inArray.ReplaceAllString(l.where, "")
		if l.unnamed && looksLikeCode(l.value) { // a single word may be a person's name
			where = strings.TrimSuffix(where, unknownName) + l.value
		}
		places[where] = true
	}
	return slices.Sorted(maps.Keys(places))
}
