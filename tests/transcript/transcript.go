// Package transcript checks a document that shows the output of programs and pages: tests run its commands again and
// compare the output. With -update the tests write output that differs into the document.
package transcript

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/tree"
)

var update = flag.Bool("update", false, "write what differs into the document; one package at a time (-p 1)")

// Session runs commands one after the other in a shell at the root of the repository. It returns the text of a terminal:
// each command after "$ ", and its output. The commands see only the given PREPAID_ variables.
func Session(t testing.TB, environment []string, commands ...string) string {
	t.Helper()
	shown, err := Try(t, environment, commands...)
	require.NoError(t, err, shown)
	return shown
}

// Try is Session for commands that may fail.
func Try(t testing.TB, environment []string, commands ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("NOT CHECKED: the commands of the document need sh")
	}
	var script strings.Builder
	for _, command := range commands {
		script.WriteString("printf '%s\n' '$ " + strings.ReplaceAll(command, "'", `'\''`) + "'\n" + command + "\n")
	}
	shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script.String())
	shell.Dir = tree.Root(t)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PREPAID_") {
			shell.Env = append(shell.Env, variable)
		}
	}
	shell.Env = append(shell.Env, environment...)
	shown, err := shell.CombinedOutput()
	return strings.ReplaceAll(string(shown), "\r\n", "\n"), err
}

// Require compares the block "```console NAME" of a document with text. The function same, usually Stable, removes parts that may differ.
func Require(t testing.TB, document, name, text string, same func(string) string) {
	t.Helper()
	path, whole, at := block(t, document, name)
	shown := whole[at[2]:at[3]]
	if *update && same(shown) != same(text) {
		require.NoError(t, os.WriteFile(path, []byte(whole[:at[2]]+text+whole[at[3]:]), 0o600))
		return
	}
	require.Equal(t, same(shown), same(text), "%s, block %s: if the new text is right, make tour writes it", document, name)
}

// Shows reports whether Require would succeed.
func Shows(t testing.TB, document, name, text string, same func(string) string) bool {
	t.Helper()
	_, whole, at := block(t, document, name)
	return *update || same(whole[at[2]:at[3]]) == same(text)
}

// block returns the path and the text of a document, and the indexes of a block and, after them, of its content.
func block(t testing.TB, document, name string) (path, whole string, at []int) {
	t.Helper()
	path = filepath.Join(tree.Root(t), document)
	read, err := os.ReadFile(path)
	require.NoError(t, err)
	whole = strings.ReplaceAll(string(read), "\r\n", "\n") // a checkout may have added \r
	at = regexp.MustCompile("(?s)\n```console " + name + "\n(.*?)```\n").FindStringSubmatchIndex(whole)
	require.NotNil(t, at, "%s has no block %s", document, name)
	return path, whole, at
}

// Stable removes the parts that differ between two runs: IDs, addresses, times, durations, and the reason why a connection ended.
func Stable(text string) string {
	for _, one := range []struct{ varying, stable string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"},
		{`\b[0-9a-f]{16}…`, "ID"},
		{`\bEA\d{14}\b`, "EAID"},
		{`\b127\.0\.0\.1:\d+`, "ADDRESS"},
		{`\b\d{4}-\d{2}-\d{2}\b`, "DAY"},
		{`\b\d{2}:\d{2}(:\d{2})?\b`, "TIME"},
		{`\b\d{1,2} [JFMASOND][a-z]{2}\b`, "DAY"},
		{`<?\b\d+ (ms|s)\b`, "DURATION"},
		{`(clock skew )\S+`, "${1}DURATION"},
		{`(no complete response \(headers\): ).*`, "${1}CAUSE"},
	} {
		text = regexp.MustCompile(one.varying).ReplaceAllString(text, one.stable)
	}
	return text
}
