package prepaid_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/stretchr/testify/require"
)

// TestOperationsAgreeWithTheEmulator compares two readings of the reference: the client's and the emulator's.
func TestOperationsAgreeWithTheEmulator(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("operations.txt")
	require.NoError(t, err)
	var names []string
	for line := range strings.Lines(string(content)) {
		if columns := strings.Fields(line); columns[0] != "#" {
			names = append(names, columns[0]+" "+columns[1])
		}
	}
	require.Equal(t, prepaidtest.Operations(), names, "the same operations in the order of the reference")
}
