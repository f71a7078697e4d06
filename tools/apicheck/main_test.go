package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// bench is a module with its listings and its changelog.
type bench struct {
	t    *testing.T
	root string
}

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{t, t.TempDir()}
	b.write("go.mod", "module host.example/owner/sdk\n\ngo 1.26.0\n")
	b.write("sdk.go", original)
	b.write("internal/x/x.go", "package x\n\nfunc Unseen() {}\n")
	b.write("cmd/run/main.go", "package main\n\nfunc main() {}\n")
	b.write("CHANGELOG.md", "# Changelog\n\n## 0.2.0, unreleased\n\n## 0.1.0\n\n- `Client.Get`\n")
	b.write("api/broken.txt", "")
	b.write("api/sdk.txt", originalListing)
	return b
}

const original = `package sdk

import "host.example/owner/sdk/internal/x"

type Client struct{ Name string }

func (Client) Get(id int) error { x.Unseen(); return nil }

type Store interface{ Load() }
`

const originalListing = `package host.example/owner/sdk
field Client.Name string
method (Client) Get(int) error
type Client struct
type Store interface{Load()}
`

func (b bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.root, name)
	require.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(b.t, os.WriteFile(path, []byte(text), 0o600))
}

func (b bench) read(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.root, name))
	require.NoError(b.t, err)
	return string(text)
}

// check returns the faults.
func (b bench) check(flags ...string) string {
	b.t.Helper()
	faults, err := check(b.t.Context(), b.root, []string{b.root}, len(flags) > 0)
	require.NoError(b.t, err)
	return strings.Join(faults, "\n")
}

func (b bench) passes(flags ...string) {
	b.t.Helper()
	require.Empty(b.t, b.check(flags...))
}

func (b bench) fails(with string, flags ...string) {
	b.t.Helper()
	require.Contains(b.t, b.check(flags...), with)
}

func TestListing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.NoError(t, os.Remove(filepath.Join(b.root, "api", "sdk.txt")))
	b.passes("-renew")
	require.Equal(t, originalListing, b.read("api/sdk.txt"))
	b.passes()
	names, err := filepath.Glob(filepath.Join(b.root, "api", "*"))
	require.NoError(t, err)
	require.Len(t, names, 2, "neither programs nor internal packages")
}

func TestChangesFail(t *testing.T) {
	t.Parallel()
	const gone = "INCOMPATIBLE: host.example/owner/sdk no longer has: "
	for name, c := range map[string]struct{ old, now, fault string }{
		"a parameter has another name": {"id int", "number int", ""},
		"a method is gone":             {"Get(", "get(", gone + "method (Client) Get(int) error"},
		"a method wants a pointer":     {"(Client)", "(*Client)", gone + "method (Client) Get(int) error"},
		"a parameter more":             {"id int", "id, of int", gone + "method (Client) Get(int) error"},
		"another field type":           {"Name string", "Name []string", gone + "field Client.Name string"},
		"no longer comparable":         {"Name string", "Name string; f func()", gone + "type Client struct"},
		"an interface has more":        {"Load()", "Load(); Save()", gone + "type Store interface{Load()}"},
		"an addition":                  {"Name string", "Name, Title string", "new, not listed: host.example/owner/sdk has: field Client.Title string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			require.Contains(t, original, c.old)
			b.write("sdk.go", strings.Replace(original, c.old, c.now, 1))
			if c.fault == "" {
				b.passes()
				return
			}
			b.fails(c.fault)
		})
	}
}

func TestAnAdditionIsRenewed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("more/more.go", "package more\n\nconst One = 1\n")
	b.fails("new, not listed: host.example/owner/sdk/more has: (the whole package)")
	b.passes("-renew")
	b.passes()
	require.Equal(t, "package host.example/owner/sdk/more\nconst One untyped int = 1\n", b.read("api/sdk-more.txt"))
	require.Empty(t, b.read("api/broken.txt"))
}

func TestABreakIsNamedInTheChangelog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("sdk.go", strings.Replace(original, "Get(", "get(", 1))
	const fault = "the latest section does not name `Client.Get`, which changed incompatibly"
	b.fails(fault, "-renew")
	b.fails(fault)
	b.fails(fault, "-renew")
	require.Equal(t, "package host.example/owner/sdk\nmethod (Client) Get(int) error\n", b.read("api/broken.txt"))

	b.write("CHANGELOG.md", "# Changelog\n\n## 0.2.0, unreleased\n\n- `Client.Get` is gone.\n\n## 0.1.0\n")
	b.passes()
	b.write("CHANGELOG.md", "# Changelog\n\n## 0.2.0, unreleased\n")
	b.fails(fault)
	b.write("sdk.go", original)
	b.passes("-renew")
	require.Empty(t, b.read("api/broken.txt"), "what came back breaks nobody")
}

func TestATypeAndAPackageThatAreGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("more/more.go", "package more\n\ntype T struct{ A, B int }\n")
	b.write("sdk.go", "package sdk\n\ntype Store interface{ Load() }\n")
	b.write("CHANGELOG.md", "## 0.2.0\n\n- `sdk.Client` is gone.\n")
	b.passes("-renew") // the type's name stands for its field and its method
	require.NoError(t, os.RemoveAll(filepath.Join(b.root, "more")))
	b.fails("INCOMPATIBLE: host.example/owner/sdk/more no longer has: (the whole package)")
	b.fails("does not name `more`", "-renew")
	require.NoFileExists(t, filepath.Join(b.root, "api", "sdk-more.txt"))
	b.write("CHANGELOG.md", "## 0.2.0\n\n- `sdk.Client` and package `more` are gone.\n")
	b.passes()
}

func TestWhatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	refuses := func(want string) {
		_, err := check(t.Context(), b.root, []string{b.root}, false)
		require.ErrorContains(t, err, want)
	}
	b.write("sdk.go", "package sdk\n\nfunc {")
	refuses("sdk.go:3")
	b.write("sdk.go", original)
	require.NoError(t, os.Remove(filepath.Join(b.root, "CHANGELOG.md")))
	refuses("CHANGELOG.md")
}
