package emulator

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/tests/built"
)

// A state file that is mounted without its directory, as by "docker run -v ./state.json:/state.json", is refused at the start, whether it
// has a state or not.
func TestStateFileMountedAlone(t *testing.T) {
	t.Parallel()
	built.NeedTool(t, "unshare")
	if err := exec.CommandContext(t.Context(), "unshare", "--map-root-user", "--mount", "true").Run(); err != nil {
		require.NotEqual(t, "required", os.Getenv("PREPAID_TEST_NETNS"), "no mount namespaces: %v", err)
		t.Skipf("no mount namespaces: %v; PREPAID_TEST_NETNS=required makes this a failure", err)
	}
	path := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for range 2 {
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		program := built.Command(t, nil, "prepaid-emulator").Path
		out, err := exec.CommandContext(t.Context(), "unshare", "--map-root-user", "--mount", "sh", "-c",
			`mount --bind "$1" "$1" && exec timeout 20 "$2" -listen 127.0.0.1:0 -state "$1"`, "sh", path, program).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "the file is mounted alone, so it cannot be replaced as a whole: mount its directory")
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after)
		srv, err := prepaidtest.Start(prepaidtest.Options{StateFile: path})
		require.NoError(t, err)
		require.NoError(t, srv.Close())
	}
}
