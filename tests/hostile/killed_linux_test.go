package hostile_test

import (
	"os"
	"path/filepath"
	"strings"
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
	var pid string
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(file)
		pid = strings.TrimSpace(string(text))
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	require.DirExists(t, "/proc/"+pid)
	require.NoError(t, harness.Process.Kill())
	require.Error(t, harness.Wait())
	require.Eventually(t, func() bool {
		status, err := os.ReadFile("/proc/" + pid + "/status")
		return err != nil || strings.Contains(string(status), "State:\tZ")
	}, time.Minute, 10*time.Millisecond)
}
