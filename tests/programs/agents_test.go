package programs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inventedNames is the heading of the page for assistants above names that are often invented.
const inventedNames = "\n## Names that do not exist\n"

// codeSpan finds code in a line of text.
var codeSpan = regexp.MustCompile("`([^`\\n]+)`")

// The names of the last section do not exist.
func TestAssistantsPage(t *testing.T) {
	t.Parallel()
	atRoot(t)
	text, err := os.ReadFile(filepath.Join("docs", "for-assistants.md"))
	require.NoError(t, err)

	names := publicNames(t)
	_, invented, found := strings.Cut(string(text), inventedNames)
	require.True(t, found)
	spans := codeSpan.FindAllStringSubmatch(invented, -1)
	require.Greater(t, len(spans), 5)
	for _, span := range spans {
		name, ok := goName(span[1])
		require.True(t, ok, span[1])
		require.False(t, knows(names, name), "%s exists", name)
	}
}
