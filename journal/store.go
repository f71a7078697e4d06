package journal

import (
	"context"
	"time"

	"github.com/cardprograms/prepaid"
)

// Store keeps payments durably for [Workers]. A [Journal] is one, contrib/postgres another; implement it on a database of your own, and
// test that with package storetest.
//
// A payment in a store has an [Entry], a time at which it is due, and a fence. The fence changes with each claim and each decision, and
// never takes an earlier value again, even if a commit was lost or a backup was restored: make it random. Fence and due time are
// compared on the store's clock alone.
type Store interface {
	// Claim begins a run of at most c.N payments that are due and that no other worker holds, the longest due first. It returns
	// them as they were before. When it returns, each payment is durably as [Entry.Begin] makes it, has a new fence, and is due
	// again c.Sends + c.Rest later. After an error nothing may be sent, but the claim may have been committed.
	Claim(ctx context.Context, c Claim) ([]Held, error)
	// Record ends runs, durably, and returns the result for each, in the same order. It may be called again with ends that an
	// earlier call has recorded, although that call returned an error.
	Record(ctx context.Context, ends []End) ([]Recorded, error)
	// Resting returns the first payment that rests, see [Entry.Rests], and is due after admitted, or nil if there is none.
	Resting(ctx context.Context, admitted time.Time) (*Resting, error)
	// Decide replaces the entry of a payment by that which decision returns, with a new fence, so that no end of an earlier run
	// is recorded, except a success. now is by the store's clock. A payment that is to be sent again is due at once, or at its
	// NotBefore.
	//
	// Errors: [ErrNoPayment], [ErrUnderWay] if a worker holds the payment, those of decision, those of the store.
	Decide(ctx context.Context, id prepaid.RequestID, decision func(e Entry, now time.Time) (Entry, error)) error
}

// Claim describes a worker's claim.
type Claim struct {
	// N is the highest number of payments.
	N int
	// Sends is how long after the claim the worker may send.
	Sends time.Duration
	// Rest is how long after that its last request may be in progress: AttemptTimeout and InFlightWait of its client. No other
	// worker gets the payment until both are over.
	Rest time.Duration
	// Admitted holds back payments that rest, see [Entry.Rests]: only those are taken that became due up to then, by the store's clock.
	Admitted time.Time
}

// Held is a payment that a worker holds.
type Held struct {
	// Entry is the payment before the claim, with its sealed params, by the store's clock. If its last run never ended, it is as
	// [Entry.Died] returns it for that worker's [Claim].
	Entry Entry
	// Fence is the fence of the claim.
	Fence string
	// Now is the time of the store's clock at the claim.
	Now time.Time
}

// End is the end of a run.
type End struct {
	// Fence is that of the claim. If the payment has another one, only a success is recorded.
	Fence string
	// Entry is the payment after the run, by the clock of the process: a store on another machine keeps its times as ages.
	Entry Entry
	// GivenBack reports that nothing was sent.
	GivenBack bool
	// Wait is how long it is until the payment is due again, if [Entry.Due] reports that it is to be.
	Wait time.Duration
}

// Final reports whether the run was sent and nothing is left to do for workers: done, rejected, or for a person.
func (e End) Final() bool { return !e.GivenBack && !e.Entry.Due() }

// Recorded is the result of recording an [End].
type Recorded struct {
	// Written reports that the payment is as the end says.
	Written bool
	// Overtaken reports that the payment had another fence: another worker has claimed it since, or a person has decided. A success
	// is written nevertheless.
	Overtaken bool
	// Gone reports that the payment is no longer in the store: nothing was written.
	Gone bool
	// Locked reports that nothing was written yet, because another transaction has locked the payment: it is recorded again. A
	// store that waits for such a lock instead holds up the other outcomes.
	Locked bool
	// Known is the transaction of a payment that was done before a success was to be written.
	Known prepaid.TransactionID
}

// Resting is a payment that must not be sent again before the service has responded to a later request; see [Sender].AwaitRepeat.
type Resting struct {
	// Account is the paying account.
	Account prepaid.AccountID
	// Due is when the payment is due, by the store's clock.
	Due time.Time
	// Wait is how long it is until then; negative if it has passed.
	Wait time.Duration
}

// Shift returns e with all its times moved, from one clock to another.
func (e Entry) Shift(by time.Duration) Entry {
	for _, t := range []*time.Time{&e.Began, &e.Changed, &e.FirstSent, &e.LastSent, &e.NotBefore} {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
	return e
}
