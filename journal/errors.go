package journal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cardprograms/prepaid"
)

// Sentinels, for errors.Is.
var (
	// ErrLocked: another Journal has the file open. Where only a lock file can keep others out, the error names the
	// file, since one of a process that died has to be removed by hand.
	ErrLocked = errors.New("journal: locked by another journal")
	// ErrClosed: the Journal was closed.
	ErrClosed = errors.New("journal: closed")
	// ErrCorrupt: the file is damaged before its end, or is no journal.
	ErrCorrupt = errors.New("journal: corrupt")
	// ErrChanged: the request id stands for a payment with other params. This call was not sent, and never can be. Do not
	// pay under a new request id: the recorded payment, whose state is in the [ChangedError], may have been made. Have a
	// person decide which of the two is right. It is a [prepaid.ErrRequestIDReused] too.
	ErrChanged = errors.New("journal: params changed under their request id")
	// ErrWindow: the outcome is unknown and the service may have forgotten the request id, or the client refuses it as
	// too old. Look at the history with FindMovement, and tell the journal with [Journal.Resolve]; [Entry].Runs of 0 says
	// that this journal has never sent it.
	ErrWindow = errors.New("journal: too old to be sent again, look at the history with FindMovement")
	// ErrNotRecorded: the file could not be written. Nothing more is sent by this Journal.
	ErrNotRecorded = errors.New("journal: not recorded")
	// ErrNotUnknown: there is nothing to resolve, since the outcome is known or the request id is not.
	ErrNotUnknown = errors.New("journal: no payment of unknown outcome under this request id")
	// ErrUnderWay: a call is at work on the request id and will find the outcome itself.
	ErrUnderWay = errors.New("journal: payment under way")
	// ErrNotCompacted: the file is as it was before Compact.
	ErrNotCompacted = errors.New("journal: not compacted")
)

// CorruptError says where the file is damaged. The zero value is not used.
type CorruptError struct {
	// Line is the number of the line, from 1.
	Line int
	// Offset is the byte at which the line begins.
	Offset int64
}

// Error gives line and offset.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal: corrupt at line %d, byte %d", e.Line, e.Offset)
}

// Is matches [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// ChangedError names what differs from the recorded payment, never the values. The zero value names nothing.
type ChangedError struct {
	// Fields are among operation, account_id, amount, destination and params (any other field).
	Fields []string
	// State is that of the recorded payment: how far the one with the other params has come.
	State State
}

// Error lists the fields, and the state of the recorded payment.
func (e *ChangedError) Error() string {
	return ErrChanged.Error() + ": " + strings.Join(e.Fields, ", ") + " (recorded payment: " + string(e.State) + ")"
}

// Is matches [ErrChanged] and [prepaid.ErrRequestIDReused].
func (e *ChangedError) Is(target error) bool {
	return target == ErrChanged || target == prepaid.ErrRequestIDReused
}
