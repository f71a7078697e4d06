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

// An assistant reads the whole page, which has twelve calls. The listed fields exist, and the names of the last section do not.
func TestAssistantsPage(t *testing.T) {
	t.Parallel()
	atRoot(t)
	text, err := os.ReadFile(filepath.Join("docs", "for-assistants.md"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), 12_000)
	calls := regexp.MustCompile(`(?m)^\*\*(\d+)(?: and \d+)?\. `).FindAllStringSubmatch(string(text), -1)
	require.Len(t, calls, 11) // two are in one snippet
	require.Equal(t, "12", calls[len(calls)-1][1])

	names := publicNames(t)
	page, invented, found := strings.Cut(string(text), inventedNames)
	require.True(t, found)
	spans := codeSpan.FindAllStringSubmatch(invented, -1)
	require.Greater(t, len(spans), 5)
	for _, span := range spans {
		name, ok := goName(span[1])
		require.True(t, ok, span[1])
		require.False(t, knows(names, name), "%s exists", name)
	}

	_, fields, found := strings.Cut(page, "\n## Fields\n")
	require.True(t, found)
	fields = regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(fields, "") // without their values and own fields
	checked := 0
	for bullet := range strings.SplitSeq(fields, "\n- ") {
		kind := ""
		for _, span := range codeSpan.FindAllStringSubmatch(bullet, -1) {
			if kind == "" {
				kind = span[1]
				continue
			}
			require.True(t, names[kind+"."+span[1]], "%s has no field %s", kind, span[1])
			checked++
		}
	}
	require.Greater(t, checked, 40)
}

// AGENTS.md is read before each change, so it is short, and the files, commands and steps that it names exist.
func TestAgentsPage(t *testing.T) {
	t.Parallel()
	atRoot(t)
	text, err := os.ReadFile("AGENTS.md")
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), 4_000)
	makefile, err := os.ReadFile("Makefile")
	require.NoError(t, err)
	steps, err := os.ReadFile(filepath.Join(".ci", "run"))
	require.NoError(t, err)
	paths, commands := 0, 0
	for _, span := range codeSpan.FindAllStringSubmatch(string(text), -1) {
		words := strings.Fields(span[1])
		switch {
		case words[0] == "make":
			for _, target := range words[1:] {
				require.Contains(t, string(makefile), "\n"+target+":", span[1])
			}
			commands++
		case span[1] != "bash .ci/run" && strings.HasPrefix(span[1], "bash .ci/run "):
			for _, step := range words[2:] {
				require.Contains(t, string(steps), "\nstep_"+step+"()", span[1])
			}
			commands++
		case len(words) == 1 && strings.ContainsAny(span[1], "./") && !strings.HasPrefix(span[1], "testing/"):
			_, err := os.Stat(filepath.FromSlash(span[1]))
			require.NoError(t, err)
			paths++
		}
	}
	require.Greater(t, paths, 10)
	require.Greater(t, commands, 5)
}
