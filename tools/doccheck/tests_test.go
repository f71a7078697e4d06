package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamedTestsExist(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("a_test.go", "package a\n\nfunc TestOne(t *testing.T) {}\n\nfunc FuzzTwo(f *testing.F) {}\n\n// func TestGone(t *testing.T) {}\n")
	write("contrib/b/b_test.go", "package b\n\nfunc TestThree(t *testing.T) {}\n")
	write("c.go", "package a\n\nfunc TestInNoTestFile() {}\n")
	document := write("SECURITY.md", "`TestOne` `FuzzTwo` `TestThree`\nTestWithoutQuotes\n`TestGone` and `TestInNoTestFile`\n")

	faults, err := testFaults(root, []string{document})
	require.NoError(t, err)
	require.Equal(t, []string{document + ":3: there is no TestGone", document + ":3: there is no TestInNoTestFile"}, faults)

	_, err = testFaults(root, []string{filepath.Join(root, "missing.md")})
	require.Error(t, err)
	_, err = testFaults(filepath.Join(root, "missing"), []string{document})
	require.Error(t, err)
	faults, err = testFaults(root, nil)
	require.NoError(t, err)
	require.Empty(t, faults)
}
