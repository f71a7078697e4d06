package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
)

// Options configures a Journal.
type Options struct {
	// FileMode is the mode of a new file, by default 0600.
	FileMode fs.FileMode
	// DigestKey is the key of the digests; keep it the same for the life of the file. If empty, digests are plain
	// SHA-256.
	DigestKey prepaid.Secret
	// Seal encrypts the params of each payment into its record, until it is done or withdrawn, so that [Journal.Resume] can send
	// it without your list; see [NewAEAD]. If nil, records have digests only. You can set it for a file that had none.
	Seal AEAD
}

// file is what a Journal needs of *os.File.
type file interface {
	io.WriteCloser
	Sync() error
}

// openFile adds what load needs.
type openFile interface {
	file
	io.Reader
	io.Seeker
	Truncate(size int64) error
}

// batch holds the records that share one sync.
type batch struct {
	data    []byte
	entries []Entry
	flushed bool // guarded by Journal.commit
	err     error
}

// Journal is an open journal, safe for concurrent use. Create one with Open.
type Journal struct {
	options Options
	path    string
	mode    fs.FileMode // of the file, for the one that replaces it
	disk    directory
	unlock  func() error
	opened  time.Time
	torn    int64

	commit  sync.Mutex // held while writing
	file    file       // guarded by commit
	mu      sync.Mutex
	next    *batch
	entries map[prepaid.RequestID]Entry
	turns   map[prepaid.RequestID]*turn
	failed  error // the first failure to write; it stays
	closed  bool
}

// Open opens or creates the journal at path and locks it. An incomplete last line is cut off; see [Journal.Torn].
// Leftovers of a killed compaction are removed.
//
// Errors: [ErrLocked], [*CorruptError], those of the file system.
func Open(path string, options Options) (*Journal, error) {
	if options.FileMode == 0 {
		options.FileMode = 0o600
	}
	path, err := filepath.Abs(path) // the working directory may change before a compaction
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a compaction replaces the file, not the link
	}
	if strings.HasSuffix(path, temporary) {
		return nil, errors.New("journal: a path may not end in " + temporary + ", which is where a compaction writes")
	}
	f, unlock, err := openLocked(path, options.FileMode)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j, err := load(f, options)
	if err == nil {
		j.path, j.mode, j.disk, j.unlock = path, options.FileMode, osDirectory{}, unlock
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

// load reads f and cuts off an incomplete end.
func load(f openFile, options Options) (*Journal, error) {
	entries := make(map[prepaid.RequestID]Entry)
	good, size, err := scan(f, func(e Entry) { entries[e.RequestID] = e })
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(good); err != nil {
		return nil, err
	}
	if _, err := f.Seek(good, io.SeekStart); err != nil {
		return nil, err
	}
	if good == 0 {
		if _, err := io.WriteString(f, header); err != nil {
			return nil, err
		}
	}
	// Data that was read may not have been durable yet.
	if err := f.Sync(); err != nil {
		return nil, err
	}
	return &Journal{
		options: options, file: f, opened: time.Now(), torn: size - good, next: &batch{},
		entries: entries, turns: make(map[prepaid.RequestID]*turn),
	}, nil
}

// Torn returns how many bytes of an incomplete last line Open cut off.
func (j *Journal) Torn() int64 { return j.torn }

// Close waits until records have been written and releases the file. Running payments can no longer be recorded. If the
// Journal could not be written, that error is returned also later.
func (j *Journal) Close() error {
	j.commit.Lock()
	defer j.commit.Unlock()
	j.mu.Lock()
	closed := j.closed
	j.closed = true
	j.mu.Unlock()
	if closed {
		return nil
	}
	return errors.Join(release(j.file), j.file.Close(), j.unlock())
}

// Get returns the entry of a request ID.
func (j *Journal) Get(id prepaid.RequestID) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, ok := j.entries[id]
	return e, ok
}

// All iterates over the current entries, in the order of their request IDs.
func (j *Journal) All() iter.Seq[Entry] {
	j.mu.Lock()
	all := maps.Clone(j.entries)
	j.mu.Unlock()
	return func(yield func(Entry) bool) {
		for _, id := range slices.Sorted(maps.Keys(all)) {
			if !yield(all[id]) {
				return
			}
		}
	}
}

// Pending iterates over the entries that still have to be sent, see [State.Pending]: run them again, or [Journal.Resume]. A rejected
// payment is not pending, but is sent when it is called again: [Journal.Withdraw] what you paid some other way.
func (j *Journal) Pending() iter.Seq[Entry] {
	all := j.All()
	return func(yield func(Entry) bool) {
		for e := range all {
			if e.State.Pending() && !yield(e) {
				return
			}
		}
	}
}

// record returns when e is durable. Calls that arrive while another is writing share the next sync.
func (j *Journal) record(e Entry) error {
	line, err := encode(e)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRecorded, err)
	}
	j.mu.Lock()
	b := j.next
	b.data, b.entries = append(b.data, line...), append(b.entries, e)
	j.mu.Unlock()

	j.commit.Lock()
	defer j.commit.Unlock()
	if !b.flushed {
		j.flush(b)
	}
	return b.err
}

// unusable returns why nothing can be written, if so. The first failure outlives Close: it says what happened to the
// file.
func (j *Journal) unusable() error {
	if j.failed == nil && j.closed {
		return ErrClosed
	}
	return j.failed
}

func (j *Journal) flush(b *batch) {
	j.mu.Lock()
	j.next = &batch{}
	err := j.unusable()
	j.mu.Unlock()
	if err == nil {
		_, err = j.file.Write(b.data)
		if err == nil {
			err = j.file.Sync()
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	b.flushed = true
	if err != nil {
		if err != ErrClosed && j.failed == nil { //nolint:errorlint // the sentinel itself, nothing that wraps it
			j.failed = err // the content of the file is now unknown
		}
		b.err = fmt.Errorf("%w: %w", ErrNotRecorded, err)
		return
	}
	for _, e := range b.entries {
		j.entries[e.RequestID] = e
	}
}
