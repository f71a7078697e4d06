package prepaidtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/operations"
)

// specLine is a line of testdata/spec.txt: a row, rule, field, code or limit of the reference with the tests that
// prove it. Where the reference shows nothing, the line (kind open) names the default or option that applies.
type specLine struct {
	section, kind, text string
	tests               []string
}

// specCounts are the reference's lines by section and kind, counted manually except for the operations' rows.
func specCounts(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{
		"1 row":     8,
		"2.1 field": 3, "2.2 field": 5, "2.3 field": 13, "2.4 field": 7, "2.5 field": 3, "2.6 field": 1, "2.7 field": 1, "2.8 field": 1, "2.8 open": 1, "2.9 field": 1,
		"2.15 field": 2,
		"3.1 row":    3, "3.1 open": 3, "3.2 row": 5, "3.3 row": 6, "3.4 row": 2, "3.5 open": 1,
		"4 rule": 1, "4.1 row": 4, "4.2 open": 2, "4.3 rule": 3,
		"4.4 field": 33, "4.4 open": 8, "4.5 open": 1, "4.6 rule": 3, "4.6 open": 5,
		"4.7 row": -1 /* validate and execute have one */, "4.7 rule": 6, "4.7 open": 2, "4.8 code": 12, "4.8 open": 2,
		"5 rule": 7, "6 row": 3, "6 rule": 3, "6 open": 5,
		"7 row": 10, "7 code": 9, "7 open": 1, "8 limit": 14, "8 open": 2, "9 rule": 3,
	}
	for _, operation := range operations.All() {
		counts[operation.Section+" row"]++
	}
	return counts
}

func readSpec(t *testing.T) []specLine {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "spec.txt"))
	require.NoError(t, err)
	var lines []specLine
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		require.Len(t, parts, 4, line)
		found := specLine{section: parts[0], kind: parts[1], text: parts[2]}
		for name := range strings.FieldsSeq(parts[3]) {
			found.tests = append(found.tests, specTest(parts[0], name))
		}
		require.NotEmpty(t, found.tests, line)
		lines = append(lines, found)
	}
	return lines
}

// specTest completes a name: it is of the line's own section, unless it begins with another. A status such as
// 400 at its beginning is no section.
func specTest(section, name string) string {
	if first := name[0]; first >= '0' && first <= '9' && name[1] == '_' {
		return "TestSpec_" + name
	}
	return "TestSpec_" + strings.ReplaceAll(section, ".", "_") + "_" + name
}

// declaredTests are the tests of this package, read from its files.
func declaredTests(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range parsed.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "TestSpec_") {
				names = append(names, function.Name.Name)
			}
		}
	}
	return names
}

// Every row of the reference names existing tests, every test with a section belongs to a row, and no row can
// be dropped unnoticed.
func TestSpec_Index(t *testing.T) {
	t.Parallel()
	counted, named, texts := make(map[string]int), map[string]bool{"TestSpec_Index": true}, make(map[string]bool)
	for _, line := range readSpec(t) {
		counted[line.section+" "+line.kind]++
		require.False(t, texts[line.section+line.text], "twice: %s %s", line.section, line.text)
		texts[line.section+line.text] = true
		for _, name := range line.tests {
			named[name] = true
		}
	}
	require.Equal(t, specCounts(t), counted)
	declared := declaredTests(t)
	for _, name := range declared {
		require.True(t, named[name], "%s is in no line", name)
	}
	for name := range named {
		require.Contains(t, declared, name)
	}
}
