package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// pendingFile has a temporary name until its content is complete.
type pendingFile struct {
	*os.File

	kept bool
}

// createFile creates a file next to path, so that a rename moves no data. If path is a directory, createFile fails.
func createFile(path string) (*pendingFile, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%w: -file is a directory", errSetup)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return nil, err
	}
	return &pendingFile{File: file}, nil
}

// keep renames the file in one step, once its content is on the disk.
func (p *pendingFile) keep(path string) error {
	if err := errors.Join(p.Sync(), p.Close()); err != nil {
		return err
	}
	if err := os.Rename(p.Name(), path); err != nil {
		return err
	}
	p.kept = true
	return nil
}

// discard removes the file, unless it was kept.
func (p *pendingFile) discard() {
	if !p.kept {
		_ = p.Close()
		_ = os.Remove(p.Name())
	}
}
