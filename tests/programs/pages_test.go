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
