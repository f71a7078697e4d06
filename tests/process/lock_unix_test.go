//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package process

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/journal/journalfile"
)

// A child that is being started has the file open for a moment, but must not keep the lock.
func TestLockIsGivenUpWhileChildrenStart(t *testing.T) {
	t.Parallel()
	path, stop, ended := filepath.Join(t.TempDir(), "j"), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				_ = exec.CommandContext(t.Context(), "true").Run()
			}
		}
	}()
	for range 100 {
		j, err := journalfile.Open(path, journalfile.Options{})
		require.NoError(t, err)
		require.NoError(t, j.Close())
	}
	close(stop)
	<-ended
}
