package journal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

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
