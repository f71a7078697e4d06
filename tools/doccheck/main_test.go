package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600))
	}
	write("good.go", "// Package p is here.\npackage p\n\n// ErrLost is lost.\nvar ErrLost = 1\n")
	write("operations.md", "# Operations\n")
	write("reference-map.md", "# Map\n")
	write("errors.md", "| Sentinel | Go |\n|---|---|\n| lost | `ErrLost` |\n")
	call := func(arguments ...string) (int, string, string) {
		var out, problems bytes.Buffer
		code := run(arguments, &out, &problems)
		return code, out.String(), problems.String()
	}

	code, out, problems := call("-docs", directory, directory)
	require.Zero(t, code, out+problems)
	require.Empty(t, out+problems)

	code, _, problems = call()
	require.Equal(t, 2, code)
	require.Contains(t, problems, "at least one directory")

	code, _, _ = call("-unknown")
	require.Equal(t, 2, code)

	code, _, problems = call(filepath.Join(directory, "missing"))
	require.Equal(t, 2, code)
	require.Contains(t, problems, "no Go files")

	code, _, _ = call("-docs", filepath.Join(directory, "missing"), directory)
	require.Equal(t, 2, code)

	write("proofs.md", "`TestRun` `TestThatIsNot`\n")
	code, out, _ = call("-proofs", filepath.Join(directory, "proofs.md"), directory)
	require.Equal(t, 1, code)
	require.Contains(t, out, "proofs.md:1: there is no TestThatIsNot")
	require.NotContains(t, out, "no TestRun")
	code, _, _ = call("-proofs", filepath.Join(directory, "missing.md"), directory)
	require.Equal(t, 2, code)

	write("errors.md", "# Errors\n")
	code, out, _ = call("-docs", directory, directory)
	require.Equal(t, 1, code)
	require.Contains(t, out, "ErrLost is not in the error catalogue")

	code, out, _ = call(directory)
	require.Zero(t, code, out)
}
