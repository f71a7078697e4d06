//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journalfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openLocked opens the file at path and excludes other processes until this process closes the file or dies.
func openLocked(path string, mode fs.FileMode) (f *os.File, unlock func() error, err error) {
	for {
		f, err := flock(path, 0, mode)
		if err != nil {
			return nil, nil, err
		}
		// A compaction may have replaced the file in the meantime.
		mine, err := f.Stat()
		if there, gone := os.Stat(path); err == nil && gone == nil && os.SameFile(mine, there) {
			return f, func() error { return nil }, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, nil, err
		}
	}
}

func flock(path string, flags int, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|flags, mode)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// release unlocks a file. Closing it is not enough: a child process that another goroutine is starting also has the file
// open until it executes another program, and would keep the lock.
func release(f file) error {
	if locked, ok := f.(*os.File); ok {
		return syscall.Flock(int(locked.Fd()), syscall.LOCK_UN)
	}
	return nil
}

// create locks the file before it has the journal's name.
func (d osDirectory) create(path string, mode fs.FileMode) (file, error) {
	if err := d.remove(path); err != nil {
		return nil, err
	}
	return flock(path, os.O_EXCL, mode)
}

func (osDirectory) replace(old, fresh file, temporary, path string) (file, bool, error) {
	if err := os.Rename(temporary, path); err != nil {
		return old, false, err
	}
	_ = old.Close() // no longer read
	return fresh, true, nil
}

func (osDirectory) sync(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
