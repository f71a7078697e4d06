package prepaidtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A saved state outlives the emulator that wrote it: a renamed member makes all existing state files unreadable. The
// document has each member of each list, except the key pair of PIN changes and the source of a seeded server.
func TestSave_FormStays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "state.json"))
	require.NoError(t, err)
	s, err := newServer(t, Options{FrozenClock: true, State: bytes.NewReader(text)}) // sends nothing: it does not listen
	require.NoError(t, err)
	var saved bytes.Buffer
	require.NoError(t, s.Save(&saved))
	require.JSONEq(t, string(text), saved.String())
}
