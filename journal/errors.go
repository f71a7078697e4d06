package journal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cardprograms/prepaid"
)

// Sentinels, for errors.Is.
var (
	// ErrLocked: another Journal has the file open.
	ErrLocked = errors.New("journal: locked by another journal")
	// ErrClosed: the Journal was closed.
	ErrClosed = errors.New("journal: closed")
	// ErrCorrupt: the file is damaged before its end, or is not a journal.
	ErrCorrupt = errors.New("journal: corrupt")
	// ErrChanged: the request ID is recorded for a payment with different params. These params were not sent, and can
	// never be sent. Do not pay under a new request ID: the recorded payment may have been made; its state is in the
	// [ChangedError]. A person must decide which payment is right. The error is also [prepaid.ErrRequestIDReused].
	ErrChanged = errors.New("journal: params changed under their request id")
	// ErrWindow: the outcome is unknown, and the request ID is too old: the service may have forgotten it, or the client
	// refuses it. Look at the history with FindMovement, and record the result with [Journal.Resolve]. If [Entry].Runs is 0,
	// this journal never sent the payment.
	ErrWindow = errors.New("journal: too old to be sent again, look at the history with FindMovement")
	// ErrNotRecorded: the file could not be written or read. Nothing more is sent by this Journal.
	ErrNotRecorded = errors.New("journal: not recorded")
	// ErrMoved: the file was renamed, removed or replaced while the Journal had it open. Another process can open a file
	// under the old name, and the next run would not find these records. Restore the name of the file before you run again.
	ErrMoved = errors.New("journal: the file was renamed or removed while it was open")
	// ErrNotUnknown: there is nothing to resolve: the outcome is known, or there is no such payment.
	ErrNotUnknown = errors.New("journal: no payment of unknown outcome under this request id")
	// ErrUnderWay: a call for the request ID is running and will find the outcome.
	ErrUnderWay = errors.New("journal: payment under way")
	// ErrState: the event is not possible in the payment's state; nothing changed. The error is a [*StateError].
	ErrState = errors.New("journal: not possible in this state")
	// ErrWithdrawn: the payment was withdrawn: it moved nothing and is not sent any more, unless Retry makes it due.
	ErrWithdrawn = errors.New("journal: withdrawn")
	// ErrNoPayment: there is no payment under the request ID.
	ErrNoPayment = errors.New("journal: no payment under this request id")
	// ErrNoParams: the entry has no sealed params: it was written without [Options].Seal.
	ErrNoParams = errors.New("journal: no sealed params")
	// ErrKey: the params were sealed with a key that the AEAD does not have.
	ErrKey = errors.New("journal: sealed with another key")
	// ErrSealed: the sealed params were changed, belong to another payment, or were digested with another DigestKey.
	ErrSealed = errors.New("journal: sealed params are damaged or belong to another payment")
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

// ChangedError lists the fields, never the values, that differ from the recorded payment.
type ChangedError struct {
	// Fields are any of operation, account_id, amount, destination and params (which means any other field).
	Fields []string
	// State is the state of the recorded payment.
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
