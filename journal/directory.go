package journal

import (
	"errors"
	"io/fs"
	"os"
)

// temporary is what a compaction appends to the path while it writes.
const temporary = ".compact"

// directory is what a Journal does to the directory of its file.
type directory interface {
	// create makes a file under a path where a compaction that was killed may have left one, and locks it.
	create(path string, mode fs.FileMode) (file, error)
	// replace puts fresh, which create made at temporary, in the place of old at path, and closes old. It returns
	// the file to go on with; where moved is false that is old, as it was.
	replace(old, fresh file, temporary, path string) (now file, moved bool, err error)
	// remove removes the file at path, if there is one.
	remove(path string) error
	// sync makes the names in a directory durable.
	sync(path string) error
}

// osDirectory is the directory of the operating system. The methods that depend on the system stand with the lock.
type osDirectory struct{}

func (osDirectory) remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
