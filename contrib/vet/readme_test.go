package prepaidvet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	prepaidvet "github.com/cardprograms/prepaid/contrib/vet"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

// The packages that the code of the README may import.
var imports = []string{
	"context", "crypto/rand", "database/sql", "errors", "fmt", "log", "log/slog", "net/http", "strconv", "sync", "time",
	"github.com/cardprograms/prepaid", "github.com/cardprograms/prepaid/journal", "github.com/cardprograms/prepaid/journal/journalfile",
}

var blocks = regexp.MustCompile("(?ms)^```go\n(.*?)```$")

// Each rule has a section in the README. The rule reports the section's first piece of code only. Other rules report none.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	tree := vettest.Tree(t, "")
	var written []string
	for _, rule := range prepaidvet.Analyzers() {
		require.NotEmpty(t, rule.Doc)
		require.True(t, strings.HasSuffix(rule.URL, "/contrib/vet/README.md#"+rule.Name), rule.URL)
		section := regexp.MustCompile(`(?ms)^## ` + rule.Name + `\n(.*?)(^## |\z)`).FindSubmatch(readme)
		require.NotNil(t, section, "the README has no section %q", rule.Name)
		code := blocks.FindAllSubmatch(section[1], -1)
		require.GreaterOrEqual(t, len(code), 2, "the section %q needs a wrong form and a right one", rule.Name)
		for i, block := range code {
			name := fmt.Sprintf("%s%d", rule.Name, i)
			written = append(written, name)
			directory := filepath.Join(tree, "src", name)
			require.NoError(t, os.MkdirAll(directory, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(directory, "code.go"), []byte(source(name, string(block[1]))), 0o644))
		}
	}
	found := map[string][]string{}
	for _, action := range vettest.Analyze(t, tree, prepaidvet.Analyzers(), written...) {
		for _, diagnostic := range action.Diagnostics {
			found[action.Package.Name] = append(found[action.Package.Name], action.Analyzer.Name+": "+diagnostic.Message)
		}
	}
	for _, name := range written {
		rule, wrong := strings.CutSuffix(name, "0")
		if !wrong {
			require.Empty(t, found[name], "the right code of %s", name)
			continue
		}
		require.NotEmpty(t, found[name], "the wrong code of %s", rule)
		for _, message := range found[name] {
			require.True(t, strings.HasPrefix(message, rule+": "), "the wrong code of %s: %s", rule, message)
		}
	}
}

// source is a file with the imports that its code needs.
func source(name, code string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n", name)
	for _, path := range imports {
		if regexp.MustCompile(`\b` + filepath.Base(path) + `\.`).MatchString(code) {
			fmt.Fprintf(&b, "import %q\n", path)
		}
	}
	return b.String() + code
}
