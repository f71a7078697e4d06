package journal

import (
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
)

// Resolution is what became of a payment, found out otherwise than by sending it again. Make one with [Moved] or
// [NotMoved]; the zero value is none and is refused.
type Resolution struct {
	state       State
	transaction prepaid.TransactionID
}

// Moved says that the money moved, in the transaction that FindMovement or a person found.
func Moved(transaction prepaid.TransactionID) Resolution {
	return Resolution{state: StateDone, transaction: transaction}
}

// NotMoved says that no money moved and none will. A history in which nothing was found is no proof of that soon
// after the last sending: ask the operator, or wait.
func NotMoved() Resolution { return Resolution{state: StateRejected} }

// Resolve records what became of a payment of unknown outcome, as Done or Rejected with [Entry].Resolved set. One
// that moved is then never sent again. One that did not is no longer pending; run again it is sent again, and once
// its request id is expired it needs another.
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

// Total is a number of payments and their sum. The zero value is none.
type Total struct {
	// Count is the number of payments.
	Count int
	// Sum is in currency units, whatever the currency.
	Sum prepaid.Amount
}

// Stats are totals by state. The zero value is that of an empty journal.
type Stats struct {
	// Intended are payments about to be sent, or under way when a process died.
	Intended Total
	// NotSent are those not sent, for a reason that does not lie in the request.
	NotSent Total
	// Unknown are those that may have been applied.
	Unknown Total
	// Done are those whose money moved.
	Done Total
	// Rejected are those that did not move and are not pending.
	Rejected Total
}

// Stats counts the payments as they are now. What was dropped by Compact does not count.
//
// Errors: [prepaid.ErrAmountRange] when a sum has too many digits; the counts are right all the same.
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
