package journal

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/pause"
)

// Window is how long a payment of unknown outcome may be sent again, counted from its first intent. The service
// remembers the request ID for one day longer.
const Window = 29 * 24 * time.Hour

// Entry is the record of one payment.
type Entry struct {
	// RequestID identifies the payment.
	RequestID prepaid.RequestID `json:"request_id"`
	// Operation is "Accounts.Transfer" or "Accounts.DirectEntryOut".
	Operation string `json:"operation"`
	// AccountID is the paying account.
	AccountID prepaid.AccountID `json:"account_id"`
	// Amount is in currency units.
	Amount prepaid.Amount `json:"amount"`
	// Destination is the digest of the destination, in hex.
	Destination string `json:"destination"`
	// Params is the digest of all params, in hex.
	Params string `json:"params"`
	// State is the payment's progress.
	State State `json:"state"`
	// Began is the time of the first intent, UTC; zero without an intent.
	Began time.Time `json:"began"`
	// Changed is when this state was written, UTC.
	Changed time.Time `json:"changed"`
	// Runs counts the calls that may have sent the payment: all that recorded an intent, except those that ended
	// with [prepaid.ErrRequestIDExpired] or were given back. It is 0 if this store never sent the payment.
	Runs int `json:"runs"`
	// FirstSent is when the first request may have been sent, UTC; zero if unknown. FirstSent, LastSent and Attempts are from the
	// [prepaid.CallError] of failed runs. A successful run sets none of the three; a run whose process died sets only LastSent. For a
	// payment from elsewhere, FirstSent is the earliest possible time: see [NewEntry].
	FirstSent time.Time `json:"first_sent,omitzero"`
	// LastSent is when the last request may have been sent, UTC; zero if unknown. See [Entry.Died].
	LastSent time.Time `json:"last_sent,omitzero"`
	// Attempts counts the requests that may have been sent, in all runs for which the number is known.
	Attempts int `json:"attempts,omitzero"`
	// NotBefore is when a payment of unknown outcome may be sent again, UTC: [prepaid.CallError].NotBefore of its last run, or the time set
	// by [Entry.Died]. It is kept if [NotMoved] resolves the payment, and is zero for other payments and while a call is running.
	NotBefore time.Time `json:"not_before,omitzero"`
	// TransactionID is the ID of the movement if the payment is done.
	TransactionID prepaid.TransactionID `json:"transaction_id,omitzero"`
	// CorrelationID is from the service's response, if it had one.
	CorrelationID string `json:"correlation_id,omitzero"`
	// Code is the service's error code, if it rejected the payment with one.
	Code prepaid.ErrorCode `json:"code,omitzero"`
	// Resolved: the outcome was recorded by [Entry.Resolve] and does not come from the service.
	Resolved bool `json:"resolved,omitzero"`
	// Review is why a person must decide, see [Entry.NeedsPerson]; else empty.
	Review Review `json:"review,omitzero"`
	// Rest is how long the last request of the current run may be in progress if the process dies, for [Entry.Died]. It is set during
	// the run, if the store keeps it here.
	Rest time.Duration `json:"rest,omitzero"`
	// Sealed are the params, from [Entry.Seal], if the store keeps them here. A done or withdrawn payment has none.
	Sealed []byte `json:"sealed,omitzero"`
}

// Review is why a person must decide about a payment: sending it again does not resolve it.
type Review string

const (
	// ReviewTooOld: the client refuses the request ID as too old ([prepaid.ErrRequestIDExpired]), and the outcome is unknown. Also for a load
	// that [prepaid.Config].NeverRepeatLoads forbids to repeat.
	ReviewTooOld Review = "too_old"
	// ReviewReused: the client knows another payment under the request ID ([prepaid.ErrRequestIDReused]).
	ReviewReused Review = "reused"
)

// NeedsPerson returns the reason why a person must decide, or nil. It is [ErrWindow] if the outcome is unknown and the service may have
// forgotten the request ID, and [prepaid.ErrRequestIDReused] if the client used the ID for another payment. A store does not send such a
// payment by itself. Search the history with [Entry.Movement]. Then record the
// outcome with [Entry.Resolve]; for a rejected payment use [Entry.Withdraw] or [Entry.Retry].
func (e Entry) NeedsPerson(now time.Time) error {
	switch {
	case e.outsideWindow(now), e.Review == ReviewTooOld:
		return ErrWindow
	case e.Review == ReviewReused:
		return prepaid.ErrRequestIDReused
	}
	return nil
}

// Due reports whether workers send the payment by themselves: it is pending, and no person must decide.
func (e Entry) Due() bool { return e.State.Pending() && e.Review == "" }

func (e Entry) outsideWindow(now time.Time) bool { return e.State.Open() && now.Sub(e.Began) > Window }

// Earliest returns when the payment may be sent through sender; the zero time means at once. A payment of unknown outcome
// rests while an earlier request can be in progress: until its NotBefore or the sender's NotBefore of the last request,
// whichever is later. A payment that a person resolved as [NotMoved] rests too: the person may have been wrong or early.
func (e Entry) Earliest(sender Sender, now time.Time) time.Time {
	if !e.Rests() {
		return time.Time{}
	}
	last := e.SentUntil()
	// If a clock was set back, the wait must not become longer: it never exceeds the wait after a request sent now.
	return earlier(later(sender.NotBefore(last), e.NotBefore), later(sender.NotBefore(now), now.Add(e.NotBefore.Sub(last))))
}

// Await waits until the payment may be sent through sender: until Earliest, and until the service has responded to a request
// that was sent after the end of the payment's earlier request, see [Sender].AwaitRepeat. It returns at once if the payment
// need not wait, or if the client refuses the request ID as too old.
//
// Errors: those of ctx and AwaitRepeat. After an error do not send the payment.
func (e Entry) Await(ctx context.Context, sender Sender) error {
	now := time.Now()
	at := e.Earliest(sender, now)
	if at.IsZero() || e.RequestID.Expired(now) {
		return nil
	}
	lastSent := earlier(e.SentUntil(), now)                       // another clock may be ahead
	if longer := at.Sub(sender.NotBefore(lastSent)); longer > 0 { // an earlier sender gave its attempts more time
		lastSent = lastSent.Add(longer)
		if err := pause.For(ctx, time.Until(lastSent)); err != nil {
			return err
		}
	}
	return sender.AwaitRepeat(e.aged(ctx), e.AccountID, lastSent)
}

// aged returns a context that tells the client how old the request of a died run may be: as old as its intent, since LastSent is only the
// latest time. After an outage, an older request can arrive later.
func (e Entry) aged(ctx context.Context) context.Context {
	if e.State.Open() && e.Changed.Before(e.SentUntil()) {
		return liveness.WithFirst(ctx, e.Changed)
	}
	return ctx
}

// Rests reports whether the payment must wait before it is sent again: its outcome is unknown, or a person and not the service
// says that it moved nothing.
func (e Entry) Rests() bool { return e.State.Open() || e.Resolved && e.State != StateDone }

// Died returns e after a run whose process died: the run can have sent until heldUntil, and its last request may be in
// progress for the duration rest after heldUntil. A store calls Died before the payment is claimed again. heldUntil is
// the time at which a process opened and locked its file or, in a database, the end of the worker's [Claim].Sends.
func (e Entry) Died(heldUntil time.Time, rest time.Duration) Entry {
	e.LastSent, e.Rest = heldUntil.UTC(), 0
	e.NotBefore = e.LastSent.Add(rest)
	return e
}

// SentUntil returns the latest time at which the payment may have been sent: LastSent, or Changed if that time is not recorded.
func (e Entry) SentUntil() time.Time {
	if !e.NotBefore.IsZero() && !e.LastSent.IsZero() {
		return e.LastSent
	}
	return e.Changed // the time of the request is unknown
}

// Movement returns the params with which FindMovement searches the history for the payment: account, amount, and the times between which
// it can have been sent. If this store never sent it (Runs is 0), these are the times at which a client accepts the request ID; if that
// ID has no day, From and To are zero. Add Exclude with the transactions of other payments.
func (e Entry) Movement(now time.Time) prepaid.FindMovementParams {
	params := prepaid.FindMovementParams{AccountID: e.AccountID, Amount: e.Amount}
	first, last := e.Began, e.SentUntil()
	switch day, dated := e.RequestID.Date(); {
	case !e.FirstSent.IsZero():
		first = earlier(first, e.FirstSent)
	case e.Runs == 0 && dated:
		first, last = day.Time(time.UTC).AddDate(0, 0, -7), day.Time(time.UTC).AddDate(0, 0, 22)
	case e.Runs == 0:
		return params
	}
	if e.Runs > 0 && e.State.Open() && (e.NotBefore.IsZero() || e.LastSent.IsZero()) {
		last = now // a call is sending it, or its process died
	}
	return params.Between(first, last)
}

func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }

func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }

// Resolve returns e with an outcome that was found without sending e again: done or rejected, with Resolved set. No run may be in progress.
//
// Errors: [ErrNotUnknown] unless the payment is intended or unknown; a [*prepaid.ValidationError] of the resolution.
func (e Entry) Resolve(now time.Time, resolution Resolution) (Entry, error) {
	switch {
	case resolution.event == 0:
		return e, refused("resolution", "must be made with Moved or NotMoved")
	case resolution.event == EventDone && resolution.transaction == "":
		return e, refused("transaction_id", "is required")
	}
	next, err := e.after(now, resolution.event)
	if err != nil {
		return e, ErrNotUnknown
	}
	next.Resolved, next.TransactionID = true, resolution.transaction
	if next.State == StateDone {
		next.NotBefore = time.Time{}
	}
	return next, nil
}

// Withdraw returns e as withdrawn: the payment moved nothing and is not sent any more, for example because you paid some other way.
//
// Errors: a [*StateError] unless the payment is queued, not sent or rejected. An intended or unknown payment may have moved the
// money: resolve it first.
func (e Entry) Withdraw(now time.Time) (Entry, error) { return e.after(now, EventWithdraw) }

// Retry returns e as due again, with the same request ID. Use it if the reason of a rejection is gone, or if a payment was
// withdrawn by mistake. A resolved payment still rests, see [Entry.Earliest].
//
// Errors: a [*StateError] unless the payment is rejected or withdrawn.
func (e Entry) Retry(now time.Time) (Entry, error) { return e.after(now, EventRetry) }

func (e Entry) after(now time.Time, event Event) (Entry, error) {
	next, ok := e.State.Next(event)
	if !ok {
		return e, &StateError{State: e.State, Event: event}
	}
	e.State, e.Changed, e.Review = next, now.UTC(), ""
	if next == StateDone || next == StateWithdrawn {
		e.Sealed = nil
	}
	return e, nil
}

// The operations of an Entry.
const (
	operationTransfer       = "Accounts.Transfer"
	operationDirectEntryOut = "Accounts.DirectEntryOut"
)

// Payment is a payment of a list.
type Payment struct {
	// Account is the account that pays.
	Account prepaid.AccountID
	// Params are a [prepaid.TransferParams] or a [prepaid.DirectEntryOutParams], not a pointer.
	Params prepaid.PaymentParams
}

// NewEntry returns the queued entry of a payment from account, with digests of its params under key. With an empty key they are plain
// SHA-256, and anyone who has the entry can find a bank account number by trying all numbers. Keep the key as long as the entry: with
// another key every payment is [ErrChanged]. Set LastSent in params if the payment was sent without this store, with unknown outcome: the
// entry's state is then unknown since LastSent. NewEntry does not call params.Validate.
//
// Errors: a [*prepaid.ValidationError] if params are a pointer or nil, or have an amount that package prepaid did not make.
func NewEntry(key prepaid.Secret, account prepaid.AccountID, params prepaid.PaymentParams) (Entry, error) {
	e := Entry{State: StateQueued, AccountID: account}
	var sent time.Time
	var destination any
	switch p := params.(type) {
	case prepaid.TransferParams:
		e.Operation, e.RequestID, e.Amount, sent = operationTransfer, p.RequestID, p.Amount, p.LastSent
		destination = p.DestinationAccountID
	case prepaid.DirectEntryOutParams:
		e.Operation, e.RequestID, e.Amount, sent = operationDirectEntryOut, p.RequestID, p.Amount, p.LastSent
		destination = p.Destination
	default:
		return Entry{}, errParamsType()
	}
	data, err := json.Marshal(withoutLastSent(params))
	if err != nil {
		return Entry{}, refused("params", "must have values that can be sent")
	}
	e.Params = digest(key, data)
	data, _ = json.Marshal(destination) // a part of params
	e.Destination = digest(key, data)
	if !sent.IsZero() {
		now := time.Now()
		sent = earlier(sent, now) // another clock may be ahead
		e.State, e.Began, e.Changed, e.LastSent, e.NotBefore = StateUnknown, sent, sent, sent, sent
		e.FirstSent = earliest(e.RequestID, sent)
		e = e.Shift(now, now) // the wall clock may have been set since
	}
	return e, nil
}

// earliest returns the earliest time at which the service accepts a request under an ID that was last sent at sent.
func earliest(id prepaid.RequestID, sent time.Time) time.Time {
	first := sent.Add(-Window)
	if day, dated := id.Date(); dated {
		first = later(first, earlier(sent, day.Time(time.UTC).AddDate(0, 0, -7))) // the client refuses to send it before
	}
	return first
}

// withoutLastSent returns params without LastSent, which is not part of the payment.
func withoutLastSent(params prepaid.PaymentParams) prepaid.PaymentParams {
	switch p := params.(type) {
	case prepaid.TransferParams:
		p.LastSent = time.Time{}
		return p
	case prepaid.DirectEntryOutParams:
		p.LastSent = time.Time{}
		return p
	}
	return params
}

func errParamsType() error {
	return refused("params", "must be a TransferParams or a DirectEntryOutParams, not a pointer")
}

func digest(key prepaid.Secret, data []byte) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	if key.IsZero() {
		mac = sha256.New()
	}
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil))
}

// Match compares the recorded entry e with the argument again, a new entry of the same request ID that was made with
// the same key. It returns nil if both are the same payment, otherwise a [*ChangedError].
func (e Entry) Match(again Entry) error {
	var fields []string
	note := func(differs bool, field string) {
		if differs {
			fields = append(fields, field)
		}
	}
	note(again.Operation != e.Operation, "operation")
	note(again.AccountID != e.AccountID, "account_id")
	note(again.Amount != e.Amount, "amount")
	note(again.Destination != e.Destination, "destination")
	note(again.Params != e.Params && len(fields) == 0, "params")
	if len(fields) == 0 {
		return nil
	}
	return &ChangedError{Fields: fields, State: e.State}
}
