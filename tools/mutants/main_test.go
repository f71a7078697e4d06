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
	good := mutant{name: "m", file: filepath.Join(root, "a.go"), old: "return 1", new: "return 3", module: root, pkg: ".", test: "TestOne"}
	var all []mutant
	wants := []string{"m: TestOne fails, "}
	for want, change := range map[string]func(*mutant){
		"SURVIVES: TestOne passes":         func(m *mutant) { m.old, m.new = "return 2", "return 3" },
		"a.go 0 times, not once":           func(m *mutant) { m.old = "return 4" },
		"a.go 2 times, not once":           func(m *mutant) { m.old = "return" },
		"TestOne did not finish":           func(m *mutant) { m.new = "does not compile" },
		"TestFails fails without a change": func(m *mutant) { m.test = "TestFails" },
		"there is no test TestNothing":     func(m *mutant) { m.test = "TestNothing" },
		"no such file or directory":        func(m *mutant) { m.file = filepath.Join(root, "b.go") },
	} {
		m := good
		change(&m)
		all, wants = append(all, m), append(wants, want)
	}
	var said strings.Builder
	require.Zero(t, run(nil, []mutant{good}, &said, &said), said.String())
	require.Equal(t, 1, run(nil, all, &said, &said))
	for _, want := range wants {
		require.Contains(t, said.String(), want)
	}
	said.Reset()
	require.Zero(t, run([]string{"-run", "another"}, []mutant{good}, &said, &said))
	require.Equal(t, "mutants: 0\n", said.String())
	list := filepath.Join(root, "changed")
	for _, test := range []struct{ changed, want string }{
		{good.file, "mutants: 1\n"}, {"b.go", "mutants: 0\n"}, {"b.go\ntools/mutants/list.go", "mutants: 1\n"},
	} {
		require.NoError(t, os.WriteFile(list, []byte(test.changed+"\n"), 0o600))
		said.Reset()
		require.Zero(t, run([]string{"-changed", list}, []mutant{good}, &said, &said))
		require.Contains(t, said.String(), test.want)
	}
	require.Equal(t, 2, run([]string{"-changed", root}, nil, &said, &said))
	require.Equal(t, 2, run([]string{"-run", "("}, nil, &said, &said))
	require.Equal(t, 2, run([]string{"-more"}, nil, &said, &said))
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
