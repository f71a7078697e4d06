package prepaid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/redact"
	"github.com/cardprograms/prepaid/internal/turns"
)

// TransferType is the wire's transaction_type: TransferTypeLoad loads, any other value moves card to card. The zero
// value is TransferTypeCardToCard.
type TransferType int

const (
	// TransferTypeCardToCard moves card to card; the reference names no number, every one but 2950 does it.
	TransferTypeCardToCard TransferType = 0
	// TransferTypeLoad puts money on a card, from an account that holds it (a float account). It is booked as a load
	// and not as a card-to-card movement.
	TransferTypeLoad TransferType = 2950
)

// TransferParams is one card-to-card transfer. It marshals to JSON, so that a journal can keep it. The zero value
// lacks the required fields.
type TransferParams struct {
	// RequestID makes the transfer safe to send again. Required, at most 100 characters: [NewRequestID] or
	// [DeriveRequestID], stored before the call.
	RequestID RequestID `json:"request_id"`
	// Amount is above zero, in currency units.
	Amount Amount `json:"amount"`
	// SourceReference is required, at most 75 characters.
	SourceReference string `json:"source_reference"`
	// DestinationReference is required, at most 75 characters.
	DestinationReference string `json:"destination_reference"`
	// DestinationAccountID is the EAID that receives. Required.
	DestinationAccountID AccountID `json:"destination_account_id"`
	// Type is always sent; TransferTypeCardToCard when zero.
	Type TransferType `json:"transaction_type"`
	// InitiatorUsername says who asked; optional.
	InitiatorUsername string `json:"initiator_username,omitzero"`
}

// TransferResult is a movement that was made. The zero value is none.
type TransferResult struct {
	// TransactionID identifies the movement.
	TransactionID TransactionID `json:"transaction_id"`
	// CorrelationID is the service's, for support.
	CorrelationID string `json:"correlation_id"`
	// RequestID is the one the movement was made under.
	RequestID RequestID `json:"-"`
}

var opTransfer = operation{
	Operation: Operation{"Accounts.Transfer", "POST", "/accounts/{id}/transfer"},
	class:     classKeyed, kind: responseJSON, success: []int{200}, lane: LaneMoney, modelsFailure: true,
}

// Transfer moves money from source to another account, once per RequestID. Calling it again with the same params
// within 30 days returns the first result; the service ignores other values that come with a known RequestID. That
// is also how [OutcomeUnknown] is resolved: send the same params again. The service returns the cached response only for a
// finished transfer, so a repeat must not overtake the first: calls of one client with the same RequestID take turns, and
// one that follows an unknown outcome waits until [CallError].NotBefore. Across processes and restarts, wait for that
// time yourself.
//
// Errors: [ErrTransferFailed] when the service responds with an empty transaction id: nothing moved (any other id but
// digits above zero leaves the outcome unknown), [ErrRequestIDExpired] when RequestID is too old to be safe (the outcome
// is then unknown: an earlier call may have moved the money), [ErrRequestIDReused] when RequestID stands for another payment
// of this client (the outcome is then rejected: do not pay under a new id, see there), [ErrBadRequest] with the invalid fields
// in APIError.Description. Safety: keyed; after a cut-off attempt or 502, 503, 504 the same bytes are sent again, no earlier
// than [AccountsService.NotBefore]: 40 s after the last sending. After a 500 they are not: the call ends at once with
// [OutcomeUnknown].
//
// API: POST /accounts/{id}/transfer.
func (s *AccountsService) Transfer(ctx context.Context, source AccountID, params TransferParams) (*TransferResult, error) {
	v := s.client.validator()
	v.pathID("id", string(source))
	v.requestID("request_id", params.RequestID)
	v.positive("amount", params.Amount)
	v.reference("source_reference", params.SourceReference)
	v.reference("destination_reference", params.DestinationReference)
	v.accountID("destination_account_id", params.DestinationAccountID)
	v.text("initiator_username", params.InitiatorUsername, 0)
	return s.move(ctx, request{
		op: opTransfer, account: source, requestID: params.RequestID, path: pathValues{string(source)}, body: params, faults: v.faults,
	})
}

// BankAccount is an Australian bank account. The zero value lacks all three required fields.
type BankAccount struct {
	// BSB is six digits.
	BSB string `json:"bsb"`
	// AccountNumber is digits only.
	AccountNumber string `json:"account_number" redact:"personal"`
	// AccountName is the holder's.
	AccountName string `json:"account_name" redact:"personal"`
}

// Format prints a without number and name.
func (a BankAccount) Format(f fmt.State, verb rune) { redact.Format(f, verb, a) }

// LogValue logs a without number and name.
func (a BankAccount) LogValue() slog.Value { return redact.LogValue(a) }

// DirectEntryOutParams is one payment to a bank account. The zero value lacks the required fields.
type DirectEntryOutParams struct {
	// RequestID makes the payment safe to send again. Required, at most 100 characters; see [TransferParams].
	RequestID RequestID `json:"request_id"`
	// Amount is above zero, in currency units.
	Amount Amount `json:"amount"`
	// SourceReference is required, at most 75 characters.
	SourceReference string `json:"source_reference"`
	// DestinationReference is required, at most 75 characters.
	DestinationReference string `json:"destination_reference"`
	// Destination is the bank account that receives. Required.
	Destination BankAccount `json:"destination_account_info"`
	// BSB is required and sent as given. Its role beside Destination.BSB is unclear in the reference: ask the operator.
	BSB string `json:"bsb"`
	// InitiatingUserID says who asked; optional.
	InitiatingUserID string `json:"initiating_user_id,omitzero"`
}

// Format prints p without the bank account's number and name.
func (p DirectEntryOutParams) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs p without the bank account's number and name.
func (p DirectEntryOutParams) LogValue() slog.Value { return redact.LogValue(p) }

var opDirectEntryOut = operation{
	Operation: Operation{"Accounts.DirectEntryOut", "POST", "/accounts/{id}/directentryout"},
	class:     classKeyed, kind: responseJSON, success: []int{200}, lane: LaneMoney,
}

// DirectEntryOut pays from source to a bank account, once per RequestID. Everything said at [AccountsService.Transfer]
// holds. Never use one request id for both operations: whether they share their ids is not known.
//
// A response without a transaction id leaves the outcome unknown: section 4.4 has no such failure here.
//
// Errors: [ErrRequestIDExpired], [ErrRequestIDReused], [ErrBadRequest]. Safety: keyed.
//
// API: POST /accounts/{id}/directentryout.
func (s *AccountsService) DirectEntryOut(ctx context.Context, source AccountID, params DirectEntryOutParams) (*TransferResult, error) {
	v := s.client.validator()
	v.pathID("id", string(source))
	v.requestID("request_id", params.RequestID)
	v.positive("amount", params.Amount)
	v.reference("source_reference", params.SourceReference)
	v.reference("destination_reference", params.DestinationReference)
	v.required("destination_account_info.bsb", params.Destination.BSB)
	v.match("destination_account_info.bsb", params.Destination.BSB, "must be six digits", 6, 6, ascii.IsDigit[rune])
	v.required("destination_account_info.account_number", params.Destination.AccountNumber)
	v.match("destination_account_info.account_number", params.Destination.AccountNumber, "must be digits", 1, 1<<20, ascii.IsDigit[rune])
	v.required("destination_account_info.account_name", params.Destination.AccountName)
	v.required("bsb", params.BSB)
	v.text("initiating_user_id", params.InitiatingUserID, 0)
	return s.move(ctx, request{
		op: opDirectEntryOut, account: source, requestID: params.RequestID, path: pathValues{string(source)}, body: params, faults: v.faults,
	})
}

// move makes a keyed movement and reads its answer, which may be a failure in a 200.
func (s *AccountsService) move(ctx context.Context, r request) (*TransferResult, error) {
	if len(r.faults) == 0 && r.requestID.expired(time.Now()) {
		// This call sends nothing; whether an earlier one moved the money can no longer be told by sending it again.
		return nil, s.client.withheld(ctx, r, OutcomeUnknown, ErrRequestIDExpired)
	}
	result := &TransferResult{RequestID: r.requestID}
	var err error
	if len(r.faults) == 0 {
		r.encoded, err = encode(r.body)
	}
	if len(r.faults) > 0 || err != nil { // which the call reports
		return nil, s.client.do(ctx, &r, result.decode(r.op.modelsFailure))
	}
	turn, err := s.client.turns.Enter(ctx, turns.Payment{
		ID: string(r.requestID), Operation: r.op.Name, Source: string(r.account), Body: r.encoded,
	})
	r.notBefore, r.moved = turn.NotBefore, turn.Applied
	switch {
	case errors.Is(err, turns.ErrOtherPayment):
		return nil, s.client.withheld(ctx, r, OutcomeRejected, ErrRequestIDReused)
	case err != nil:
		return nil, s.client.withheld(ctx, r, OutcomeUnknown, &bothCauses{last: err, earlier: errInFlight, unknown: true})
	}
	outcome, notBefore := OutcomeUnknown, time.Time{} // also when a limiter or token source of the caller's panics
	defer func() { turn.Leave(turnResult(outcome), notBefore) }()
	err = s.client.do(ctx, &r, result.decode(r.op.modelsFailure))
	outcome = OutcomeOf(err)
	if failure, ok := errors.AsType[*CallError](err); ok {
		notBefore = failure.NotBefore
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// errInFlight stands for the call that may be under way when one with its request id is not sent.
var errInFlight = errors.New("a call with this request id may still be under way")

// turnResult returns what a turn has to know of an outcome.
func turnResult(outcome Outcome) turns.Result {
	switch outcome {
	case OutcomeApplied:
		return turns.Applied
	case OutcomeRejected, OutcomeNotProcessed:
		return turns.NotApplied
	case OutcomeUnknown:
	}
	return turns.Unknown
}

// withheld is the error of a movement that was not sent because of an earlier one with its request id.
func (c *core) withheld(ctx context.Context, r request, outcome Outcome, why error) error {
	failure := &CallError{
		Operation: r.op.Name, Outcome: outcome, AccountID: r.account, RequestID: r.requestID, Err: why, rule: c.repeats,
	}
	if outcome == OutcomeUnknown {
		failure.NotBefore = r.notBefore
	}
	began, observer := time.Now(), c.observer.of(ctx)
	observer.callDone(observer.callStart(ctx, r.op.Operation), r.op.Operation, began, 0, 0, failure)
	return failure
}

// transferResponse is the response to a movement of money, before it is known whether one was made. TransactionID may share
// memory with the body.
type transferResponse struct {
	TransactionID jsontext.Value `json:"transaction_id"`
	CorrelationID *string        `json:"correlation_id"`
}

// decode tells a movement from a failure. Only an empty transaction id ("" or null) is a failure, where section 4.4 has one;
// anything else but digits above zero proves nothing.
func (r *TransferResult) decode(modelsFailure bool) func(*response) error {
	return func(received *response) error {
		var moved transferResponse
		if err := decodeJSON(received, &moved); err != nil {
			return err
		}
		if moved.CorrelationID == nil {
			return received.undecodable(errMissingMember)
		}
		r.CorrelationID = *moved.CorrelationID
		kind, text := number.Scalar(moved.TransactionID)
		id := string(text)
		switch {
		case modelsFailure && id == "" && kind != number.Other:
			return &TransferFailedError{CorrelationID: r.CorrelationID}
		case !ascii.IsDigits(id) || strings.Trim(id, "0") == "":
			return received.undecodable(errNotATransactionID)
		}
		r.TransactionID = TransactionID(id)
		return nil
	}
}

// NotBefore returns when a transfer or direct entry out that was last sent at lastSent, and whose outcome is unknown, may be
// sent again under its request id: after AttemptTimeout and Retry.InFlightWait, 40 s with the defaults. Until then the
// first request may still be carried out, and the service, which caches only finished transfers, may carry out the repeat
// too. The client itself, [CallError].NotBefore and package journal use this time. If you keep payments in a store of your
// own, wait until then; for a process that died, count from the moment at which no other can send any more, such as the
// one at which you took its lock. It returns the zero time for the zero time.
//
// The reference states no bound for a transfer: a service that takes longer pays twice. Ask the operator for its bound, and
// raise Retry.InFlightWait accordingly.
func (s *AccountsService) NotBefore(lastSent time.Time) time.Time {
	return s.client.repeats.notBefore(lastSent)
}
