package journal

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
)

// Compact rewrites the file with the last record of each payment, without payments that were done, rejected or withdrawn before
// a given time; the zero time drops none. Payments may continue meanwhile, but wait. A crash leaves the old file or the new
// one, and the lock is held throughout.
//
// A dropped payment is unknown to the journal: if it is run again, it is sent again, also if it was withdrawn. Drop none that
// could be run again: 30 days after its first sending the service has forgotten it too, and pays twice unless the client refuses
// the request ID as expired.
//
// Errors: [ErrNotCompacted], and the journal is unchanged. [ErrNotRecorded] as everywhere, and if the file was replaced
// but its name may not be durable: open the journal again.
func (j *Journal) Compact(before time.Time) error {
	j.commit.Lock()
	defer j.commit.Unlock()
	j.mu.Lock()
	err, entries := j.unusable(), maps.Clone(j.entries)
	j.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotRecorded, err)
	}
	maps.DeleteFunc(entries, func(_ prepaid.RequestID, e Entry) bool { return !e.State.Pending() && e.Changed.Before(before) })
	fresh, err := j.write(entries)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotCompacted, err)
	}
	now, moved, err := j.disk.replace(j.file, fresh, j.path+temporary, j.path)
	j.file = now
	if err != nil && !moved {
		_ = fresh.Close() // may be closed
		return fmt.Errorf("%w: %w", ErrNotCompacted, errors.Join(err, j.disk.remove(j.path+temporary)))
	}
	if err == nil {
		err = j.disk.sync(filepath.Dir(j.path))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.failed = err // new records might go to a file without a name
		return fmt.Errorf("%w: %w", ErrNotRecorded, err)
	}
	j.entries = entries
	return nil
}

// write creates the new file; everything except its name is durable. If it fails, it leaves no file.
func (j *Journal) write(entries map[prepaid.RequestID]Entry) (fresh file, err error) {
	content := bytes.NewBufferString(header)
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		line, err := encode(entries[id])
		if err != nil {
			return nil, err
		}
		content.Write(line)
	}
	fresh, err = j.disk.create(j.path+temporary, j.mode)
	if err != nil {
		return nil, err
	}
	if _, err = fresh.Write(content.Bytes()); err == nil {
		err = fresh.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, fresh.Close(), j.disk.remove(j.path+temporary))
	}
	return fresh, nil
}
