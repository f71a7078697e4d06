package programs

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The command of docs/testing.md has -v.
func TestExamplesPassWithV(t *testing.T) {
	t.Parallel()
	atRoot(t)
	out, err := exec.CommandContext(t.Context(), "go", "test", "-v", "-run=^Example", "./prepaidtest/conformance").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: ExampleRun")
}
