package hostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// If the harness is killed, its workers end too.
func TestKilledHarnessLeavesNoWorker(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	harness := command(t, "-copies", "1", "--", "sh", "-c", "echo $$ >"+file+".new; mv "+file+".new "+file+"; exec sleep 600")
	require.NoError(t, harness.Start())
	var pid int
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(file)
		_, err := fmt.Sscan(string(text), &pid)
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	require.False(t, ended(pid))
	require.NoError(t, harness.Process.Kill())
	require.Error(t, harness.Wait())
	require.Eventually(t, func() bool { return ended(pid) }, time.Minute, 10*time.Millisecond)
}
