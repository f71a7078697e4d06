package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The package has one circle, a -> b -> c -> a, by a call, a field and a method. The circle needs d. d needs nothing.
var small = map[string]string{
	"go.mod":                 "module example.com/small\n\ngo 1.26\n",
	"a.go":                   "package small\n\nimport \"example.com/small/internal/low\"\n\n// T is here.\ntype T struct{ f int }\n\nfunc a() int { return b() + d + low.One }\n",
	"b.go":                   "package small\n\nfunc b() int { return new(U).m() }\n",
	"c.go":                   "package small\n\n// U is here.\ntype U struct{ t T }\n\nfunc (u *U) m() int { return u.t.f }\n",
	"d.go":                   "package small\n\nconst d = 1\n",
	"d_gen.go":               "// Code generated from nothing. DO NOT EDIT.\n\npackage small\n" + strings.Repeat("\n", mostLines),
	"a_test.go":              "package small\n",
	"internal/low/low.go":    "package low\n\n// One is 1.\nconst One = 1\n",
	"internal/tests/t/t.go":  "package t\n\nimport _ \"example.com/small\"\n",
	"cmd/run/main.go":        "package main\n\nfunc main() {}\n",
	"DESIGN.md":              "# Design\n\n```text\n" + "small -> low\n\nlow\n" + "```\n",
	"internal/low/more.go":   "package low\n",
	"internal/low/l_test.go": "package low\n",
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
}

func TestRun(t *testing.T) {
	root := t.TempDir()
	write(t, root, small)
	t.Chdir(root)
	var out, problems strings.Builder
	require.Zero(t, run(t.Context(), &out, &problems), problems.String())
	require.Equal(t, "4 files, 1 test files, the longest a.go with 8 lines\nlargest circle: 3 files: a.go b.go c.go\n", out.String())

	p, err := load(t.Context())
	require.NoError(t, err)
	p.printCircle(&problems, p.largestCircle())
	require.Equal(t, "a.go -> b.go: b\nb.go -> c.go: U m\nc.go -> a.go: T f\n", problems.String())

	t.Chdir(t.TempDir())
	require.Equal(t, 1, run(t.Context(), &out, &problems))
}

func TestLimits(t *testing.T) {
	root := t.TempDir()
	write(t, root, small)
	for i := range mostFiles {
		write(t, root, map[string]string{"e" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + ".go": "package small\n"})
	}
	write(t, root, map[string]string{
		"DESIGN.md":           "# Design\n",
		"d.go":                "package small\n\nconst d = 1\n" + strings.Repeat("\n", mostLines),
		"low/internal/x/x.go": "package x\n\nimport _ \"example.com/small/low\"\n",
		"low/low.go":          "package low\n",
	})
	t.Chdir(root)
	var out, problems strings.Builder
	require.Equal(t, 1, run(t.Context(), &out, &problems))
	for _, want := range []string{
		"layout: 39 Go files, at most 35\n", "layout: 453 lines in d.go, at most 450\n",
		"layout: example.com/small/low/internal/x imports example.com/small/low, which is above it\n", "layout: DESIGN.md does not show the packages as they are:\nsmall -> low",
	} {
		require.Contains(t, problems.String(), want)
	}
}
