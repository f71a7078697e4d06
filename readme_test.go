package prepaid_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The Go code of the READMEs is the code of files that are compiled, to the letter.
func TestREADMECodeCompiles(t *testing.T) {
	t.Parallel()
	tested := filepath.Join("prepaidtest", "readme_test.go")
	for readme, files := range map[string][]string{
		"README.md": {filepath.Join("examples", "first", "main.go"), tested},
		filepath.Join("prepaidtest", "README.md"): {tested},
	} {
		text, err := os.ReadFile(readme)
		require.NoError(t, err)
		blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(text, -1)
		require.Len(t, blocks, len(files), "each block has its file")
		for i, file := range files {
			code, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(code), string(blocks[i][1]), "%s: block %d is not in %s", readme, i+1, file)
		}
	}
}

// Every relative link of the documents leads somewhere.
func TestDocumentLinks(t *testing.T) {
	t.Parallel()
	var documents []string
	for _, pattern := range []string{"*.md", filepath.Join("*", "*.md"), filepath.Join("*", "*", "*.md")} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		documents = append(documents, found...)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+\.(?:md|go|png))(#[^)]*)?\)`)
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

// Every test that DESIGN.md names as a proof exists.
func TestPromisesHaveTheirTests(t *testing.T) {
	t.Parallel()
	design, err := os.ReadFile("DESIGN.md")
	require.NoError(t, err)
	var code strings.Builder
	for _, pattern := range []string{"*_test.go", filepath.Join("*", "*_test.go"), filepath.Join("*", "*", "*_test.go")} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			code.Write(text)
		}
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(design), -1)
	require.NotEmpty(t, named)
	for _, test := range named {
		require.Contains(t, code.String(), "func "+test[1]+"(t *testing.T)")
	}
}
