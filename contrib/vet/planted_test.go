package prepaidvet_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	prepaidvet "github.com/cardprograms/prepaid/contrib/vet"
)

// Each mistake in testdata/planted is marked "want: rule" and has a right twin nearby. Each rule has a section in the README with code whose wrong line is marked. Exactly these are reported.
func TestPlanted(t *testing.T) {
	t.Parallel()
	module := module(t)
	readme(t, module)
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: module,
		Env: append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=mod"),
	}, "./...")
	require.NoError(t, err)
	require.Zero(t, packages.PrintErrors(loaded))
	graph, err := checker.Analyze(prepaidvet.Analyzers(), loaded, nil)
	require.NoError(t, err)
	var found []string
	for _, action := range graph.Roots {
		require.NoError(t, action.Err)
		for _, diagnostic := range action.Diagnostics {
			require.True(t, strings.HasSuffix(diagnostic.URL, "README.md#"+action.Analyzer.Name))
			at := action.Package.Fset.Position(diagnostic.Pos)
			file, err := filepath.Rel(module, at.Filename)
			require.NoError(t, err)
			found = append(found, mistake(file, at.Line, action.Analyzer.Name))
		}
	}
	wanted := marks(t, module)
	slices.Sort(found)
	slices.Sort(wanted)
	require.Equal(t, wanted, found)
}

// mistake is a line of the planted program, and the rule that it breaks.
func mistake(file string, line int, rule string) string {
	return fmt.Sprintf("%s:%d: %s", filepath.ToSlash(file), line, rule)
}

// module is a copy of the planted program with its go.mod.
func module(t *testing.T) string {
	t.Helper()
	module := t.TempDir()
	require.NoError(t, os.CopyFS(module, os.DirFS(filepath.Join("testdata", "planted"))))
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	goMod := "module planted\n\ngo 1.26.0\n\nrequire github.com/cardprograms/prepaid v0.0.0\n\nreplace github.com/cardprograms/prepaid => " + root + "\n"
	stubs := filepath.Join("testdata", "stubs")
	require.NoError(t, filepath.WalkDir(stubs, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) == ".mod" {
			return err
		}
		directory := filepath.Dir(path)
		name, err := filepath.Rel(stubs, directory)
		require.NoError(t, err)
		name = filepath.ToSlash(name)
		major := "v0"
		if at := strings.LastIndex(name, "/v"); at > 0 {
			major = name[at+1:]
		}
		to := filepath.Join(module, "stubs", filepath.FromSlash(name))
		require.NoError(t, os.CopyFS(to, os.DirFS(directory)))
		require.NoError(t, os.WriteFile(filepath.Join(to, "go.mod"), []byte("module "+name+"\n"), 0o644))
		goMod += "\nrequire " + name + " " + major + ".0.0\n\nreplace " + name + " => ./stubs/" + name + "\n"
		return nil
	}))
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(module, "go.sum"), sums, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(module, "go.mod"), []byte(goMod), 0o644))
	return module
}

// marks are the comments "want: outcome" of the program.
func marks(t *testing.T, module string) (wanted []string) {
	t.Helper()
	mark := regexp.MustCompile(`// want: ([a-z ]+)
?$`)
	require.NoError(t, fs.WalkDir(os.DirFS(module), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(module, path))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			if found := mark.FindStringSubmatch(line); found != nil {
				for rule := range strings.FieldsSeq(found[1]) {
					wanted = append(wanted, mistake(path, i+1, rule))
				}
			}
		}
		return nil
	}))
	return wanted
}

// The packages that the code of the README may import.
var imports = []string{
	"context", "errors", "fmt", "github.com/cardprograms/prepaid", "github.com/cardprograms/prepaid/journal", "github.com/cardprograms/prepaid/journal/journalfile",
}

// readme writes the code of the README into packages of the module. The first piece of each section is wrong.
func readme(t *testing.T, module string) {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, rule := range prepaidvet.Analyzers() {
		require.True(t, strings.HasSuffix(rule.URL, "/contrib/vet/README.md#"+rule.Name), rule.URL)
		section := regexp.MustCompile(`(?ms)^## ` + rule.Name + `\n(.*?)(^## |\z)`).FindSubmatch(readme)
		require.NotNil(t, section, "the README has no section %q", rule.Name)
		code := regexp.MustCompile("(?ms)^```go\n(.*?)```$").FindAllSubmatch(section[1], -1)
		require.NotEmpty(t, code, "the section %q needs a wrong form", rule.Name)
		for i, block := range code {
			name := fmt.Sprintf("readme/%s%d", rule.Name, i)
			var file strings.Builder
			file.WriteString("package p\n\n")
			for _, path := range imports {
				if regexp.MustCompile(`\b` + filepath.Base(path) + `\.`).Match(block[1]) {
					fmt.Fprintf(&file, "import %q\n", path)
				}
			}
			text := strings.ReplaceAll(string(block[1]), "// wrong", "// want: "+rule.Name)
			require.NoError(t, os.MkdirAll(filepath.Join(module, name), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(module, name, "code.go"), []byte(file.String()+text), 0o644))
		}
	}
}
