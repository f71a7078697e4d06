package journal

import (
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
)

// Resolution is what happened to a payment, found out in another way than by sending it again. Create one with [Moved] or
// [NotMoved].
type Resolution struct {
	state       State
	transaction prepaid.TransactionID
}

// Moved says that the money moved, in the transaction that FindMovement or a person found.
func Moved(transaction prepaid.TransactionID) Resolution {
	return Resolution{state: StateDone, transaction: transaction}
}

// NotMoved says that no money moved and none will. A history without the movement is not proof soon after the last
// sending: ask the operator, or wait.
func NotMoved() Resolution { return Resolution{state: StateRejected} }

// Resolve records what happened to a payment of unknown outcome, as Done or Rejected with [Entry].Resolved set. One that
// moved is never sent again. One that did not is no longer pending; if run again it is sent again, and after its request
// ID has expired it needs a new one.
//
// Errors: [ErrNotUnknown], [ErrUnderWay], a [*prepaid.ValidationError] of the resolution, [ErrNotRecorded].
func (j *Journal) Resolve(id prepaid.RequestID, resolution Resolution) error {
	switch {
	case resolution.state == "":
		return refused("resolution", "must be made with Moved or NotMoved")
	case resolution.state == StateDone && resolution.transaction == "":
		return refused("transaction_id", "is required")
	}
	leave, free := j.tryEnter(id)
	if !free {
		return ErrUnderWay
	}
	defer leave()
	e, known := j.Get(id)
	if !known || !e.open() {
		return ErrNotUnknown
	}
	e.State, e.TransactionID, e.Resolved, e.Changed = resolution.state, resolution.transaction, true, time.Now().UTC()
	if e.State == StateDone {
		e.NotBefore = time.Time{}
	}
	return j.record(e)
}

func refused(field, rule string) error {
	return fmt.Errorf("journal: %w", &prepaid.ValidationError{Faults: []prepaid.Fault{{Field: field, Rule: rule}}})
}

// Total is a number of payments and their sum.
type Total struct {
	// Count is the number of payments.
	Count int
	// Sum is in currency units, whatever the currency.
	Sum prepaid.Amount
}

// Stats are totals by state.
type Stats struct {
	// Intended are payments about to be sent, or being sent when a process died.
	Intended Total
	// NotSent are payments not sent for a reason that is not in the request.
	NotSent Total
	// Unknown are payments that may have been applied.
	Unknown Total
	// Done are payments whose money moved.
	Done Total
	// Rejected are payments that did not move and are not pending.
	Rejected Total
}

// Stats returns the current totals. Payments dropped by Compact are not counted.
//
// Errors: [prepaid.ErrAmountRange] if a sum has too many digits; the counts are correct nevertheless.
func (j *Journal) Stats() (Stats, error) {
	var stats Stats
	var failed error
	for e := range j.All() {
		total := map[State]*Total{
			StateIntended: &stats.Intended, StateNotSent: &stats.NotSent, StateUnknown: &stats.Unknown,
			StateDone: &stats.Done, StateRejected: &stats.Rejected,
		}[e.State]
		total.Count++
		sum, err := total.Sum.Add(e.Amount)
		if err != nil {
			failed = err
			continue
		}
		total.Sum = sum
	}
	return stats, failed
}
