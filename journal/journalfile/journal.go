package journalfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Options configures a Journal.
type Options struct {
	// FileMode is the mode of a new file, by default 0600.
	FileMode fs.FileMode
	// DigestKey is the key of the digests, see [journal.NewEntry]; never change it for a file.
	DigestKey prepaid.Secret
	// Seal encrypts params into the record of each payment that is not done or withdrawn, so that [Journal.Resume] can send it
	// without your list; see [journal.NewAEAD]. If nil, records have only digests. You can set it later for the same file.
	Seal journal.AEAD
}

type file interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

// batch holds the records that share one sync.
type batch struct {
	data    []byte
	records []located // offsets in data
	flushed bool      // guarded by Journal.commit
	err     error
}

// Journal is an open journal, safe for concurrent use. Create one with Open.
type Journal struct {
	options Options
	path    string      // without links
	names   []string    // of the open file: the path as the caller wrote it, and the field path
	mode    fs.FileMode // of the open file, and of its replacement in a compaction
	disk    directory
	unlock  func() error
	torn    int64

	commit sync.Mutex // held while writing
	mu     sync.Mutex // locked after commit
	file   file       // changed with commit and mu held
	size   int64      // of file; guarded by commit
	next   *batch
	index  map[key]place // changed with commit and mu held
	opened openings      // changed with commit and mu held
	turns  sync.Map      // a chan struct{} for each request ID in use
	holds  map[prepaid.RequestID]hold
	failed error // the first failure to write or read, also after Close; if there was none, ErrClosed after Close
	closed bool

	recording      sync.Mutex // held while outcomes are recorded
	claiming       sync.Mutex // held by claims; guards the fields below
	candidatesLeft []candidate
	candidatesRead time.Time
	candidatesTook time.Duration

	keeping     sync.Mutex // guards the fields below
	keepers     int        // calls during which evidence is kept
	stopKeeping func()
}

// Open opens or creates the journal at path and locks it. It cuts off an incomplete last line, see
// [Journal.Torn], and removes leftovers of a killed compaction.
//
// Errors: [ErrLocked], [*CorruptError], those of the file system.
func Open(path string, options Options) (*Journal, error) {
	options.FileMode = cmp.Or(options.FileMode, 0o600)
	path, err := filepath.Abs(path) // the working directory may change
	if err != nil {
		return nil, fmt.Errorf("journalfile: %w", err)
	}
	written := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a compaction replaces the file, not the link
	}
	for _, suffix := range []string{temporary, evidence} {
		if strings.HasSuffix(path, suffix) {
			return nil, errors.New("journalfile: a path may not end in " + suffix + ", which is the name of another file of a journal")
		}
	}
	f, unlock, err := openLocked(path, options.FileMode)
	if err != nil {
		return nil, err
	}
	j, err := load(f, options)
	if err == nil {
		j.path, j.names, j.mode, j.disk, j.unlock = path, []string{written, path}, options.FileMode, osDirectory{}, unlock
		if info, err := f.Stat(); err == nil {
			j.mode = info.Mode().Perm()
		}
		err = errors.Join(j.disk.remove(path+temporary), j.disk.sync(filepath.Dir(path)))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), unlock())
	}
	return j, nil
}

func load(f file, options Options) (*Journal, error) {
	index, unbound, now := make(map[key]place), make(map[key]struct{}), time.Now().UTC().Round(0)
	var opened openings
	good, size, err := scan(f, func(at int64, line []byte, e *journal.Entry) {
		if e.Operation == operationOpen {
			opened = opened.add(at, e.Changed)
			if !e.Changed.After(now) {
				clear(unbound)
			}
			return
		}
		l := locate(at, line, e)
		index[l.key] = l.place
		if _, moved := bounded(*e, now); moved {
			unbound[l.key] = struct{}{}
		} else {
			delete(unbound, l.key)
		}
	})
	if err != nil {
		return nil, err
	}
	torn := size - good
	if err := f.Truncate(good); err != nil {
		return nil, err
	}
	if _, err := f.Seek(good, io.SeekStart); err != nil {
		return nil, err
	}
	var added []byte
	switch {
	case good == 0:
		added = []byte(header)
	case len(unbound) > 0:
		opened = opened.add(good, now)
		if added, err = encode(openingRecord(now)); err != nil {
			return nil, err
		}
	}
	if _, err := f.Write(added); err != nil {
		return nil, err
	}
	// Data that can be read may not be durable yet.
	if err := f.Sync(); err != nil {
		return nil, err
	}
	return &Journal{
		options: options, file: f, torn: torn, next: &batch{}, size: good + int64(len(added)), index: index, opened: opened,
		holds: make(map[prepaid.RequestID]hold),
	}, nil
}

// Torn returns how many bytes of an incomplete last line Open cut off.
func (j *Journal) Torn() int64 { return j.torn }

// Close waits until records have been written, and releases the file. Running payments can no longer be recorded. If a
// write failed before, later calls return that error.
func (j *Journal) Close() error {
	j.commit.Lock()
	defer j.commit.Unlock()
	j.mu.Lock()
	closed := j.closed
	j.closed, j.failed = true, cmp.Or(j.failed, ErrClosed)
	j.mu.Unlock()
	if closed {
		return nil
	}
	return errors.Join(release(j.file), j.file.Close(), j.unlock())
}

// Err returns why nothing can be recorded any more, or nil: the first failure to write or read the file, or
// [ErrClosed]. If Err returns nil after a loop over [Journal.All] or [Journal.Pending], the loop had all entries.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}

// record writes entries together and returns when they are durable. Calls that arrive while another call is writing share the next sync.
func (j *Journal) record(entries ...journal.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	lines := make([][]byte, len(entries))
	for i, e := range entries {
		var err error
		if lines[i], err = encode(e); err != nil {
			return fmt.Errorf("%w: %w", journal.ErrNotRecorded, err)
		}
	}
	j.mu.Lock()
	b := j.next
	for i, e := range entries {
		b.records = append(b.records, locate(int64(len(b.data)), lines[i], &e))
		b.data = append(b.data, lines[i]...)
	}
	j.mu.Unlock()

	j.commit.Lock()
	defer j.commit.Unlock()
	if !b.flushed {
		j.flush(b)
	}
	return b.err
}

func (j *Journal) flush(b *batch) {
	j.mu.Lock()
	j.next = &batch{}
	j.mu.Unlock()
	err := j.usable()
	if err == nil {
		_, err = j.file.Write(b.data)
		if err == nil {
			err = j.file.Sync()
		}
		if err == nil {
			err = j.usable() // if the path has another file, the next run would not find the records
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	b.flushed = true
	if err != nil {
		b.err = j.fail(err)
		return
	}
	for _, l := range b.records {
		l.at += j.size
		j.index[l.key] = l.place
	}
	j.size += int64(len(b.data))
}

// usable returns why nothing can be written, or nil. The caller holds j.commit.
func (j *Journal) usable() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return j.failed
	}
	return j.disk.names(j.file, j.names)
}

// fail keeps the first failure, since the file's content is unknown after it, and returns err for the caller. The caller holds j.mu.
func (j *Journal) fail(err error) error {
	j.failed = cmp.Or(j.failed, err)
	return fmt.Errorf("%w: %w", journal.ErrNotRecorded, err)
}

// stop is fail for callers that do not hold j.mu.
func (j *Journal) stop(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.fail(err)
}
