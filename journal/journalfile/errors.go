package journalfile

import (
	"fmt"

	"github.com/cardprograms/prepaid/internal/sentinel"
)

// Sentinels, for errors.Is.
var (
	// ErrLocked: another Journal has the file open.
	ErrLocked = sentinel.New("journalfile: locked, the file is already open")
	// ErrClosed: the Journal was closed.
	ErrClosed = sentinel.New("journalfile: closed")
	// ErrCorrupt: the file is damaged before its end, or is not a journal.
	ErrCorrupt = sentinel.New("journalfile: corrupt")
	// ErrMoved: the file was renamed, removed or replaced while the Journal had it open. Another process can open a file
	// under the old name, and the next run would not find these records. Restore the name of the file before you run again.
	ErrMoved = sentinel.New("journalfile: the file was renamed or removed while it was open")
	// ErrNotCompacted: Compact failed; the file is unchanged.
	ErrNotCompacted = sentinel.New("journalfile: not compacted")
)

// CorruptError reports where the file is damaged.
type CorruptError struct {
	// Line is the number of the line, from 1; 0 if the damage was found after the file was opened.
	Line int
	// Offset is the byte at which the line starts.
	Offset int64
}

// Error returns line and offset.
func (e *CorruptError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("journalfile: corrupt at byte %d", e.Offset)
	}
	return fmt.Sprintf("journalfile: corrupt at line %d, byte %d", e.Line, e.Offset)
}

// Is matches [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }
