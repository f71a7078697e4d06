package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/tree"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// TestOperationsAgreeWithTheEmulator compares two readings of the reference: the client's and the emulator's.
func TestOperationsAgreeWithTheEmulator(t *testing.T) {
	t.Parallel()
	var names []string
	for _, row := range tree.Operations(t) {
		names = append(names, row.Method+" "+row.Path)
	}
	require.Equal(t, prepaidtest.Operations(), names, "the same operations in the order of the reference")
}
