package tree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/operations"
)

// OneOfEach returns one operation of each class, in the order of the table, and omits no class.
func TestOneOfEach(t *testing.T) {
	t.Parallel()
	all := operations.All()
	first := OneOfEach(all, operations.Operation.Class)
	require.Less(t, len(first), len(all)/2)
	classes := map[string]int{}
	for _, one := range first {
		classes[one.Class()]++
	}
	for _, one := range all {
		require.Equal(t, 1, classes[one.Class()], one.Name)
	}
}

func TestSourceIsTheClients(t *testing.T) {
	t.Parallel()
	files := Source(t)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.Equal(t, "prepaid", file.Name.Name)
	}
}
