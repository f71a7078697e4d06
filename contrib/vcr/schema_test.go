package prepaidvcr

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
)

// Each exception is of an operation, and differs from its method.
func TestExceptionsAreOperations(t *testing.T) {
	t.Parallel()
	for name, exception := range exceptions() {
		require.True(t, slices.ContainsFunc(operations.All(), func(o operations.Operation) bool { return o.Name == name }), name)
		require.NotEqual(t, operation{}, exception, name)
	}
}

// wireTypes are all types that the schema is derived from, with the types inside them.
func wireTypes() []reflect.Type {
	found := []reflect.Type{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || isScalarType(t) || slices.Contains(found, t) {
			return
		}
		found = append(found, t)
		for field := range t.Fields() {
			add(field.Type)
		}
	}
	for _, row := range operations.All() {
		sent, received := bodiesOf(row.Name)
		for _, root := range []reflect.Type{sent, received} {
			if root != nil {
				add(root)
			}
		}
	}
	return found
}

// No value of a field with a redact tag is kept, nor any value below it.
func TestTaggedFieldsAreNeverKept(t *testing.T) {
	t.Parallel()
	tagged := 0
	var never func(name string, s *shape, seen map[*shape]bool)
	never = func(name string, s *shape, seen map[*shape]bool) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		require.Nil(t, s.keep, name)
		never(name, s.element, seen)
		for inner, member := range s.members {
			never(name+"."+inner, member, seen)
		}
	}
	for _, wire := range wireTypes() {
		members := structMembers(wire, false)
		for field := range wire.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if _, ok := field.Tag.Lookup("redact"); ok && name != "" {
				tagged++
				never(wire.Name()+"."+name, members[name], map[*shape]bool{})
			}
		}
	}
	require.Greater(t, tagged, 60)
}

// A field of a type made for this test, with every kind of field: only kinds that cannot hold a person or a secret are kept.
func TestShapeOfNewFields(t *testing.T) {
	t.Parallel()
	type inner struct {
		Flag bool `json:"flag"`
	}
	type novel struct {
		Text    string                `json:"text"`
		Number  int                   `json:"number"`
		Secret  prepaid.Secret        `json:"secret"`
		Day     prepaid.Date          `json:"day"`
		Bytes   []byte                `json:"bytes"`
		Account prepaid.AccountID     `json:"account"`
		Marked  inner                 `json:"marked" redact:"personal"`
		Word    prepaid.Sex           `json:"word" redact:"personal"`
		Any     map[string]int        `json:"any"`
		Flag    bool                  `json:"on"`
		Status  prepaid.AccountStatus `json:"status"`
		Amount  *prepaid.Amount       `json:"amount"`
		Plain   []inner               `json:"plain"`
		At      time.Time             `json:"at"`
	}
	members := structMembers(reflect.TypeFor[novel](), false)
	for _, name := range []string{"text", "number", "secret", "day", "bytes", "account", "word", "any"} {
		require.Nil(t, members[name].keep, name)
	}
	require.Nil(t, members["marked"].members["flag"].keep)
	require.True(t, members["plain"].members["flag"].keep("true"))
	require.True(t, members["on"].keep("true"))
	require.True(t, members["status"].keep("active"))
	require.False(t, members["status"].keep("mira"))
	require.True(t, members["amount"].keep("-25.50"))
	require.False(t, members["amount"].keep("4111111111111111"))
	require.True(t, members["at"].keep("2026-11-21T22:14:45Z"))
	require.False(t, members["at"].keep("2026-11-21T22:14:45.4111111111111111Z"))
}

// The lists of kept and of narrow members name fields that exist, are untagged, and would not be kept without the list.
func TestListedMembersExist(t *testing.T) {
	t.Parallel()
	kept, narrow := maps.Clone(keptMembers), maps.Clone(narrowMembers)
	for _, wire := range wireTypes() {
		for field := range wire.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if _, ok := kept[wire.Name()+"."+name]; ok {
				_, tagged := field.Tag.Lookup("redact")
				require.False(t, tagged, name)
				delete(kept, wire.Name()+"."+name)
			}
			delete(narrow, name)
		}
	}
	require.Empty(t, kept)
	require.Empty(t, narrow)
}
