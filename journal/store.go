package journal

import (
	"context"
	"time"

	"github.com/cardprograms/prepaid"
)

// Store keeps payments durably for [Workers]. Packages journalfile and contrib/postgres have one each. You can
// implement Store on your own database, and test it with package storetest.
//
// A payment in a store has an [Entry], a time at which it is due, and a fence. Each claim and each decision changes the fence, which
// must never have an earlier value again, even if a commit was lost or a backup was restored: make it random. Due times are compared
// with the store's clock alone.
type Store interface {
	// Claim begins a run of at most c.N payments that are due and that no other worker holds, the longest due first. It returns
	// them as they were before the claim. When it returns, each payment is stored durably: as [Entry.Begin] makes it, with a new
	// fence, and due again after c.Sends + c.Rest. After an error nothing may be sent, but the claim may have been committed. A store that
	// may have lost commits since the worker began claims nothing, and returns [ErrFailover], which ends the worker. Workers make up to four
	// claims at the same time.
	Claim(ctx context.Context, c Claim) ([]Held, error)
	// Record ends runs, durably, and returns the result for each, in the same order. After an error, Workers may call Record
	// again with ends that were recorded nevertheless. With [ErrFailover], which ends the worker, all ends have been recorded.
	Record(ctx context.Context, ends []End) ([]Recorded, error)
	// Resting returns the first payment that rests (see [Entry.Rests]) and is due after the time admitted; nil if there is none.
	Resting(ctx context.Context, admitted time.Time) (*Resting, error)
	// Decide replaces the entry of a payment by the result of decision, with a new fence: an end of an earlier run is then recorded only
	// if it is a success. now is the time by the store's clock. A payment that is to be sent again is due at once, or at its NotBefore.
	//
	// Errors: [ErrNoPayment]; [ErrUnderWay] if a worker holds the payment; those of decision and of the store.
	Decide(ctx context.Context, id prepaid.RequestID, decision func(e Entry, now time.Time) (Entry, error)) error
}

// EvidenceStore is a [Store] that also keeps what the client knows about the service's responses: see Evidence of
// [prepaid.AccountsService]. Otherwise, payments of unknown outcome begin their wait again in each process. Evidence is optional: a store
// may lose it, or keep that of any one of its workers.
type EvidenceStore interface {
	Store
	// Evidence returns what was saved last, nil if there is none, and the present time of the store's clock.
	Evidence(ctx context.Context) (evidence []byte, now time.Time, err error)
	// SaveEvidence replaces the evidence. It is called every second while payments rest.
	SaveEvidence(ctx context.Context, evidence []byte) error
}

// Claim describes a worker's claim.
type Claim struct {
	// N is the highest number of payments.
	N int
	// Sends is how long after the claim the worker may send.
	Sends time.Duration
	// Rest is how long the worker's last request may be in progress after Sends: AttemptTimeout plus InFlightWait of its
	// client. No other worker gets the payment before the end of Rest.
	Rest time.Duration
	// Admitted limits the claim of payments that rest (see [Entry.Rests]): they must be due by this time of the store's clock.
	Admitted time.Time
}

// Held is a payment that a worker holds.
type Held struct {
	// Entry is the state before the claim, with sealed params and times by the store's clock. If its last run never ended, Entry
	// is the result of [Entry.Died] for the [Claim] of that run.
	Entry Entry
	// Fence is the fence of the claim.
	Fence string
	// Now is the time of the claim by the store's clock.
	Now time.Time
}

// End is the end of a run.
type End struct {
	// Fence is the fence of the claim. If the payment has another fence, only a success is recorded.
	Fence string
	// Entry is the payment after the run, with times by the process's clock: a store on another machine converts them with [Entry.Shift].
	Entry Entry
	// GivenBack reports that nothing was sent.
	GivenBack bool
	// Wait is the time until the payment is due again, if [Entry.Due] reports true.
	Wait time.Duration
}

// Final reports whether the payment was sent and workers are finished with it: it is done or rejected, or a person must decide.
func (e End) Final() bool { return !e.GivenBack && !e.Entry.Due() }

// Recorded is the result of recording an [End].
type Recorded struct {
	// Written reports that the end was stored.
	Written bool
	// Overtaken reports that the payment had another fence: another worker claimed it since, or a person decided. A success is
	// written nevertheless.
	Overtaken bool
	// Gone reports that the payment is no longer in the store: nothing was written.
	Gone bool
	// Locked reports that nothing was written yet, because another transaction has locked the payment: workers record
	// the end again. If a store waits for such a lock, it delays the other outcomes.
	Locked bool
	// Known is the transaction of a payment that was already done when a success arrived.
	Known prepaid.TransactionID
}

// Resting is a payment that must not be sent again before the service has responded to a later request; see [Sender].AwaitRepeat.
type Resting struct {
	// Account is the paying account.
	Account prepaid.AccountID
	// Due is when the payment is due, by the store's clock.
	Due time.Time
	// Wait is the time until Due; negative after it.
	Wait time.Duration
	// Age is the time since [Entry].Changed: a run that never ended may have sent the payment that long ago.
	Age time.Duration
}

// Shift returns e with all its times moved from one clock to another. from and to are the present moment on these clocks. If from
// is [time.Now], ages are those of the monotonic clock, even if the wall clock was set meanwhile. If to is time.Now, the times get
// monotonic readings, and its zone; to write them, use time.Now().UTC().
func (e Entry) Shift(from, to time.Time) Entry {
	for _, t := range []*time.Time{&e.Began, &e.Changed, &e.FirstSent, &e.LastSent, &e.NotBefore} {
		if !t.IsZero() {
			*t = to.Add(t.Sub(from))
		}
	}
	return e
}
