// Package vettest runs rules over packages of their testdata, next to a stub of the SDK.
package vettest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// Run checks the packages of testdata/src, which can import the stubs of this package's testdata, against their "want" comments
// and, if there are any, their .golden files with the suggested fixes applied.
func Run(t *testing.T, rule *analysis.Analyzer, packages ...string) {
	t.Helper()
	analysistest.RunWithSuggestedFixes(t, Tree(t), rule, packages...)
}

// Tree is a directory that has the rule's testdata and the stubs.
func Tree(t *testing.T) string {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	require.True(t, ok)
	tree := t.TempDir()
	for _, part := range []string{filepath.Join(filepath.Dir(here), "testdata"), "testdata"} {
		require.NoError(t, os.CopyFS(tree, os.DirFS(part)))
	}
	return tree
}
