package prepaidvcr

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/reference"
)

// Members of all kinds: only those that cannot have a person's data or a secret are kept.
func TestShapeOfNewMembers(t *testing.T) {
	t.Parallel()
	document, err := reference.Parse([]byte(`{"components": {"schemas": {"Amount": {"type": "number"}, "New": {"properties": {
		"text": {"type": "string"}, "number": {"type": "integer"}, "secret": {"enum": ["a"], "x-redact": "secret"},
		"day": {"type": "string", "format": "date-time", "x-redact": "personal"},
		"marked": {"x-redact": "personal", "properties": {"flag": {"type": "boolean"}}},
		"plain": {"type": "array", "items": {"properties": {"flag": {"type": "boolean"}}}},
		"status": {"type": "string", "enum": ["active"]}, "kind": {"type": "integer", "enum": [1]}, "sum": {"$ref": "#/components/schemas/Amount"},
		"load_amount": {"type": "number"}, "at": {"type": "string", "format": "date-time"}
	}}}}}`))
	require.NoError(t, err)
	known, _ := document.Schemas.Get("New")
	members := shapeOf("", known, false).members
	for _, name := range []string{"text", "number", "secret", "day"} {
		require.Nil(t, members[name].keep, name)
	}
	require.Equal(t, formDate, members["day"].form)
	require.Nil(t, members["marked"].members["flag"].keep)
	require.True(t, members["plain"].element.members["flag"].keep("true"))
	require.True(t, members["status"].keep("active"))
	require.False(t, members["status"].keep("mira"))
	require.True(t, members["kind"].keep("1"))
	require.True(t, members["sum"].keep("-25.50") && members["sum"].amount)
	require.False(t, members["load_amount"].keep("4111111111111111"))
	require.True(t, members["at"].keep("2026-11-21T22:14:45Z") && members["at"].varies)
	require.False(t, members["at"].keep("2026-11-21T22:14:45.4111111111111111Z"))
}

// The lists of kept and of narrow members have names of the reference. A kept one is never personal or secret.
func TestListedMembersExist(t *testing.T) {
	t.Parallel()
	kept, narrow := maps.Clone(keptNames), maps.Clone(narrowMembers)
	for _, s := range reference.Emulator().Schemas {
		for _, member := range s.Value.Properties {
			if keptNames[member.Name] != nil {
				require.Empty(t, member.Value.Redact, member.Name)
			}
			delete(kept, member.Name)
			delete(narrow, member.Name)
		}
	}
	for _, o := range reference.Emulator().Operations {
		for _, name := range o.Names() {
			delete(kept, name)
		}
	}
	require.Empty(t, kept)
	require.Empty(t, narrow)
}
