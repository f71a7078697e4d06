//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package journal

import (
	"errors"
	"io/fs"
	"os"
)

// lock keeps others out with a file beside f. After a crash it has to be removed by hand.
func lock(f *os.File) (unlock func() error, err error) {
	name := f.Name() + ".lock"
	held, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(held.Close(), os.Remove(name)) }, nil
}

// syncDir has no equivalent here.
func syncDir(string) error { return nil }
