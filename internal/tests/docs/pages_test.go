package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// docs/operations.md has a row for each operation of the table, with its request and its safety class.
func TestOperationsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("docs", "operations.md"))
	require.NoError(t, err)
	operations := tree.Operations(t)
	for _, op := range operations {
		require.Contains(t, string(page), "\n| `client."+op.Name+"` | `"+op.Method+" "+op.Path+"` | "+op.Safety+" | ")
	}
	require.Equal(t, len(operations), strings.Count(string(page), "\n| `client."))
}

// The README can be read in five minutes.
func TestREADMEIsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), 8000)
}
