package journal

import (
	"errors"
	"io/fs"
	"os"
)

// temporary is the suffix of the file that a compaction writes.
const temporary = ".compact"

type directory interface {
	// create creates a file at a path where a killed compaction may have left one, and locks it.
	create(path string, mode fs.FileMode) (file, error)
	// replace renames fresh, which create created at temporary, to path in place of old, and closes old. It returns in
	// now the file to continue with: old, unchanged, if moved is false.
	replace(old, fresh file, temporary, path string) (now file, moved bool, err error)
	// names returns ErrMoved unless each of paths is the open file.
	names(open file, paths []string) error
	// remove removes the file at path, if there is one.
	remove(path string) error
	// sync makes the names in a directory durable.
	sync(path string) error
}

// osDirectory uses the operating system. The files lock_*.go have the methods that depend on the system.
type osDirectory struct{}

func (osDirectory) names(open file, paths []string) error {
	mine, err := open.Stat()
	if err != nil {
		return err
	}
	for _, path := range paths {
		there, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(mine, there):
			return ErrMoved
		case err != nil:
			return err
		}
	}
	return nil
}

func (osDirectory) remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
