package journalfile

import (
	"context"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/journal"
)

// Transfer makes a card-to-card transfer once, however often you call it with the same params. If an earlier run did
// not send the payment, or it was rejected, Transfer sends it.
//
// Errors: a [*prepaid.CallError], so that [prepaid.OutcomeOf] reports the outcome. Its cause is an error of the sender or of
// [Options].Seal, [journal.ErrChanged] (not sent, [prepaid.OutcomeRejected]; never pay under a new request ID because of it),
// [journal.ErrWithdrawn] (the same outcome), [journal.ErrWindow], or [journal.ErrNotRecorded]. If the payment was made but not recorded,
// Transfer returns both result and error.
//
// An unknown outcome stays unknown until a later request succeeds, or is refused in a way that [prepaid.ProvesNotApplied] accepts.
// The call waits until [Journal.NotBefore] to send that request, but not if the wait would outlast the deadline of ctx. Record
// the result of a person or of FindMovement with [Journal.Resolve].
//
// The journal records when it sent a payment. Set LastSent of params only if you sent the payment without the
// journal, with unknown outcome; the journal then records it as unknown.
func (j *Journal) Transfer(ctx context.Context, sender journal.Sender, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return j.pay(ctx, sender, source, params)
}

// DirectEntryOut makes a payment to a bank account once. Otherwise it is like [Journal.Transfer].
func (j *Journal) DirectEntryOut(ctx context.Context, sender journal.Sender, source prepaid.AccountID, params prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	return j.pay(ctx, sender, source, params)
}

func (j *Journal) pay(ctx context.Context, sender journal.Sender, source prepaid.AccountID, params prepaid.PaymentParams) (*prepaid.TransferResult, error) {
	fresh, err := journal.NewEntry(j.options.DigestKey, source, params)
	if err == nil && fresh.RequestID == "" {
		err = fmt.Errorf("journalfile: %w", &prepaid.ValidationError{Faults: []prepaid.FieldError{{Field: "request_id", Rule: "is required"}}})
	}
	if err != nil {
		return nil, fresh.CallError(prepaid.OutcomeRejected, err)
	}
	e, known, leave, err := j.enter(ctx, fresh.RequestID)
	defer leave()
	switch {
	case err != nil: // a call is working on the payment, or an earlier run may have sent it
		fresh.NotBefore = sender.NotBefore(time.Now())
		return nil, fresh.CallError(prepaid.OutcomeUnknown, err)
	case !known:
		e = fresh
	case e.Match(fresh) != nil: // these params were never sent; another outcome would make loops retry forever
		return nil, fresh.CallError(prepaid.OutcomeRejected, e.Match(fresh))
	case e.State == journal.StateDone:
		return &prepaid.TransferResult{TransactionID: e.TransactionID, CorrelationID: e.CorrelationID, RequestID: e.RequestID}, nil
	}
	return j.run(ctx, sender, e, params)
}

// run makes one run of payment e. The caller holds its per-ID lock.
func (j *Journal) run(ctx context.Context, sender journal.Sender, e journal.Entry, params prepaid.PaymentParams) (*prepaid.TransferResult, error) {
	now := time.Now()
	run, err := e.Begin(now)
	if err != nil {
		return nil, err
	}
	err = ctx.Err()
	if bound, moved := bounded(e, now); moved && err == nil {
		e = bound
		err = j.record(e)
	}
	if err == nil && e.Rests() {
		forget := j.remember(ctx, sender)
		defer forget()
		err = pause.Aside(ctx, func(ctx context.Context) error { return e.Await(ctx, sender) })
	}
	if err == nil && j.options.Seal != nil && e.Sealed == nil {
		run.Entry.Sealed, err = e.Seal(j.options.Seal, params)
	}
	if err == nil {
		now = time.Now()
		run.Entry.Changed, run.Entry.Rest = now.UTC(), max(sender.NotBefore(now).Sub(now), 0)
		err = j.record(run.Entry)
	}
	if err != nil {
		return nil, e.NotSent(sender, err)
	}
	result, err := run.Send(ctx, sender, params)
	e, err = run.End(time.Now(), result, err)
	if failed := j.record(e); failed != nil {
		if err != nil {
			failed = fmt.Errorf("%w; %w", failed, err)
		}
		return result, e.CallError(prepaid.OutcomeOf(err), failed)
	}
	return result, err
}

// NotBefore returns the time until which [Journal.Transfer] and [Journal.DirectEntryOut] wait before they send a payment again
// through sender; zero means no wait: see [journal.Entry.Earliest]. If a process died, its last request counts as sent when the
// journal was next opened.
func (j *Journal) NotBefore(sender journal.Sender, id prepaid.RequestID) time.Time {
	e, _ := j.Get(id)
	return e.Earliest(sender, time.Now())
}

// enter waits for the per-ID lock, and finds the entry. The result leave releases the lock: call it after an error too.
func (j *Journal) enter(ctx context.Context, id prepaid.RequestID) (e journal.Entry, known bool, leave func(), err error) {
	for {
		leave, busy := j.tryEnter(id) // also if ctx has ended
		if leave != nil {
			e, known, err = j.find(id)
			return e, known, leave, err
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return e, false, func() {}, ctx.Err()
		}
	}
}

// tryEnter returns nil for leave while another call has the per-ID lock. The channel busy is closed when that call releases the lock.
func (j *Journal) tryEnter(id prepaid.RequestID) (leave func(), busy <-chan struct{}) {
	mine := make(chan struct{})
	if other, taken := j.turns.LoadOrStore(id, mine); taken {
		return nil, other.(chan struct{}) //nolint:forcetypeassert // stored above
	}
	return func() {
		j.turns.Delete(id)
		close(mine)
	}, nil
}
