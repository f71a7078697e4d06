package journal

import (
	"errors"
	"io/fs"
	"os"
)

// temporary is the suffix of the file that a compaction writes.
const temporary = ".compact"

// directory holds the operations of a Journal on the directory of its file.
type directory interface {
	// create creates a file at a path where a killed compaction may have left one, and locks it.
	create(path string, mode fs.FileMode) (file, error)
	// replace renames fresh, which create created at temporary, to path in place of old, and closes old. It returns the
	// file to continue with; if moved is false that is old, unchanged.
	replace(old, fresh file, temporary, path string) (now file, moved bool, err error)
	// remove removes the file at path, if there is one.
	remove(path string) error
	// sync makes the names in a directory durable.
	sync(path string) error
}

// osDirectory is the directory of the operating system. The methods that depend on the system are in the files of the
// lock.
type osDirectory struct{}

func (osDirectory) remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
