package fleet_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/faults"
)

func TestList(t *testing.T) {
	t.Parallel()
	var l faults.List
	l.Require(true, "a", "is required")
	for _, key := range []string{"", "!~", strings.Repeat("k", 128)} {
		l.RequireKey("b", key)
	}
	require.NoError(t, l.Err())
	l.Require(false, "a", "is required")
	for _, key := range []string{"a b", "\x7f", "é", strings.Repeat("k", 129)} {
		l.RequireKey("b", key)
	}
	fault := prepaid.FieldError{Field: "b", Rule: "must be at most 128 printable ASCII characters without white space"}
	require.Equal(t, &prepaid.ValidationError{Faults: []prepaid.FieldError{{Field: "a", Rule: "is required"}, fault, fault, fault, fault}}, l.Err())
}
