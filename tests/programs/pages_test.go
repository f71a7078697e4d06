package programs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The files that CONTRIBUTING.md and DESIGN.md name exist.
func TestDocumentFilesExist(t *testing.T) {
	t.Parallel()
	atRoot(t)
	known := make(map[string]bool)
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		known[filepath.Base(path)] = true
		return err
	}))
	name := regexp.MustCompile(`\b[a-z0-9_]+\.go\b`)
	for _, document := range []string{"CONTRIBUTING.md", "DESIGN.md"} {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		names := name.FindAllString(string(text), -1)
		require.NotEmpty(t, names)
		for _, file := range names {
			require.True(t, known[file], "%s names %s", document, file)
		}
	}
}

// A test makes each transcript and each picture of the tour.
func TestTourIsMadeByTests(t *testing.T) {
	t.Parallel()
	atRoot(t)
	page, err := os.ReadFile(filepath.Join("docs", "tour.md"))
	require.NoError(t, err)
	code := compiledCode(t)
	made := regexp.MustCompile("(?m)^```console (\\S*)$|^!\\[.*\\]\\((\\S+\\.png)\\)$").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(made), 7)
	for _, one := range made {
		require.Contains(t, code, `"`+one[1]+one[2]+`",`)
	}
	fences := regexp.MustCompile("(?m)^```(\\S*)").FindAllStringSubmatch(string(page), -1)
	for i := 0; i < len(fences); i += 2 {
		require.Contains(t, []string{"console", "go"}, fences[i][1], "other blocks are made by nobody")
	}
	pictures, err := filepath.Glob(filepath.Join("docs", "tour-*.png"))
	require.NoError(t, err)
	for _, picture := range pictures {
		require.Contains(t, string(page), "]("+filepath.Base(picture)+")")
	}
}
