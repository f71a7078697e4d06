package journalfile

import (
	"errors"
	"fmt"
)

// Sentinels, for errors.Is.
var (
	// ErrLocked: another Journal has the file open.
	ErrLocked = errors.New("journal: locked by another journal")
	// ErrClosed: the Journal was closed.
	ErrClosed = errors.New("journal: closed")
	// ErrCorrupt: the file is damaged before its end, or is not a journal.
	ErrCorrupt = errors.New("journal: corrupt")
	// ErrMoved: the file was renamed, removed or replaced while the Journal had it open. Another process can open a file
	// under the old name, and the next run would not find these records. Restore the name of the file before you run again.
	ErrMoved = errors.New("journal: the file was renamed or removed while it was open")
	// ErrNotCompacted: Compact failed; the file is unchanged.
	ErrNotCompacted = errors.New("journal: not compacted")
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
		return fmt.Sprintf("journal: corrupt at byte %d", e.Offset)
	}
	return fmt.Sprintf("journal: corrupt at line %d, byte %d", e.Line, e.Offset)
}

// Is matches [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }
