package reconcile

import (
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Expected is the state of a movement according to the books.
type Expected uint8

const (
	// ExpectedUnknown: the money may have moved. It is the zero value.
	ExpectedUnknown Expected = iota
	// ExpectedPaid: the money moved.
	ExpectedPaid
	// ExpectedNotPaid: the money did not move.
	ExpectedNotPaid
	// ExpectedInProgress: the payment may be running. Without a matching transaction ID it is too early to decide until a day after
	// the row's last change. From then on the row never matches by amount, and is reported by each run, so that it hides nothing.
	ExpectedInProgress
)

// String returns the state in words.
func (e Expected) String() string {
	names := [...]string{"unknown", "paid", "not paid", "in progress"}
	if int(e) >= len(names) {
		return fmt.Sprintf("expected(%d)", uint8(e))
	}
	return names[e]
}

// Row is a movement in the books, seen from one account.
type Row struct {
	// RequestID identifies the payment for the caller. It is not used to match.
	RequestID prepaid.RequestID
	// TransactionID is the ID in the history; empty if unknown. The reference does not say whether the history has the ID
	// that a transfer returned. If the operator says that it does not, leave TransactionID empty.
	TransactionID prepaid.TransactionID
	// AccountID is the account. Required.
	AccountID prepaid.AccountID
	// Amount has the sign of the history: debits are negative.
	Amount prepaid.Amount
	// From is the earliest time at which the money can have moved, by your clock. Required.
	From time.Time
	// To is the latest time at which the money can have moved, never before the row's last change. Zero means From.
	To time.Time
	// Expected is the state.
	Expected Expected
}

// Item is a movement at the service.
type Item struct {
	// TransactionID identifies the item.
	TransactionID prepaid.TransactionID
	// AccountID is the account.
	AccountID prepaid.AccountID
	// Type is the four-digit code.
	Type prepaid.TransactionType
	// Amount is negative for debits.
	Amount prepaid.Amount
	// OccurredAt is the time, by the service's clock.
	OccurredAt time.Time
}

// Kind is the kind of a finding. The zero value is not valid.
type Kind uint8

const (
	// KindMatched: one row and one item agree, or a row expects no movement and no item equals it.
	KindMatched Kind = iota + 1
	// KindBooksOnly: in the history that was read, no item equals the row. This is no proof that no money moved.
	KindBooksOnly
	// KindServiceOnly: no row explains the item, or the row with its transaction ID expects no movement (a payment that was not made).
	KindServiceOnly
	// KindAmountDiffers: row and item have the same transaction ID and different amounts.
	KindAmountDiffers
	// KindTwice: several rows or items have the same transaction ID. Or a row matched an item, and another item without a row
	// has the row's amount and is in the row's period or at most Run.Late after it: the payment may have been made twice. Items then has the
	// other item only, and the row the transaction ID of the matched one. A payment that is made again later is KindServiceOnly.
	KindTwice
	// KindAmbiguous: rows and items are equal, and no transaction ID says which belong together, also a row that expects no movement and an
	// item of its amount. None of them is matched or missing.
	KindAmbiguous
	// KindTooEarly: the history or the books may not be complete yet for this time.
	KindTooEarly
)

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{KindMatched, KindBooksOnly, KindServiceOnly, KindAmountDiffers, KindTwice, KindAmbiguous, KindTooEarly}
}

// String returns the kind in words.
func (k Kind) String() string {
	names := [...]string{"", "matched", "books only", "service only", "amount differs", "twice", "ambiguous", "too early"}
	if k == 0 || int(k) >= len(names) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return names[k]
}

// Finding is the result for rows and items that belong together or may belong together. It is evidence, not a decision.
type Finding struct {
	// Kind is the kind.
	Kind Kind
	// AccountID is the account.
	AccountID prepaid.AccountID
	// Rows are rows of the books, with times in whole microseconds. More than 1000 rows and items are divided among several findings.
	Rows []Row
	// Items are items of the service, with times in whole microseconds.
	Items []Item
	// ByAmount: row and item were matched by amount and time because the row has no transaction ID. The item may still be
	// another movement that looks the same.
	ByAmount bool
	// From is the start of the history that was read; zero for a complete history.
	From time.Time
	// CompleteTo is the time up to which the history and the books were complete.
	CompleteTo time.Time
}

// Checkpoint is the progress of a run, for the next run. Store it as JSON. The zero value is for a first run, which
// reads complete histories; to begin at a later time, set the field To.
//
// A checkpoint applies to the accounts of its run. To read the earlier history of an account added later, run without a checkpoint.
type Checkpoint struct {
	// To is the time up to which the run has decided. It is never later than the newest transaction that was read: if the clock of one
	// run is ahead, later runs decide about everything again that this run could not see.
	To time.Time `json:"to"`
	// Failed has, for each account whose history was not read, the time up to which earlier runs have decided, or zero.
	Failed map[prepaid.AccountID]time.Time `json:"failed,omitzero"`
	// Open has, for accounts with findings that wait for a row, the time up to which the run has decided about them, if it is before To.
	Open map[prepaid.AccountID]time.Time `json:"open,omitzero"`
}

// Progress is the progress of a run.
type Progress struct {
	// Accounts is the number of accounts.
	Accounts int
	// Done is how many accounts were compared or failed.
	Done int
	// Rows is how many rows were read.
	Rows int
	// Items is how many items were read.
	Items int
}

// AccountError means that the history of an account could not be read to its end. There are no findings for this account.
type AccountError struct {
	// AccountID is the account.
	AccountID prepaid.AccountID
	// Err is the cause.
	Err error
}

// Error returns the cause, without the account.
func (e *AccountError) Error() string { return "reconcile: history not read: " + e.Err.Error() }

// Unwrap returns Err.
func (e *AccountError) Unwrap() error { return e.Err }

// Errors of [Run.Findings], for errors.Is.
var (
	// ErrRun: not exactly one of Histories and Report is set, Books is missing, a report has no period, or a setting is negative.
	ErrRun = errors.New("reconcile: run needs Books, and either Histories or Report with its period; no setting is negative")
	// ErrRow: a row has no account or no From, or To is before From.
	ErrRow = errors.New("reconcile: row needs an account and a period")
)

// RowOf returns the row of a payment in any store of package journal. The amount becomes negative: the row is the
// paying account's. A payment to a card also credits its destination; an entry does not name that account.
func RowOf(e journal.Entry) Row {
	row := Row{
		RequestID: e.RequestID, TransactionID: e.TransactionID, AccountID: e.AccountID, Amount: e.Amount.Neg(),
		From: e.Began, To: e.Changed,
	}
	if first := e.FirstSent; !first.IsZero() && first.Before(row.From) { // sent before the store had it
		row.From = first
	}
	if row.From.IsZero() { // never sent
		row.From = row.To
	} else if row.From.After(row.To) { // a clock was set back
		row.From, row.To = row.To, row.From
	}
	switch e.State {
	case journal.StateDone:
		row.Expected = ExpectedPaid
	case journal.StateIntended:
		row.Expected = ExpectedInProgress
	case journal.StateUnknown:
		if e.NotBefore.After(row.To) {
			row.To = e.NotBefore
		}
	case journal.StateQueued, journal.StateNotSent, journal.StateRejected, journal.StateWithdrawn:
		row.Expected = ExpectedNotPaid
	}
	return row
}
