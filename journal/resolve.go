package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

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

// Resolve records a payment of unknown outcome as Done or Rejected, with [Entry].Resolved set. A moved payment is never
// sent again. A payment that did not move is no longer pending: another run sends it again. After its request ID
// has expired, it needs a new ID.
//
// Errors: [ErrNotUnknown], [ErrUnderWay], a [*prepaid.ValidationError] of the resolution, [ErrNotRecorded].
func (j *Journal) Resolve(id prepaid.RequestID, resolution Resolution) error {
	err := j.Decide(context.Background(), id, func(e Entry, now time.Time) (Entry, error) { return e.Resolve(now, resolution) })
	if errors.Is(err, ErrNoPayment) {
		return ErrNotUnknown
	}
	return err
}

// Withdraw records that a payment is not sent any more, for example because you paid some other way. It must be unsent
// or rejected: nothing moved. From then on, Transfer and DirectEntryOut refuse its request ID with [ErrWithdrawn].
//
// Errors: [ErrState] for a payment that is done, already withdrawn, or that may have moved the money (resolve it
// first); [ErrNoPayment], [ErrUnderWay], [ErrNotRecorded].
func (j *Journal) Withdraw(id prepaid.RequestID) error {
	return j.Decide(context.Background(), id, func(e Entry, now time.Time) (Entry, error) { return e.Withdraw(now) })
}

// Retry makes a rejected or withdrawn payment pending, see [Entry.Retry].
//
// Errors: [ErrState] for any other payment; [ErrNoPayment], [ErrUnderWay], [ErrNotRecorded].
func (j *Journal) Retry(id prepaid.RequestID) error {
	return j.Decide(context.Background(), id, func(e Entry, now time.Time) (Entry, error) { return e.Retry(now) })
}

func refused(field, rule string) error {
	return fmt.Errorf("journal: %w", &prepaid.ValidationError{Faults: []prepaid.Fault{{Field: field, Rule: rule}}})
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
	// Queued are payments that were accepted and never sent; a Journal has none.
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

// Stats returns the current totals. Payments dropped by Compact are not counted.
//
// Errors: [prepaid.ErrAmountRange] if a sum has too many digits; the counts are correct nevertheless. Any other error
// is that of [Journal.Err]: the totals may be incomplete.
func (j *Journal) Stats() (Stats, error) {
	var stats Stats
	var failed error
	for e := range j.All() {
		total := stats.Of(e.State)
		total.Count++
		sum, err := total.Sum.Add(e.Amount)
		if err != nil {
			failed = err
			continue
		}
		total.Sum = sum
	}
	return stats, cmp.Or(failed, j.Err())
}
