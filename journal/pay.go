package journal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/pause"
)

// window is how long after its first intent a payment of unknown outcome may be sent again: a day less than the service
// remembers.
const window = 29 * 24 * time.Hour

// Sender sends payments, such as client.Accounts.
type Sender interface {
	// NotBefore returns when a payment of unknown outcome may be sent again, as in [prepaid.AccountsService].
	NotBefore(lastSent time.Time) time.Time
	// Transfer is as in [prepaid.AccountsService].
	Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error)
	// DirectEntryOut is as in [prepaid.AccountsService].
	DirectEntryOut(ctx context.Context, source prepaid.AccountID, params prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error)
}

// Transfer makes a card-to-card transfer once, however often it is called with the same params. A payment that was not
// sent is sent. A rejected payment is not pending, but is sent when it is called again: remove from the list what you
// paid some other way.
//
// Errors: a [*prepaid.CallError], so that [prepaid.OutcomeOf] reports what happened. In addition to the sender's causes:
// [ErrChanged] (not sent, [prepaid.OutcomeRejected]; never pay under a new request ID because of it), [ErrWindow],
// [ErrNotRecorded]. If the payment was made but its outcome could not be recorded, both result and error are returned.
//
// An unknown outcome stays unknown until a later request, for which the call waits until [Journal.NotBefore], succeeds or
// is refused in a way that [prepaid.ProvesNotApplied] accepts: a failed transfer, or a 400 in the service's own form with a
// code that settles. Anything else proves nothing and leaves it unknown: a request that was not processed, another
// unknown outcome, a fault found before sending, a gateway's response. A wait that would outlast the deadline of ctx is
// not started. Use [Journal.Resolve] for what a person or FindMovement found out.
//
// The journal knows when it sent a payment: LastSent of params is only for one that was sent without it, with unknown
// outcome, and is taken over as such.
func (j *Journal) Transfer(ctx context.Context, sender Sender, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error) {
	e := Entry{
		RequestID: params.RequestID, Operation: "Accounts.Transfer", AccountID: source, Amount: params.Amount,
		Destination: j.digest(params.DestinationAccountID), Params: j.digest(params),
	}
	return j.pay(ctx, sender, e, params.LastSent, func() (*prepaid.TransferResult, error) { return sender.Transfer(ctx, source, params) })
}

// DirectEntryOut makes a payment to a bank account once. Otherwise like [Journal.Transfer].
func (j *Journal) DirectEntryOut(ctx context.Context, sender Sender, source prepaid.AccountID, params prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	e := Entry{
		RequestID: params.RequestID, Operation: "Accounts.DirectEntryOut", AccountID: source, Amount: params.Amount,
		Destination: j.digest(params.Destination), Params: j.digest(params),
	}
	return j.pay(ctx, sender, e, params.LastSent, func() (*prepaid.TransferResult, error) { return sender.DirectEntryOut(ctx, source, params) })
}

func (j *Journal) digest(value any) string {
	data, _ := json.Marshal(value) // strings and numbers always marshal
	mac := hmac.New(sha256.New, []byte(j.options.DigestKey.Reveal()))
	if j.options.DigestKey.IsZero() {
		mac = sha256.New()
	}
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil))
}

func (e Entry) failure(outcome prepaid.Outcome, err error) error {
	return &prepaid.CallError{
		Operation: e.Operation, Outcome: outcome, AccountID: e.AccountID, RequestID: e.RequestID, CorrelationID: e.CorrelationID,
		Attempts: e.Attempts, FirstSent: e.FirstSent, LastSent: e.LastSent, NotBefore: e.NotBefore, Err: err,
	}
}

// sendings adds what is known of the requests of a failed run.
func (e *Entry) sendings(err error) {
	call, ok := errors.AsType[*prepaid.CallError](err)
	if !ok {
		return
	}
	e.Attempts += call.Attempts
	if first := call.FirstSent.UTC().Round(0); !first.IsZero() && (e.FirstSent.IsZero() || first.Before(e.FirstSent)) {
		e.FirstSent = first
	}
	if last := call.LastSent.UTC().Round(0); last.After(e.LastSent) {
		e.LastSent = last
	}
	e.NotBefore = call.NotBefore.UTC()
}

func (e Entry) changes(old Entry) (fields []string) {
	for _, field := range []struct {
		name    string
		differs bool
	}{
		{"operation", e.Operation != old.Operation},
		{"account_id", e.AccountID != old.AccountID},
		{"amount", e.Amount != old.Amount},
		{"destination", e.Destination != old.Destination},
	} {
		if field.differs {
			fields = append(fields, field.name)
		}
	}
	if len(fields) == 0 && e.Params != old.Params {
		fields = append(fields, "params")
	}
	return fields
}

// pay makes the payment e. lastSent is when it was sent without this journal, with unknown outcome; else zero.
func (j *Journal) pay(ctx context.Context, sender Sender, e Entry, lastSent time.Time, send func() (*prepaid.TransferResult, error)) (*prepaid.TransferResult, error) {
	if e.RequestID == "" {
		fault := prepaid.Fault{Field: "request_id", Rule: "is required"}
		return nil, e.failure(prepaid.OutcomeRejected, &prepaid.ValidationError{Faults: []prepaid.Fault{fault}})
	}
	leave, err := j.enter(ctx, e.RequestID)
	if err != nil {
		e.NotBefore = sender.NotBefore(time.Now())
		return nil, e.failure(prepaid.OutcomeUnknown, err) // another call is working on it
	}
	defer leave()

	old, known := j.Get(e.RequestID)
	if !known && !lastSent.IsZero() { // as if it had been recorded then
		if now := time.Now(); lastSent.After(now) { // by another clock
			lastSent = now
		}
		lastSent = lastSent.UTC().Round(0)
		old, known = e, true
		old.State, old.Began, old.Changed, old.LastSent, old.NotBefore = StateUnknown, lastSent, lastSent, lastSent, sender.NotBefore(lastSent).UTC()
	}
	doubtful := known && old.open()
	nothing := prepaid.OutcomeNotProcessed
	if doubtful {
		nothing = prepaid.OutcomeUnknown
	}
	e.Began = time.Now().UTC()
	if known {
		if fields := e.changes(old); len(fields) > 0 {
			// Not sent, and never will be: with any other outcome a loop would retry forever.
			return nil, e.failure(prepaid.OutcomeRejected, &ChangedError{Fields: fields, State: old.State})
		}
		if old.State == StateDone {
			return &prepaid.TransferResult{TransactionID: old.TransactionID, CorrelationID: old.CorrelationID, RequestID: e.RequestID}, nil
		}
		e.Began, e.Runs = old.Began, old.Runs
		e.FirstSent, e.LastSent, e.Attempts = old.FirstSent, old.LastSent, old.Attempts
	}
	e.State = StateIntended
	if doubtful { // also if the process dies in between
		e.State = StateUnknown
		if time.Since(old.Began) > window {
			return nil, tooOld(e, old, ErrWindow)
		}
	}
	if old.rests() {
		at := j.notBefore(sender, old)
		if err := pause.For(ctx, time.Until(at)); err != nil {
			if doubtful {
				e.NotBefore = at
			}
			return nil, e.failure(nothing, err)
		}
	}
	e.Runs++
	e.Changed = time.Now().UTC()
	if err := j.record(e); err != nil {
		return nil, e.failure(nothing, err)
	}
	returned := false
	defer func() {
		if !returned { // it panicked, and may have sent until now
			e.Changed = time.Now().UTC()
			_ = j.record(e) // after a failure nothing more is sent
		}
	}()
	result, err := send()
	returned = true
	return j.settle(e, old, result, err)
}

// tooOld returns the error for a payment that cannot be sent again. If a run died, its intent is known and gives
// FindMovement where to look; a payment that this journal never sent has no times.
func tooOld(e, old Entry, err error) error {
	if old.open() && old.Runs > 0 {
		if e.FirstSent.IsZero() {
			e.FirstSent = e.Began
		}
		if old.Changed.After(e.LastSent) {
			e.LastSent = old.Changed
		}
	}
	e.NotBefore = time.Time{}
	return e.failure(prepaid.OutcomeUnknown, err)
}

// settle records the result of a sending; old is what was known before.
func (j *Journal) settle(e, old Entry, result *prepaid.TransferResult, err error) (*prepaid.TransferResult, error) {
	outcome, doubtful := prepaid.OutcomeOf(err), old.open()
	e.sendings(err)
	expired := errors.Is(err, prepaid.ErrRequestIDExpired)
	held := expired && e.Attempts == old.Attempts // this run sent nothing
	if held {
		e.Runs = old.Runs
	}
	switch {
	case err == nil && result != nil:
		e.State, e.TransactionID, e.CorrelationID = StateDone, result.TransactionID, result.CorrelationID
	case held && old.State == StateRejected: // keep what was known, or recorded by Resolve
		e, outcome, err = old, prepaid.OutcomeRejected, e.failure(prepaid.OutcomeRejected, err)
	case doubtful && !prepaid.ProvesNotApplied(err, j.lastSent(old)) || outcome == prepaid.OutcomeUnknown || outcome == prepaid.OutcomeApplied:
		// Applied without a usable response: sending again can still return the result. Expired is unknown even if this
		// journal has never sent the payment: a run that it has lost or dropped may have, and the next step is a new ID,
		// which pays.
		e.State = StateUnknown
		if old.NotBefore.After(e.NotBefore) {
			e.NotBefore = old.NotBefore
		}
		if day, _ := e.RequestID.Date(); expired && day.Time(time.UTC).Before(e.Changed) {
			err = tooOld(e, old, fmt.Errorf("%w: %w", ErrWindow, err))
		} else if doubtful || outcome != prepaid.OutcomeUnknown { // with the times of all runs
			err = e.failure(prepaid.OutcomeUnknown, err)
		}
		outcome = prepaid.OutcomeUnknown
	case outcome == prepaid.OutcomeRejected:
		e.State = StateRejected
		if refused, ok := errors.AsType[*prepaid.APIError](err); ok && refused.Code.Known() {
			e.Code = refused.Code
		}
		if failed, ok := errors.AsType[*prepaid.TransferFailedError](err); ok {
			e.CorrelationID = failed.CorrelationID
		}
	default:
		e.State = StateNotSent
	}
	e.Changed = time.Now().UTC()
	if failed := j.record(e); failed != nil {
		return result, e.failure(outcome, errors.Join(failed, err))
	}
	return result, err
}

// NotBefore returns when [Journal.Transfer] and [Journal.DirectEntryOut], which wait for it, send a payment again through
// sender; the zero time means at once. For a payment of unknown outcome it is the later of [Entry].NotBefore and the
// sender's NotBefore of the last sending. If a process died, its last sending is unknown: it was before the journal was
// opened.
func (j *Journal) NotBefore(sender Sender, id prepaid.RequestID) time.Time {
	e, known := j.Get(id)
	if !known || !e.rests() {
		return time.Time{}
	}
	return j.notBefore(sender, e)
}

func (j *Journal) notBefore(sender Sender, e Entry) time.Time {
	at := sender.NotBefore(j.lastSent(e))
	if !at.After(e.NotBefore) {
		at = e.NotBefore
	}
	// A clock that was set back must not make it longer: counted from now, either wait is enough.
	now := time.Now()
	latest := sender.NotBefore(now)
	if recorded := now.Add(e.NotBefore.Sub(e.Changed)); recorded.After(latest) {
		latest = recorded
	}
	if at.After(latest) {
		return latest
	}
	return at
}

// lastSent returns the latest time at which e may have been sent.
func (j *Journal) lastSent(e Entry) time.Time {
	switch {
	case !e.NotBefore.IsZero() && !e.LastSent.IsZero():
		return e.LastSent
	case e.Changed.Before(j.opened): // a process died in between
		return j.opened
	}
	return e.Changed
}
