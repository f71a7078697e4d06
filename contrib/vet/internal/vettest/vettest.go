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
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// Run checks the packages of testdata against their "want" comments and, if there are any, their .golden files with the
// suggested fixes applied. Packages can import stubs of this package's testdata.
func Run(t *testing.T, testdata string, rule *analysis.Analyzer, patterns ...string) {
	t.Helper()
	analysistest.RunWithSuggestedFixes(t, Tree(t, testdata), rule, patterns...)
}

// Tree is a directory with the stubs and, unless testdata is "", a copy of the files there.
func Tree(t *testing.T, testdata string) string {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	require.True(t, ok)
	tree := t.TempDir()
	require.NoError(t, os.CopyFS(tree, os.DirFS(filepath.Join(filepath.Dir(here), "testdata"))))
	if testdata != "" {
		require.NoError(t, os.CopyFS(tree, os.DirFS(testdata)))
	}
	return tree
}

// Analyze runs rules over packages of a tree. There is an action for each rule and package.
func Analyze(t *testing.T, tree string, rules []*analysis.Analyzer, patterns ...string) []*checker.Action {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule,
		Dir:  tree,
		Env:  append(os.Environ(), "GOPATH="+tree, "GO111MODULE=off", "GOWORK=off", "GOPROXY=off"),
	}, patterns...)
	require.NoError(t, err)
	require.Zero(t, packages.PrintErrors(loaded))
	graph, err := checker.Analyze(rules, loaded, nil)
	require.NoError(t, err)
	require.Len(t, graph.Roots, len(rules)*len(patterns))
	for _, action := range graph.Roots {
		require.NoError(t, action.Err)
	}
	return graph.Roots
}
