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
		if _, err := os.Stat(filepath.Join(root, "operations.txt")); err == nil {
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
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	return files
}
