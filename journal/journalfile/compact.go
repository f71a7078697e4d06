package journalfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/cardprograms/prepaid/journal"
)

// Compact rewrites the file with the last record of each payment, in the same order. It drops payments that were done,
// rejected or withdrawn before the given time; the zero time drops none. Running payments wait until Compact ends. A
// crash leaves the old or the new file, and the lock is held throughout.
//
// The journal does not know a dropped payment: if you pay it again, it is sent again, even if it was withdrawn. Drop no
// payment that could be sent again: 30 days after the first request the service has forgotten the payment too, and pays
// twice unless the client refuses the request ID as expired.
//
// Errors: [ErrNotCompacted] if the journal is unchanged; the error is also [journal.ErrNotRecorded] if the file could not be
// read. [journal.ErrNotRecorded] for its usual reasons, such as [ErrMoved], or if the file was replaced but the new file's name
// may not be durable: open the journal again.
func (j *Journal) Compact(before time.Time) error {
	j.commit.Lock()
	defer j.commit.Unlock()
	if err := j.usable(); err != nil {
		return j.stop(err)
	}
	fresh, kept, err := j.write(before)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotCompacted, err)
	}
	if err := j.usable(); err != nil { // the path may name another file now
		return errors.Join(j.stop(err), fresh.Close(), j.disk.remove(j.path+temporary))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now, moved, err := j.disk.replace(j.file, fresh, j.path+temporary, j.path)
	j.file = now
	if err != nil && !moved {
		_ = fresh.Close() // replace may have closed the file
		return fmt.Errorf("%w: %w", ErrNotCompacted, errors.Join(err, j.disk.remove(j.path+temporary)))
	}
	clear(j.index)
	j.opened = nil
	j.size = int64(len(header))
	for _, l := range kept {
		j.index[l.key] = l.place
		j.size += int64(l.length)
	}
	if err == nil {
		err = j.disk.sync(filepath.Dir(j.path))
	}
	if err != nil {
		return j.fail(err) // new records might go to a file without a name
	}
	return nil
}

// write creates the new file from lines of the old one. Its content is durable, its name is not. If write fails, it leaves no file.
func (j *Journal) write(before time.Time) (fresh file, kept []located, err error) {
	fresh, err = j.disk.create(j.path+temporary, j.mode)
	if err != nil {
		return nil, nil, err
	}
	w := bufio.NewWriterSize(fresh, 64<<10)
	at, current := int64(len(header)), 0
	_, _ = w.WriteString(header) // Flush returns the error
	kept = make([]located, 0, len(j.index))
	var failed error
	good, _, err := scan(io.NewSectionReader(j.file, 0, j.size), func(from int64, line []byte, e *journal.Entry) {
		l := locate(from, line, e)
		if j.index[l.key] != l.place {
			return // a later record is the current one
		}
		current++
		if e.State.Pending() || !e.Changed.Before(before) {
			if bound, moved := j.opened.bound(*e, from); moved { // the new file has no openings
				var err error
				line, err = encode(bound)
				failed = cmp.Or(failed, err)
			}
			kept = append(kept, locate(at, line, e))
			_, _ = w.Write(line)
			at += int64(len(line))
		}
	})
	err = cmp.Or(err, failed)
	if err == nil && (good != j.size || current != len(j.index)) {
		err = &CorruptError{Offset: good}
	}
	if err != nil { // the file was changed, or cannot be read any more
		err = j.stop(err)
	} else if err = w.Flush(); err == nil {
		err = fresh.Sync()
	}
	if err != nil {
		return nil, nil, errors.Join(err, fresh.Close(), j.disk.remove(j.path+temporary))
	}
	return fresh, kept, nil
}
