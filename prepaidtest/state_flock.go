//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package prepaidtest

import (
	"errors"
	"os"
	"syscall"
)

// lockFile holds until the file is closed or the process ends.
func lockFile(file *os.File) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return errors.New("the file is in use by another server")
		}
		return err
	}
	return nil
}
