package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// Fault is the field of an expected prepaid.FieldError, and a part of its rule.
type Fault struct{ Field, Rule string }

// RequireFaults checks a *ValidationError.
func RequireFaults(t *testing.T, err error, shown string, want ...Fault) {
	t.Helper()
	invalid, ok := errors.AsType[*prepaid.ValidationError](err)
	require.True(t, ok, "want *ValidationError, got %T: %v", err, err)
	fields := make([]string, 0, len(want))
	for _, w := range want {
		fields = append(fields, w.Field)
	}
	got := make([]string, 0, len(want))
	for _, f := range invalid.Faults {
		got = append(got, f.Field)
		require.NotEmpty(t, f.Rule)
		require.Contains(t, err.Error(), f.Field+" "+f.Rule)
	}
	require.Equal(t, fields, got, "%v", err)
	for i, w := range want {
		require.Contains(t, invalid.Faults[i].Rule, w.Rule)
	}
	asJSON, jsonErr := json.Marshal(invalid)
	require.NoError(t, jsonErr)
	RequireNoPart(t, shown, fmt.Sprintf("%v %+v %#v %s %s", err, invalid, *invalid, err, asJSON))
}

// RequireNoPart fails if text contains three successive characters of value. Shorter parts occur in too many words.
func RequireNoPart(t *testing.T, value, text string) {
	t.Helper()
	const window = 3
	runes := []rune(value)
	for i := range max(len(runes)-window+1, 0) {
		require.NotContains(t, text, string(runes[i:i+window]), "a part of the value")
	}
}
