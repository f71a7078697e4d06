package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// atomicFile has another name until it is complete: readers see the old file or the new one, never a part.
type atomicFile struct {
	*os.File

	path string
	done bool
}

func createFile(path string) (*atomicFile, error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return nil, err
	}
	return &atomicFile{File: file, path: path}, nil
}

func (a *atomicFile) position() (int64, error) { return a.Seek(0, io.SeekCurrent) }

// cut removes everything from size on.
func (a *atomicFile) cut(size int64) error {
	if err := a.Truncate(size); err != nil {
		return err
	}
	_, err := a.Seek(size, io.SeekStart)
	return err
}

// keep renames the file, once its content is on the disk.
func (a *atomicFile) keep() error {
	if err := errors.Join(a.Sync(), a.Close()); err != nil {
		return err
	}
	if err := os.Rename(a.Name(), a.path); err != nil {
		return err
	}
	a.done = true
	return nil
}

// discard removes the file, unless it was kept.
func (a *atomicFile) discard() {
	if !a.done {
		_ = a.Close()
		_ = os.Remove(a.Name())
	}
}
