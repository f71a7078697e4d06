package internal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

type stored struct {
	Name    string `json:"name"`
	Nick    string `json:"nick,omitzero"`
	Kind    string `json:"kind"`
	Count   int64  `json:"count,omitzero"`
	without string
}

func TestMembersAreTaken(t *testing.T) {
	t.Parallel()
	from, into := stored{Name: "a", Nick: "b", Kind: "c"}, stored{Kind: "k", Count: 1}
	into.without = "kept"
	wire.Assign(&into, &from, []string{"nick", "count"})
	require.Equal(t, stored{Nick: "b", Kind: "k", without: "kept"}, into)
	wire.FillIn(&into, &from)
	require.Equal(t, stored{Name: "a", Nick: "b", Kind: "k", without: "kept"}, into)
	wire.Take(&into, &stored{Kind: "c", Nick: ""})
	require.Equal(t, stored{Name: "a", Nick: "b", Kind: "c", without: "kept"}, into)
}
