package journal

import (
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/sentinel"
)

// Sentinels, for errors.Is.
var (
	// ErrChanged: the request ID is recorded for a payment with different params. These params were not sent, and can
	// never be sent. Do not pay under a new request ID: the recorded payment may have been made; its state is in the
	// [ChangedError]. A person must decide which payment is right. The error is also [prepaid.ErrRequestIDReused].
	ErrChanged = sentinel.New("journal: params changed under their request id")
	// ErrWindow: the outcome is unknown, and the request ID is too old: the service may have forgotten it, or the client
	// refuses it, as it refuses to repeat a load with [prepaid.Config].NeverRepeatLoads. Look at the history with FindMovement, and record the
	// result with [Entry.Resolve]. If [Entry].Runs is 0, this store never sent the payment.
	ErrWindow = sentinel.New("journal: too old to be sent again, look at the history with FindMovement")
	// ErrNotRecorded: the store could not be written or read.
	ErrNotRecorded = sentinel.New("journal: not recorded")
	// ErrFailover: the server of the store is not the one from which payments were sent, as after a failover. It may lack the last commits:
	// sending its payments could pay twice. Workers send nothing more. End all of them, then continue as the store documents:
	// contrib/postgres has Store.Recover.
	ErrFailover = sentinel.New("journal: the store is on another server, which may lack the last commits")
	// ErrNotUnknown: there is nothing to resolve: the outcome is known, or there is no such payment.
	ErrNotUnknown = sentinel.New("journal: no payment of unknown outcome under this request id")
	// ErrUnderWay: a call for the request ID is running and will find the outcome.
	ErrUnderWay = sentinel.New("journal: payment under way")
	// ErrState: the event is not possible in the payment's state; nothing changed. The error is a [*StateError].
	ErrState = sentinel.New("journal: not possible in this state")
	// ErrWithdrawn: the payment was withdrawn: it moved nothing and is not sent any more, unless Retry makes it due.
	ErrWithdrawn = sentinel.New("journal: withdrawn")
	// ErrNoPayment: there is no payment under the request ID.
	ErrNoPayment = sentinel.New("journal: no payment under this request id")
	// ErrNoParams: the entry has no sealed params: the store had no AEAD.
	ErrNoParams = sentinel.New("journal: no sealed params")
	// ErrKey: the params were sealed with a key that the AEAD does not have.
	ErrKey = sentinel.New("journal: sealed with another key")
	// ErrSealed: the sealed params were changed, belong to another payment, or were digested with another DigestKey.
	ErrSealed = sentinel.New("journal: sealed params are damaged or belong to another payment")
)

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
