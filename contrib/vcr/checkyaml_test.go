package prepaidvcr

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Text that a YAML reader skips is a finding too, and no error shows it.
func TestCheckSeesTheWholeFile(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/payout.yaml")
	require.NoError(t, err)
	plain := string(content)
	require.NoError(t, Check(strings.NewReader(plain)))
	require.NoError(t, Check(strings.NewReader(strings.TrimPrefix(plain, "---\n"))))
	for name, change := range map[string][2]string{
		"after the start":     {"---\n", "--- # Mira\n"},
		"a directive":         {"---\n", "%MIRA Smith\n---\n"},
		"a tag directive":     {"---\n", "%TAG !m! tag:mira,2000:\n---\n"},
		"a version directive": {"---\n", "%YAML 1.2 # Mira\n---\n"},
		"in a list":           {"                - application/vnd.vendor+json\n", "                - application/vnd.vendor+json # Mira\n"},
		"after a list":        {"interactions:\n", "interactions: # Mira\n"},
		"before a block":      {"body: |-\n", "body: |- # Mira\n"},
		"a tag":               {"version: 2\n", "version: !!mira 2\n"},
		"a long tag":          {"version: 2\n", "version: !<tag:yaml.org,2002:mira> 2\n"},
		"a known tag":         {"version: 2\n", "version: !!int 2\n"},
		"a null":              {"duration: 0s", "duration: ~"},
		"a mapping":           {"- id: 0", "- id: {Mira: Smith}"},
		"a body of members":   {"body: grant_type=client_credentials", "body: {Mira: Smith}"},
		"a method of many":    {"method: GET", "method: [Mira]"},
		"a text for a number": {"code: 200", "code: !!str 200"},
		"a hex number":        {"content_length: 29", "content_length: 0x1D"},
		"a lost response":     {"        status: 200 OK\n        code: 200\n", "        status: Mira\n        code: 0\n"},
	} {
		before, after, ok := strings.Cut(plain, change[0])
		require.True(t, ok, name)
		requireRefused(t, name, before+change[1]+after)
	}
	for name, text := range map[string]string{
		"at the end":            plain + "... # Mira\n",
		"after the end":         plain + "...\n# Mira\n",
		"text at the end":       plain + "...\nMira\n",
		"a bare text":           "version: 2\ninteractions: Mira Smith 4111111111111111\n",
		"an unexpected mapping": "version: 2\ninteractions: {Mira: {}}\n",
		"one more":              plain + "    - Mira\n",
	} {
		requireRefused(t, name, text)
	}
}

func requireRefused(t *testing.T, name, content string) {
	t.Helper()
	err := Check(strings.NewReader(content))
	require.Error(t, err, name)
	path := filepath.Join(t.TempDir(), "x.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	_, opening := New(path, Options{})
	require.Error(t, opening, name)
	for _, err := range []error{err, opening} {
		require.NotContains(t, strings.ToLower(err.Error()), "mira", name)
		require.NotContains(t, err.Error(), "4111")
	}
}
