package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A mutant counts only when its test passes without it, and fails with it.
func TestRun(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":    "module small\n\ngo 1.26\n",
		"a.go":      "package small\n\nfunc one() int { return 1 }\n\nfunc two() int { return 2 }\n",
		"a_test.go": "package small\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Fail()\n\t}\n}\n\nfunc TestFails(t *testing.T) { t.Fail() }\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o600))
	}
	good := mutant{name: "m", file: filepath.Join(root, "a.go"), old: "return 1", new: "return 3", pkg: root, test: "TestOne"}
	var said strings.Builder
	require.True(t, run([]mutant{good}, &said), said.String())
	require.Equal(t, "mutants: 1\nm: TestOne fails\n", said.String())
	for want, change := range map[string]func(*mutant){
		"SURVIVES: TestOne passes":                   func(m *mutant) { m.old, m.new = "return 2", "return 3" },
		"a.go 0 times, not once":                     func(m *mutant) { m.old = "return 4" },
		"a.go 2 times, not once":                     func(m *mutant) { m.old = "return" },
		"TestOne did not finish":                     func(m *mutant) { m.new = "does not compile" },
		"TestFails does not pass without a change":   func(m *mutant) { m.test = "TestFails" },
		"TestNothing does not pass without a change": func(m *mutant) { m.test = "TestNothing" },
		"no such file or directory":                  func(m *mutant) { m.file = filepath.Join(root, "b.go") },
	} {
		m := good
		change(&m)
		said.Reset()
		require.False(t, run([]mutant{m}, &said), want)
		require.Contains(t, said.String(), want)
	}
}

func TestConcerned(t *testing.T) {
	t.Parallel()
	all := []mutant{{file: "a.go", pkg: "./a"}, {file: "b.go", pkg: "./tests/b"}}
	require.Equal(t, all[:1], concerned(all, []string{"a.go", "c.go"}))
	require.Equal(t, all[1:], concerned(all, []string{"tests/b/b_test.go", "a/a.go"}))
	require.Equal(t, all, concerned(all, []string{"tools/mutants/list.go"}))
	require.Empty(t, concerned(all, []string{""}))
}

// The texts of the list are in the source.
func TestListFitsTheSource(t *testing.T) {
	t.Parallel()
	for _, m := range mutants() {
		source, err := os.ReadFile(filepath.Join("..", "..", m.file))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(source), m.old), m.name)
	}
}
