package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/operations.md has a row for each operation of the table, with its request and its safety class.
func TestOperationsPage(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	require.NoError(t, err)
	table, err := os.ReadFile(filepath.Join(root, "operations.txt"))
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		safety := fields[slices.IndexFunc(fields, isSafety)]
		require.Contains(t, string(page), "\n| `client."+fields[2]+"` | `"+fields[0]+" "+fields[1]+"` | "+safety+" | ")
		rows++
	}
	require.Equal(t, rows, strings.Count(string(page), "\n| `client."))
}

// The README can be read in five minutes.
func TestREADMEIsShort(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), 8000)
}

func isSafety(field string) bool {
	return slices.Contains([]string{"token", "read", "replayable", "keyed", "never"}, field)
}
