package prepaidvcr

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/cassette"
)

// Stop ends a recording and writes its cassette, or ends a replay and reports requests that were not made. Only the first of
// several calls has an effect.
//
// A recording is not written if it ends in a panic or runtime.Goexit (as in t.FailNow), if it has no requests, or if another
// process wrote the file since [New]. Requests after the end of a recording fail as not sent.
//
// Errors: *[UnusedError], *[CassetteError], *[UnscrubbedError] if the new cassette does not pass [Check]. After an error
// an older cassette is unchanged.
func (r *Recorder) Stop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	r.stopped = true
	if !r.Recording() {
		if unused := r.player.unused(); len(unused) > 0 && !r.options.AllowUnused {
			return &UnusedError{Operations: unused}
		}
		return nil
	}
	r.closeIdle()
	if r.failure != nil {
		return r.failure
	}
	if len(r.leftOut) > 0 {
		slices.Sort(r.leftOut)
		return &CassetteError{Path: r.file(), Rule: "is not written: list in Options.Keep, Scrub or Calls: " +
			strings.Join(slices.Compact(r.leftOut), ", ")}
	}
	if unwinding() {
		return &CassetteError{Path: r.file(), Rule: "is not written: the recording did not run to its end"}
	}
	tape := cassette.New(r.path)
	tape.MarshalFunc = yaml.Marshal
	for _, interaction := range r.taken {
		if interaction != nil {
			tape.AddInteraction(interaction)
		}
	}
	if len(tape.Interactions) == 0 {
		return &CassetteError{Path: r.file(), Rule: "is not written: no request was recorded"}
	}
	if !bytes.Equal(r.content(), r.before) {
		return &CassetteError{Path: r.file(), Rule: "is not written: the file was changed during the recording"}
	}
	return tape.SaveWithFS(checkedFile{})
}

// discard ends a recording without a cassette.
func (r *Recorder) discard() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	r.closeIdle()
}

func (r *Recorder) closeIdle() {
	if own, ok := r.next.(interface{ CloseIdleConnections() }); ok && r.options.Transport == nil {
		own.CloseIdleConnections()
	}
}

// checkedFile checks a cassette and then writes it in one step.
type checkedFile struct{}

// ReadFile returns the content of a cassette.
func (checkedFile) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// IsFileExists reports whether the cassette exists.
func (checkedFile) IsFileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// WriteFile replaces a cassette.
func (checkedFile) WriteFile(name string, data []byte) error {
	if err := Check(bytes.NewReader(data)); err != nil {
		return at(name, err)
	}
	if err := replace(name, data); err != nil {
		return &CassetteError{Path: name, Rule: "cannot be written", Err: err}
	}
	return nil
}

// replace writes a temporary file and renames it, so that no reader finds a part of the content.
func replace(name string, data []byte) error {
	directory := filepath.Dir(name)
	if err := os.MkdirAll(directory, 0o750); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(directory, ".cassette-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // after an error
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Close(), os.Chmod(temporary.Name(), 0o644)) //nolint:gosec // it is to be committed
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
