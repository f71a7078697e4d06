package prepaid_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The Go code of the README is the code of files that are compiled, to the letter.
func TestREADMECodeCompiles(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(readme, -1)
	files := []string{filepath.Join("examples", "first", "main.go"), filepath.Join("prepaidtest", "readme_test.go")}
	require.Len(t, blocks, len(files), "each block has its file")
	for i, file := range files {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(code), string(blocks[i][1]), "README block %d is not in %s", i+1, file)
	}
}

// Every relative link of the documents leads somewhere.
func TestDocumentLinks(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("*.md")
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join("docs", "*.md"))
	require.NoError(t, err)
	link := regexp.MustCompile(`\]\(([^)#:]+\.md)(#[^)]*)?\)`)
	for _, document := range append(documents, more...) {
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
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	journal, err := filepath.Glob("journal/*_test.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, file := range append(files, journal...) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		code.Write(text)
	}
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(design), -1)
	require.NotEmpty(t, named)
	for _, test := range named {
		require.Contains(t, code.String(), "func "+test[1]+"(t *testing.T)")
	}
}
