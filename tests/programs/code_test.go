package programs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The Go code of the guides, READMEs and the package comment is in compiled files; most of it is in examples and tests that
// run. Indentation and comments do not count.
func TestDocumentCodeIsCompiledCode(t *testing.T) {
	t.Parallel()
	atRoot(t)
	code := compiledCode(t)
	fenced := regexp.MustCompile("(?s)```go\n(.*?)```")
	documents, err := filepath.Glob(filepath.Join("docs", "*.md"))
	require.NoError(t, err)
	seen := 0
	documents = append(documents, "README.md", filepath.Join("prepaidtest", "README.md"),
		filepath.Join("contrib", "otel", "README.md"), filepath.Join("contrib", "redis", "README.md"),
		filepath.Join("contrib", "postgres", "README.md"))
	for _, document := range documents {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
			requireCompiled(t, code, document, block[1])
			seen++
		}
	}
	require.Greater(t, seen, 20)

	comment, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	blocks := regexp.MustCompile(`(?m)(^//\t.*\n)(//(\t.*)?\n)*`).FindAllString(string(comment), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		requireCompiled(t, code, "doc.go", regexp.MustCompile(`(?m)^//`).ReplaceAllString(block, ""))
	}
}

// compiledCode returns every Go file of the module and its nested modules, without comments.
func compiledCode(t *testing.T) string {
	t.Helper()
	code, err := readCode()
	require.NoError(t, err)
	return code
}

var readCode = sync.OnceValues(func() (string, error) {
	var code strings.Builder
	tree := os.DirFS(".")
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(tree, path)
		code.WriteString("\n" + plainLines(string(text)))
		return err
	})
	return code.String(), err
})

func requireCompiled(t *testing.T, code, document, block string) {
	t.Helper()
	require.True(t, strings.Contains(code, "\n"+plainLines(block)), "%s: this is in no Go file:\n%s", document, block)
}

// plainLines removes indentation, empty lines, and comments.
func plainLines(text string) string {
	var plain strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " //")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			plain.WriteString(line + "\n")
		}
	}
	return plain.String()
}

// Every relative link of the documents has a target.
func TestDocumentLinks(t *testing.T) {
	t.Parallel()
	atRoot(t)
	var documents []string
	for _, pattern := range []string{"*.md", filepath.Join("*", "*.md"), filepath.Join("*", "*", "*.md")} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		documents = append(documents, found...)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+\.(?:md|go|png|mjs|json))(#[^)]*)?\)`)
	for _, document := range documents {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			target := filepath.Join(filepath.Dir(document), strings.TrimSpace(found[1]))
			_, err := os.Stat(target)
			require.NoError(t, err, "%s links to %s", document, found[1])
		}
	}
}
