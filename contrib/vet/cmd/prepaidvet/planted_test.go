package main_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The modules that the planted program uses next to the SDK, and the stubs' directories.
var stubs = map[string]string{
	"github.com/avast/retry-go/v4 v4.0.0":   "../../internal/rules/retry/testdata/src/github.com/avast/retry-go/v4",
	"github.com/cenkalti/backoff/v5 v5.0.0": "../../internal/rules/retry/testdata/src/github.com/cenkalti/backoff/v5",
	"github.com/sethvargo/go-retry v0.0.0":  "../../internal/rules/retry/testdata/src/github.com/sethvargo/go-retry",
	"github.com/google/uuid v1.0.0":         "../../internal/rules/requestid/testdata/src/github.com/google/uuid",
	"golang.org/x/sync v0.0.0":              "testdata/golang.org/x/sync",
}

// mistake is a line and the rule it breaks. Its form is its package.
type mistake struct {
	file string
	line int
	rule string
}

func (m mistake) form() string { return m.file[:strings.LastIndex(m.file, "/")] }

// The program was written without knowledge of the rules. Each mistake is marked "want: rule", or "missed: rule" if the README
// lists it as missed, and has a correct twin nearby. Exactly the mistakes marked "want" are reported.
func TestPlanted(t *testing.T) {
	t.Parallel()
	module := t.TempDir()
	require.NoError(t, os.CopyFS(module, os.DirFS(filepath.Join("testdata", "planted"))))
	wanted, missed := marks(t, module)
	var goMod strings.Builder
	goMod.WriteString("module planted\n\ngo 1.26.0\n\nrequire github.com/cardprograms/prepaid v0.0.0\n\nreplace github.com/cardprograms/prepaid => " + root(t) + "\n")
	for stub, directory := range stubs {
		name, _, _ := strings.Cut(stub, " ")
		at := filepath.Join(module, "stubs", filepath.FromSlash(name))
		require.NoError(t, os.CopyFS(at, os.DirFS(directory)))
		require.NoError(t, os.WriteFile(filepath.Join(at, "go.mod"), []byte("module "+name+"\n\ngo 1.26.0\n"), 0o644))
		goMod.WriteString("\nrequire " + stub + "\n\nreplace " + name + " => ./stubs/" + name + "\n")
	}
	sums, err := os.ReadFile(filepath.Join(root(t), "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(module, "go.sum"), sums, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(module, "go.mod"), []byte(goMod.String()), 0o644))

	printed, status := run(t, module, build(t), "./...")
	require.Equal(t, 1, status, printed)
	require.Equal(t, wanted, reported(printed), printed)

	forms := map[string]bool{}
	for _, m := range wanted {
		forms[m.form()] = true
	}
	require.GreaterOrEqual(t, len(wanted), 40)
	require.GreaterOrEqual(t, len(forms), 8)
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	require.True(t, strings.Contains(string(readme), table(wanted, missed)), "the README must have this table:\n%s", table(wanted, missed))
}

// marks are the comments "want: outcome" and "missed: outcome" of the program.
func marks(t *testing.T, module string) (wanted, missed []mistake) {
	t.Helper()
	mark := regexp.MustCompile(`// (want|missed): ([a-z ]+)$`)
	for _, file := range glob(t, module) {
		text, err := os.ReadFile(filepath.Join(module, filepath.FromSlash(file)))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			found := mark.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
			if found == nil {
				continue
			}
			for rule := range strings.FieldsSeq(found[2]) {
				m := mistake{file, i + 1, rule}
				if found[1] == "missed" {
					missed = append(missed, m)
				} else {
					wanted = append(wanted, m)
				}
			}
		}
	}
	slices.SortFunc(wanted, compare)
	return wanted, missed
}

// glob are the files of the program, by their slash-separated paths.
func glob(t *testing.T, module string) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*/*.go", "*/*/*.go"} {
		found, err := filepath.Glob(filepath.Join(module, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, file := range found {
			relative, err := filepath.Rel(module, file)
			require.NoError(t, err)
			files = append(files, filepath.ToSlash(relative))
		}
	}
	return files
}

// reported are the lines that the tool prints.
func reported(printed string) []mistake {
	line := regexp.MustCompile(`(?m)^(?:vet: )?(\S+\.go):(\d+):\d+: .*#([a-z]+)\r?$`)
	var found []mistake
	for _, match := range line.FindAllStringSubmatch(printed, -1) {
		m := mistake{file: strings.TrimPrefix(filepath.ToSlash(match[1]), "./"), rule: match[3]}
		m.line, _ = strconv.Atoi(match[2])
		found = append(found, m)
	}
	slices.SortFunc(found, compare)
	return found
}

func compare(a, b mistake) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.rule, b.rule))
}

// table is the README's table.
func table(wanted, missed []mistake) string {
	type row struct {
		found, missed int
		forms         map[string]bool
	}
	rows := map[string]*row{}
	of := func(m mistake) *row {
		if rows[m.rule] == nil {
			rows[m.rule] = &row{forms: map[string]bool{}}
		}
		return rows[m.rule]
	}
	for _, m := range wanted {
		of(m).found++
		of(m).forms[m.form()] = true
	}
	for _, m := range missed {
		of(m).missed++
	}
	var text strings.Builder
	text.WriteString("| Rule | Found | Forms of code | Not seen |\n|---|---|---|---|\n")
	for _, rule := range slices.Sorted(maps.Keys(rows)) {
		r := rows[rule]
		fmt.Fprintf(&text, "| %s | %d | %d | %d |\n", rule, r.found, len(r.forms), r.missed)
	}
	return text.String()
}
