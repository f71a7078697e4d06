//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package statefile

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks until unlockFile or the end of the process.
func lockFile(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return errors.New("the file is in use by another server")
		}
		return err
	}
	return nil
}

// unlockFile releases the lock. Closing the file is not enough, since a child process that is being started has the file
// open, too, until its exec.
func unlockFile(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }
