package journal

import (
	"fmt"

	"github.com/cardprograms/prepaid"
)

// Resolution is the outcome of a payment, found without sending it again. Create it with [Moved] or [NotMoved].
type Resolution struct {
	event       Event
	transaction prepaid.TransactionID
}

// Moved means that the money moved, in the transaction that FindMovement or a person found.
func Moved(transaction prepaid.TransactionID) Resolution {
	return Resolution{event: EventDone, transaction: transaction}
}

// NotMoved means that no money moved and none will. Soon after the last request, a history without the movement is
// no proof: ask the operator, or wait.
func NotMoved() Resolution { return Resolution{event: EventNotMoved} }

func refused(field, rule string) error {
	return fmt.Errorf("journal: %w", &prepaid.ValidationError{Faults: []prepaid.FieldError{{Field: field, Rule: rule}}})
}

// Total is the number and the sum of some payments.
type Total struct {
	// Count is the number of payments.
	Count int
	// Sum is in currency units, whatever the currency.
	Sum prepaid.Amount
}

// Stats are totals by state.
type Stats struct {
	// Queued are payments that were accepted and never sent.
	Queued Total
	// Intended are payments that a call is sending, or was sending when its process died.
	Intended Total
	// NotSent are payments not sent for a reason outside the request.
	NotSent Total
	// Unknown are payments whose money may have moved.
	Unknown Total
	// Done are payments whose money moved.
	Done Total
	// Rejected are payments that moved nothing and are not pending.
	Rejected Total
	// Withdrawn are payments that moved nothing and are not sent again.
	Withdrawn Total
}

// Of returns the totals of a state.
func (s *Stats) Of(state State) *Total {
	return map[State]*Total{
		StateQueued: &s.Queued, StateIntended: &s.Intended, StateNotSent: &s.NotSent, StateUnknown: &s.Unknown, StateDone: &s.Done,
		StateRejected: &s.Rejected, StateWithdrawn: &s.Withdrawn,
	}[state]
}
