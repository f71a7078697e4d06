package journalfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// openLocked opens the journal and excludes other processes with a separate file.
func openLocked(path string, mode fs.FileMode) (f *os.File, unlock func() error, err error) {
	unlock, err = lock(path + ".lock")
	if err != nil {
		return nil, nil, err
	}
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, mode)
	if err != nil {
		return nil, nil, errors.Join(err, unlock())
	}
	return f, unlock, nil
}

func (d osDirectory) create(path string, mode fs.FileMode) (file, error) {
	if err := d.remove(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
}

// replace closes both files first: an open file cannot be renamed.
func (osDirectory) replace(old, fresh file, temporary, path string) (now file, moved bool, err error) {
	if err := errors.Join(fresh.Close(), old.Close()); err != nil {
		return old, true, err // it is unknown which file is open now
	}
	renamed := os.Rename(temporary, path)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return old, true, errors.Join(renamed, err) // old is closed
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return f, true, errors.Join(renamed, err)
	}
	return f, renamed == nil, renamed
}

// sync is not possible here.
func (osDirectory) sync(string) error { return nil }

// release does nothing: the lock is not on the journal's file.
func release(file) error { return nil }

// lock opens a file exclusively. The system closes and deletes it when the process dies.
func lock(name string) (unlock func() error, err error) {
	const (
		sharingViolation = syscall.Errno(32)
		deleteOnClose    = 0x04000000
	)
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	handle, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL|deleteOnClose, 0)
	switch {
	case errors.Is(err, sharingViolation):
		return nil, ErrLocked
	case err != nil:
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	held := os.NewFile(uintptr(handle), name)
	return held.Close, nil
}
