// Package statefile keeps a file up to date with a state while an emulator runs.
//
// The file is always replaced as a whole, with mode 0600, and only when the state has changed. On a system with flock, a lock
// file excludes a second emulator. The meaning of the text is up to the State.
package statefile

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

const (
	// Every is the interval of the checks for a change.
	Every = 500 * time.Millisecond
	// share limits the time that is spent on a large file: the pause after a write is share times as long as the write.
	share = 10
)

// rest returns how long to wait after a write of the given duration.
func rest(took time.Duration) time.Duration { return max(Every, share*took) }

// File is a file that is kept up to date with a state. A nil File does nothing.
type File struct {
	path  string
	lock  *os.File
	state State

	// Only one goroutine at a time uses these fields: first Server.begin, then KeepUpToDate, then Server.Close.
	begun   []byte // text of the file at the start, nil when it had none
	written [sha256.Size]byte
	known   int64 // generation of the file's text
	failing bool
}

// State is the content of the file.
type State interface {
	// Generation grows with each change.
	Generation() int64
	// Save returns the text.
	Save() ([]byte, error)
}

// Open locks and reads the file.
func Open(path string, state State) (*File, error) {
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(lock); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	f := &File{path: path, lock: lock, state: state, known: -1}
	if mounted(path) {
		return nil, errors.Join(errMounted, f.Close())
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, f.Close())
	}
	if len(bytes.TrimSpace(text)) > 0 {
		f.begun, f.written = text, sha256.Sum256(text)
	}
	return f, nil
}

var errMounted = errors.New("the file is mounted alone, so it cannot be replaced as a whole: mount its directory")

// mounted reports whether path is on another mount than its directory. A write in place could lose the state, if the process is killed.
func mounted(path string) bool {
	temporary := path + ".tmp"
	_ = os.Remove(temporary) // left by a process that was killed
	err := os.Link(path, temporary)
	if err == nil {
		_ = os.Remove(temporary)
	}
	return errors.Is(err, syscall.EXDEV)
}

// Take returns, once, the text that the file had at the start; nil if it had none.
func (f *File) Take() []byte {
	if f == nil {
		return nil
	}
	begun := f.begun
	f.begun = nil
	return begun
}

// Close releases the lock. The lock file stays: if it were removed, two servers could lock two files of one name.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	return errors.Join(unlockFile(f.lock), f.lock.Close())
}

// write replaces the whole file: a reader sees the old text or the new text.
func (f *File) write(text []byte) error {
	temporary := f.path + ".tmp"
	_ = os.Remove(temporary) // left by a process that was killed
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(temporary, f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// KeepUpToDate writes the file until stopping is closed. complain gets the first error of each series.
func (f *File) KeepUpToDate(stopping <-chan struct{}, complain func(error)) {
	timer := time.NewTimer(Every)
	defer timer.Stop()
	for {
		select {
		case <-stopping:
			return
		case <-timer.C:
		}
		began := time.Now()
		err := f.Keep()
		timer.Reset(rest(time.Since(began)))
		if err != nil && !f.failing {
			complain(err)
		}
		f.failing = err != nil
	}
}

// Keep writes the file if the state has changed. Changes that occur during Keep are written by the next Keep.
func (f *File) Keep() error {
	if f == nil {
		return nil
	}
	generation := f.state.Generation()
	if generation == f.known {
		return nil
	}
	text, err := f.state.Save()
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(text); sum != f.written {
		if err := f.write(text); err != nil {
			return fmt.Errorf("prepaidtest: StateFile: %w", err)
		}
		f.written = sum
	}
	f.known = generation
	return nil
}
