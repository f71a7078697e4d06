package prepaidtest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"time"
)

const (
	// stateFileEvery is how often changes are looked for.
	stateFileEvery = 500 * time.Millisecond
	// stateFileShare bounds the part of the time that goes into a large file: after each write it rests this many
	// times as long.
	stateFileShare = 10
)

// rest is how long to wait after a write that took so long.
func rest(took time.Duration) time.Duration { return max(stateFileEvery, stateFileShare*took) }

// stateFile is a file that is kept up to date with a state. A nil one is none.
type stateFile struct {
	path  string
	lock  *os.File
	state State

	// These belong to the goroutine that keeps the file, and to begin and Close before and after it.
	begun   []byte // what the file had, nil when nothing
	written [sha256.Size]byte
	known   int64 // generation that the file has
	failing bool
}

// State is what the file is to hold.
type State interface {
	// Generation grows with each change.
	Generation() int64
	// Save returns the text.
	Save() ([]byte, error)
}

// openStateFile locks and reads the file.
func openStateFile(path string, state State) (*stateFile, error) {
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(lock); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	f := &stateFile{path: path, lock: lock, state: state, known: -1}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, f.close())
	}
	if len(bytes.TrimSpace(text)) > 0 {
		f.begun, f.written = text, sha256.Sum256(text)
	}
	return f, nil
}

// take hands over what the file had at the beginning, nil when nothing.
func (f *stateFile) take() []byte {
	if f == nil {
		return nil
	}
	begun := f.begun
	f.begun = nil
	return begun
}

// close gives the lock up. The lock file stays: to remove it would let two servers lock two files of one name.
func (f *stateFile) close() error {
	if f == nil {
		return nil
	}
	return errors.Join(unlockFile(f.lock), f.lock.Close())
}

// write replaces the file as a whole: whoever reads it sees the old text or the new one.
func (f *stateFile) write(text []byte) error {
	temporary := f.path + ".tmp"
	_ = os.Remove(temporary) // of a process that was killed
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

// keepUpToDate writes the file until stopping is closed. Complain gets the first error of each series.
func (f *stateFile) keepUpToDate(stopping <-chan struct{}, complain func(error)) {
	timer := time.NewTimer(stateFileEvery)
	defer timer.Stop()
	for {
		select {
		case <-stopping:
			return
		case <-timer.C:
		}
		began := time.Now()
		err := f.keep()
		timer.Reset(rest(time.Since(began)))
		if err != nil && !f.failing {
			complain(err)
		}
		f.failing = err != nil
	}
}

// keep writes the file when the state is not the one in it. A change while it is made is for the next time.
func (f *stateFile) keep() error {
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
			return fmt.Errorf("prepaidtest: WithStateFile: %w", err)
		}
		f.written = sum
	}
	f.known = generation
	return nil
}
