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

// Options sets up a Journal. The zero value is the stated defaults.
type Options struct {
	// FileMode is that of a new file: 0600 when zero.
	FileMode fs.FileMode
	// DigestKey keys the digests; keep it the same for the life of the file. Empty for plain SHA-256.
	DigestKey prepaid.Secret
}

// file is what a Journal needs of *os.File.
type file interface {
	io.WriteCloser
	Sync() error
}

// openFile is what load needs of it besides.
type openFile interface {
	file
	io.Reader
	io.Seeker
	Truncate(size int64) error
}

// batch is the records that share one sync.
type batch struct {
	data    []byte
	entries []Entry
	flushed bool // guarded by Journal.commit
	err     error
}

// Journal is an open journal, safe for concurrent use. Make one with Open.
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

// Open opens the journal at path, or creates it, and locks it. A torn last line is cut off; see [Journal.Torn]. What
// a compaction that was killed left behind is removed.
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

// load reads f and makes its end a clean one.
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
	// Also what was read may not have been durable yet.
	if err := f.Sync(); err != nil {
		return nil, err
	}
	return &Journal{
		options: options, file: f, opened: time.Now(), torn: size - good, next: &batch{},
		entries: entries, turns: make(map[prepaid.RequestID]*turn),
	}, nil
}

// Torn is how many bytes of an unfinished last line Open cut off.
func (j *Journal) Torn() int64 { return j.torn }

// Close waits for records being written and gives the file back. Payments under way can no longer be recorded.
// A Journal that could not be written keeps answering with that error.
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

// Get returns the entry of a request id.
func (j *Journal) Get(id prepaid.RequestID) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, ok := j.entries[id]
	return e, ok
}

// All goes through the entries as they are now, in the order of their request ids.
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

// Pending goes through the entries that are neither done nor rejected: run them again. A rejected payment is not pending,
// but is sent when it is called again: take out of the list what was paid another way.
func (j *Journal) Pending() iter.Seq[Entry] {
	all := j.All()
	return func(yield func(Entry) bool) {
		for e := range all {
			if !e.settled() && !yield(e) {
				return
			}
		}
	}
}

// record returns when e is durable. Those who come while another writes share the next sync.
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

// unusable is why nothing can be written, if so. The first failure outlives Close: it says what happened to the file.
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
			j.failed = err // what the file holds now is not known
		}
		b.err = fmt.Errorf("%w: %w", ErrNotRecorded, err)
		return
	}
	for _, e := range b.entries {
		j.entries[e.RequestID] = e
	}
}
