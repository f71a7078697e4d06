package tree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// One operation of each class stands for it, in the order of the table, and no class is without one.
func TestOneOfEach(t *testing.T) {
	t.Parallel()
	operations := Operations(t)
	first := OneOfEach(operations, Operation.Class)
	require.Less(t, len(first), len(operations)/2)
	classes := map[string]int{}
	for _, one := range first {
		classes[one.Class()]++
	}
	for _, one := range operations {
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
