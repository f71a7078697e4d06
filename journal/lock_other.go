//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lock excludes other processes with a file that must not exist yet. It cannot safely find out whether the process that
// created the file still runs: the process number may now belong to another process, or be from another machine.
func lock(name string) (unlock func() error, err error) {
	held, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w; remove %s if no process has it", ErrLocked, name)
	}
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(held.Close(), os.Remove(name)) }, nil
}
