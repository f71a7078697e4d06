// Package tree reads parts of the repository for tests in any folder.
package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Root returns the folder of the module.
func Root(t testing.TB) string {
	t.Helper()
	root, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(root, "reference", "openapi.yaml")); err == nil {
			return root
		}
		parent := filepath.Dir(root)
		require.NotEqual(t, root, parent, "the test does not run in the repository")
		root = parent
	}
}

// Source parses the client's package without its tests.
func Source(t testing.TB) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(Root(t), "*.go"))
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	return files
}

// Committed requires that a file of the repository has a text. With PREPAID_TEST_RENEW it writes the file instead. A failure shows the
// lines from the first difference on.
func Committed(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(Root(t), filepath.FromSlash(name))
	if os.Getenv("PREPAID_TEST_RENEW") != "" {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	read, err := os.ReadFile(path)
	require.NoError(t, err)
	committed := strings.ReplaceAll(string(read), "\r\n", "\n") // a checkout may have added \r
	if committed == text {
		return
	}
	before, after := strings.Split(committed, "\n"), strings.Split(text, "\n")
	first := 0
	for first < min(len(before), len(after)) && before[first] == after[first] {
		first++
	}
	const shown = 10
	require.Fail(t, name+" is stale: make api-renew", "line %d:\n-%s\n+%s", first+1,
		strings.Join(before[first:min(first+shown, len(before))], "\n-"), strings.Join(after[first:min(first+shown, len(after))], "\n+"))
}
