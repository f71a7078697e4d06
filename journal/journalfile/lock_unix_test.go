//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journalfile

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A child that is being started has the file open for a moment, but must not keep the lock.
func TestLockIsGivenUpWhileChildrenStart(t *testing.T) {
	t.Parallel()
	path, ended := filepath.Join(t.TempDir(), "j"), make(chan struct{})
	var children sync.WaitGroup
	children.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				_ = exec.CommandContext(t.Context(), "true").Run()
			}
		}
	})
	for range 100 {
		j, err := Open(path, Options{})
		require.NoError(t, err)
		require.NoError(t, j.Close())
	}
	close(ended)
	children.Wait()
}
