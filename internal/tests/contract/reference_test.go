package contract

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/operations"
)

// TestFixturesHoldEveryMember compares the members of the tables with those of the files, in both directions.
func TestFixturesHoldEveryMember(t *testing.T) {
	t.Parallel()
	type members struct{ query, request, response map[string]bool }
	held := map[string]members{}
	for _, f := range ReadFixtures(t) {
		if _, ok := held[f.Operation]; !ok {
			held[f.Operation] = members{map[string]bool{}, map[string]bool{}, map[string]bool{}}
		}
		m := held[f.Operation]
		for name := range f.Request.Query {
			m.query[name] = true
		}
		collectMembers(t, f.Request.Body, m.request)
		switch {
		case f.Response.Status >= 300 || f.Response.Status == 204, strings.HasPrefix(f.Operation, "PIN."),
			strings.Contains(f.Outcome, "unknown-values"):
			// Error bodies, bodies that the reference does not show, and bodies with more members.
		default:
			collectMembers(t, f.Response.Body, m.response)
		}
	}
	require.Len(t, held, len(operations.All()))
	for _, want := range operations.All() {
		name, got := want.Name, held[want.Name]
		maps.DeleteFunc(got.response, func(member string, _ bool) bool { // the payload of a message is not shown
			return name == "Hooks.Undeliverable" && strings.HasPrefix(member, "transaction")
		})
		for _, part := range []struct {
			what, want string
			got        map[string]bool
		}{{"query", want.Query, got.query}, {"request", want.Request, got.request}, {"response", want.Response, got.response}} {
			listed := slices.Compact(slices.Sorted(strings.FieldsSeq(part.want)))
			require.Equal(t, listed, slices.Sorted(maps.Keys(part.got)), "%s: %s", name, part.what)
		}
	}
}

// collectMembers adds the names of all members in a JSON value, with the object's name before those of inner objects.
func collectMembers(t *testing.T, data json.RawMessage, into map[string]bool) {
	t.Helper()
	if data == nil {
		return
	}
	var walk func(prefix string, value any)
	walk = func(prefix string, value any) {
		switch value := value.(type) {
		case []any:
			for _, element := range value {
				walk(prefix, element)
			}
		case map[string]any:
			for name, inner := range value {
				into[prefix+name] = true
				walk(prefix+name+".", inner)
			}
		}
	}
	walk("", fixtureJSON(t, data))
}
