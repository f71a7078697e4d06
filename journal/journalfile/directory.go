package journalfile

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
)

const (
	// temporary is the suffix of the file that a compaction writes.
	temporary = ".compact"
	// evidence is the suffix of the file of [Journal.SaveEvidence].
	evidence = ".evidence"
)

type directory interface {
	// create creates and locks a file at path. It replaces a file that a killed compaction left there.
	create(path string, mode fs.FileMode) (file, error)
	// replace closes the file old and replaces it: it renames fresh, which create has made, from temporary to path. It
	// returns the file to use from then on. If moved is false, that is the unchanged file old.
	replace(old, fresh file, temporary, path string) (now file, moved bool, err error)
	// names returns ErrMoved unless each of the paths leads to the open file.
	names(open file, paths []string) error
	// remove removes the file at path, if there is one.
	remove(path string) error
	// sync makes the names in a directory durable.
	sync(path string) error
	// read returns the content of the file at path; nil if there is none.
	read(path string) ([]byte, error)
	// write replaces the file at path.
	write(path string, content []byte, mode fs.FileMode) error
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

func (osDirectory) read(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

func (osDirectory) write(path string, content []byte, mode fs.FileMode) error {
	return cmp.Or(os.WriteFile(path+".new", content, mode), os.Rename(path+".new", path))
}
