package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/guard"
)

// Sender sends payments, such as client.Accounts.
type Sender interface {
	// NotBefore returns the earliest time at which a payment of unknown outcome may be sent again, as in [prepaid.AccountsService].
	NotBefore(lastSent time.Time) time.Time
	// AwaitRepeat waits until NotBefore, and until the service has responded to a later request, as in [prepaid.AccountsService].
	// If your own sender does not see responses, it waits by time alone. After an error the payment is not sent.
	AwaitRepeat(ctx context.Context, source prepaid.AccountID, lastSent time.Time) error
	// Transfer is as in [prepaid.AccountsService].
	Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error)
	// DirectEntryOut is as in [prepaid.AccountsService].
	DirectEntryOut(ctx context.Context, source prepaid.AccountID, params prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error)
}

// Run is one run of a payment: intent, call and result. Your own store works as package journalfile does:
//
//  1. Wait with [Entry.Await] (in a queue, first until [Entry.Earliest]), and make sure that no other worker has the payment.
//  2. [Entry.Begin], and commit Run.Entry. Send nothing before. If one of these fails, return [Entry.NotSent].
//  3. [Run.Send].
//  4. [Run.End], and commit its entry; or [Run.GiveBack], if Send was not called. If the commit fails, return [Entry.CallError].
//
// If the process dies in between, the next run begins from Run.Entry, after [Entry.Died].
type Run struct {
	// Before is the entry before the run.
	Before Entry
	// Entry is the entry with the intent.
	Entry Entry
	// LastSent is the latest time at which an earlier run of unknown outcome can have sent the payment; zero if there is none.
	// Send sets it in params.
	LastSent time.Time
}

// Begin begins a run of e: call it after Await, just before you store Run.Entry.
//
// Errors: a [*prepaid.CallError]. Its cause is [ErrWindow] if the outcome is unknown and the first intent is older than [Window],
// [ErrWithdrawn] (with [prepaid.OutcomeRejected]), or [ErrState] if the payment is done (with [prepaid.OutcomeApplied]).
func (e Entry) Begin(now time.Time) (Run, error) {
	next, err := e.Intent(now)
	switch {
	case err != nil && e.State == StateDone:
		return Run{}, e.CallError(prepaid.OutcomeApplied, err)
	case err != nil:
		return Run{}, e.CallError(prepaid.OutcomeRejected, err)
	case e.outsideWindow(now):
		return Run{}, tooOld(next, e, ErrWindow)
	}
	run := Run{Before: e, Entry: next}
	if e.State.Open() {
		run.LastSent = earlier(e.SentUntil(), now) // the time may come from a clock that is ahead
	}
	return run, nil
}

// Intent returns e as a [Store] stores it when it claims the payment.
//
// Errors: a [*StateError] if the payment is done or withdrawn.
func (e Entry) Intent(now time.Time) (Entry, error) {
	next, err := e.after(now, EventBegin)
	if err != nil {
		return e, err
	}
	next.Runs++
	if next.Began.IsZero() {
		next.Began = next.Changed
	}
	next.NotBefore, next.CorrelationID, next.Code, next.Resolved, next.Rest = time.Time{}, "", "", false, 0
	return next, nil
}

// Send sends params, which are those of the entry, through sender. It adds LastSent, so that the client treats an earlier
// run's request as its own: the client waits, and treats a refusal as final only if it proves that no money moved.
//
// Errors: those of the sender; a [*prepaid.ValidationError] if params are a pointer or nil. If the sender panics or calls
// runtime.Goexit, the outcome is unknown.
func (r Run) Send(ctx context.Context, sender Sender, params prepaid.PaymentParams) (result *prepaid.TransferResult, err error) {
	if unsafe := guard.Call(func() { result, err = r.send(ctx, sender, params) }); unsafe != nil {
		now := time.Now()
		return nil, &prepaid.CallError{
			Operation: r.Entry.Operation, Outcome: prepaid.OutcomeUnknown, AccountID: r.Entry.AccountID, RequestID: r.Entry.RequestID,
			Attempts: 1, FirstSent: now, LastSent: now, NotBefore: sender.NotBefore(now), Err: fmt.Errorf("%s: %w", senderName, unsafe),
		}
	}
	return result, err
}

func (r Run) send(ctx context.Context, sender Sender, params prepaid.PaymentParams) (*prepaid.TransferResult, error) {
	ctx = r.Before.aged(ctx)
	switch p := params.(type) {
	case prepaid.TransferParams:
		p.LastSent = later(p.LastSent, r.LastSent)
		return sender.Transfer(ctx, r.Entry.AccountID, p)
	case prepaid.DirectEntryOutParams:
		p.LastSent = later(p.LastSent, r.LastSent)
		return sender.DirectEntryOut(ctx, r.Entry.AccountID, p)
	}
	return nil, r.Entry.CallError(prepaid.OutcomeRejected, errParamsType())
}

// GiveBack returns the entry after a run without Send, for example because the process stops. The entry is as before the run,
// but its state is [StateNotSent] or, if an earlier run may have moved the money, [StateUnknown].
func (r Run) GiveBack() Entry {
	e := r.Before
	e.State, _ = r.Entry.State.Next(EventNotSent) // always possible: the run began
	return e
}

// End takes the result and err of Send. It returns the new entry, and the error for the caller: nil if the payment is
// done, otherwise a [*prepaid.CallError] for all runs. The entry's times may have monotonic readings: see [Entry.Shift]. An unknown outcome
// of an earlier run stays unknown until a success, or a refusal that [prepaid.ProvesNotApplied] accepts. After
// [prepaid.ErrRequestIDExpired] and [prepaid.ErrRequestIDReused] a person must decide: see [Entry.NeedsPerson].
func (r Run) End(now time.Time, result *prepaid.TransferResult, err error) (Entry, error) {
	e, old := r.Entry, r.Before
	e.Rest = 0
	call, _ := errors.AsType[*prepaid.CallError](err)
	expired := errors.Is(err, prepaid.ErrRequestIDExpired)
	if held := expired && (call == nil || call.Attempts == 0); held { // this run sent nothing
		e.Runs = old.Runs
		if old.State == StateRejected || old.Resolved && !old.State.Open() { // keep the known outcome
			old.State, old.Changed = StateRejected, now.UTC()
			return old, e.CallError(prepaid.OutcomeRejected, err)
		}
	} else if call != nil {
		e.sendings(call, now)
		e = e.Shift(now, now) // the wall clock may have been set during the call
	}
	outcome := prepaid.OutcomeOf(err)
	e, _ = e.after(now, r.event(outcome, result, err)) // always possible: the run began
	if errors.Is(err, prepaid.ErrRequestIDReused) {
		e.Review = ReviewReused
	}
	switch e.State {
	case StateDone:
		e.TransactionID, e.CorrelationID = result.TransactionID, result.CorrelationID
	case StateUnknown:
		// A payment applied without a usable response is unknown: sending again can return the result. The outcome of an expired ID is
		// unknown even if this store never sent it: a run that the store lost or dropped may have, and a new ID would pay again.
		if call != nil || expired || err != nil && outcome != prepaid.OutcomeUnknown {
			e.NotBefore = later(e.NotBefore, old.NotBefore)
		} // else this run may have sent until now, whatever earlier runs returned
		if day, _ := e.RequestID.Date(); expired && (day.Time(time.UTC).Before(now) || !e.RequestID.Expired(now)) {
			e.Review = ReviewTooOld
			err = tooOld(e, old, fmt.Errorf("%w: %w", ErrWindow, err))
		} else if old.State.Open() || outcome != prepaid.OutcomeUnknown { // the error gets the times of all runs
			err = e.CallError(prepaid.OutcomeUnknown, err)
		}
	case StateRejected:
		e.refusal(call, err)
	case StateQueued, StateIntended, StateNotSent, StateWithdrawn:
	}
	return e, err
}

func (r Run) event(outcome prepaid.Outcome, result *prepaid.TransferResult, err error) Event {
	switch {
	case err == nil && result != nil:
		return EventDone
	case outcome == prepaid.OutcomeNotProcessed:
		return EventNotSent
	case outcome == prepaid.OutcomeRejected && prepaid.ProvesNotApplied(err, r.LastSent):
		return EventNotMoved
	case outcome == prepaid.OutcomeRejected:
		return EventRefused
	}
	return EventUnknown
}

func (e *Entry) sendings(call *prepaid.CallError, now time.Time) {
	e.Attempts += call.Attempts
	if first := call.FirstSent; !first.IsZero() && (e.FirstSent.IsZero() || first.Before(e.FirstSent)) {
		e.FirstSent = first
	}
	last, notBefore := call.LastSent, call.NotBefore
	if ahead := last.Sub(now); ahead > 0 { // on the clock of another process
		last = now
		if !notBefore.IsZero() {
			notBefore = notBefore.Add(-ahead) // the rest must not be longer
		}
	}
	e.LastSent, e.NotBefore = later(e.LastSent, last), notBefore
}

// refusal records what the service said about the cause.
func (e *Entry) refusal(call *prepaid.CallError, err error) {
	if refused, ok := errors.AsType[*prepaid.APIError](err); ok && prepaid.Known(refused.Code) {
		e.Code = refused.Code
	}
	if call != nil && errors.Is(err, prepaid.ErrTransferFailed) {
		e.CorrelationID = call.CorrelationID
	}
}

// CallError returns a [*prepaid.CallError] for the payment, with the times of all its runs.
func (e Entry) CallError(outcome prepaid.Outcome, err error) error {
	return &prepaid.CallError{
		Operation: e.Operation, Outcome: outcome, AccountID: e.AccountID, RequestID: e.RequestID, CorrelationID: e.CorrelationID,
		Attempts: e.Attempts, FirstSent: e.FirstSent, LastSent: e.LastSent, NotBefore: e.NotBefore, Err: err,
	}
}

// NotSent returns the [*prepaid.CallError] of a call that did not send the payment because of err. The outcome is that of earlier
// runs: unknown if e is intended or unknown, or if err is from [Entry.NeedsPerson].
func (e Entry) NotSent(sender Sender, err error) error {
	if errors.Is(err, ErrWindow) || errors.Is(err, prepaid.ErrRequestIDReused) {
		return tooOld(e, e, err)
	}
	known, outcome := e, prepaid.OutcomeNotProcessed
	known.NotBefore = time.Time{}
	if e.State.Open() {
		known.NotBefore, outcome = e.Earliest(sender, time.Now()), prepaid.OutcomeUnknown
	}
	return known.CallError(outcome, err)
}

// tooOld returns the error for a payment that cannot be sent again. After a run that died, FindMovement searches from
// the run's intent; a payment that this store never sent has no times.
func tooOld(e, old Entry, err error) error {
	if old.State.Open() && old.Runs > 0 {
		if e.FirstSent.IsZero() {
			e.FirstSent = e.Began
		}
		e.LastSent = later(e.LastSent, old.Changed)
	}
	e.NotBefore = time.Time{}
	return e.CallError(prepaid.OutcomeUnknown, err)
}
