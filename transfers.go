package prepaid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/idlock"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/wire"
)

// TransferType is transaction_type on the wire.
type TransferType int

const (
	TransferTypeCardToCard TransferType = 0 // moves money card to card; the reference gives it no number: any except 2950 will do
	// TransferTypeLoad puts money from a float account on a card. It is booked as a load, not as a card-to-card movement. If a repeat may pay
	// again, set [Config].NeverRepeatLoads.
	TransferTypeLoad TransferType = 2950
)

// TransferParams describes a transfer. A store can keep it as JSON.
type TransferParams struct {
	// RequestID makes the transfer safe to repeat: see its type. Required, at most 100 characters. Store it before the call.
	RequestID            RequestID    `json:"request_id"`
	Amount               Amount       `json:"amount"`                      // above zero, in currency units
	SourceReference      string       `json:"source_reference"`            // required, at most 75 characters
	DestinationReference string       `json:"destination_reference"`       // required, at most 75 characters
	DestinationAccountID AccountID    `json:"destination_account_id"`      // the EAID of the receiving account; required
	Type                 TransferType `json:"transaction_type"`            // always sent; the zero value is TransferTypeCardToCard
	InitiatorUsername    string       `json:"initiator_username,omitzero"` // the user who initiated the request; optional
	// LastSent is for a payment whose outcome is unknown since an earlier call, even one of another process or before a restart. Set it to the
	// [CallError].LastSent of that call or, if its process died, to a time after which it could no longer send. Otherwise it is zero. It is in
	// the JSON of params, so that stores keep it, but it is not sent and is no part of the payment. The client then waits as
	// [AccountsService.AwaitRepeat] does, and the outcome stays unknown until a success, or a refusal for which [ProvesNotApplied] holds.
	// Without LastSent, a new process would report a 404 as [OutcomeRejected] although the earlier call moved the money. A time in the future
	// counts as now. A time more than 29 days ago is [ErrRequestIDExpired].
	LastSent time.Time    `json:"last_sent,omitzero" wire:"-"`
	Extra    ExtraMembers `json:"extra,omitempty" wire:"members" redact:"content"` // further members of the request; optional
}

// PaymentParams are the params of one payment: a [TransferParams] or a [DirectEntryOutParams], not a pointer to one. Package journal uses
// this type.
type PaymentParams interface {
	// Validate returns a *[ValidationError] that lists all faults, or nil.
	Validate() error

	isPayment()
}

var (
	_ PaymentParams = TransferParams{}
	_ PaymentParams = DirectEntryOutParams{}
)

// TransferResult is a completed transfer.
type TransferResult struct {
	TransactionID TransactionID `json:"transaction_id"` // identifies the movement
	CorrelationID string        `json:"correlation_id"` // the service's ID for support requests
	RequestID     RequestID     `json:"-"`              // the one that was sent
}

// Transfer moves money from source to another account, once per RequestID. Within 30 days the same ID returns the first result; the service
// ignores other values sent with it. To resolve [OutcomeUnknown], send the same params again. Calls of one client with the same RequestID
// run one at a time, and a call after an unknown outcome waits as AwaitRepeat does. Across processes this holds only if the params have
// LastSent. Errors: [ErrTransferFailed] when the transaction ID is empty: nothing moved (any other ID that is not a positive number leaves
// the outcome unknown); [ErrRequestIDExpired], [ErrRequestIDReused]: read their comments before you pay under a new ID; [ErrBadRequest]
// with the invalid fields in APIError.Description. Safety: keyed. API: POST /accounts/{id}/transfer.
func (s *AccountsService) Transfer(ctx context.Context, source AccountID, params TransferParams) (*TransferResult, error) {
	v := s.client.validator()
	v.pathID("id", string(source))
	params.check(&v)
	body := wire.Writer{Body: make([]byte, 0, 256)}
	params.writeWire(&body)
	op := opAccountsTransfer
	if params.Type == TransferTypeLoad && s.client.config.NeverRepeatLoads {
		op.class = classNever
	}
	return move(ctx, s.client, request{
		op: op, account: source, requestID: params.RequestID, path: pathValues{string(source)}, faults: v.faults,
		lastSent: params.LastSent, encoded: body.Body, unencodable: body.Err,
	})
}

func (p TransferParams) check(v *validator) {
	v.requestID("request_id", p.RequestID)
	v.positive("amount", p.Amount)
	v.requiredText("source_reference", p.SourceReference, 75)
	v.requiredText("destination_reference", p.DestinationReference, 75)
	v.required("destination_account_id", string(p.DestinationAccountID))
	v.text("initiator_username", p.InitiatorUsername, 0)
	v.extra(p.Extra, reflect.TypeFor[TransferParams]())
}

func (TransferParams) isPayment() {}

// extra checks further members. The fields of params, and others, are members already. A field that a later version adds must be admitted
// while it is empty: a stored payment may have that member here.
func (v *validator) extra(extra ExtraMembers, params reflect.Type) {
	if extra != "" {
		v.members(extra, params)
	}
}

func (v *validator) members(extra ExtraMembers, params reflect.Type) {
	var members map[string]jsontext.Value
	if len(extra) > 4096 || json.Unmarshal([]byte(extra), &members) != nil || len(members) == 0 {
		v.fault("extra", "must be a JSON object with members, none of them twice, of at most 4096 bytes")
		return
	}
	names := map[string]bool{"": true}
	for name := range members {
		plain := plainName(name)
		if !ascii.IsName(name) || strings.Contains(name, ".") || names[plain] {
			v.fault("extra", "must have names of letters, digits, '_' and '-' that differ in more than case, '_' and '-'")
			return
		}
		names[plain] = true
	}
	var others []string
	if params.Implements(reflect.TypeFor[PaymentParams]()) {
		others = []string{"id", "account_id"}
	}
	for field := range params.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); field.Tag.Get("wire") == "" {
			others = append(others, name)
		}
	}
	for _, name := range others {
		if name != "-" && names[plainName(name)] {
			v.fault("extra."+name, "is a member of the request already")
		}
	}
}

// plainName returns the name of a member as a careless decoder compares it: without case and separators.
func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

// BankAccount is an Australian bank account; every field is required.
type BankAccount struct {
	BSB           string `json:"bsb"`                              // six digits
	AccountNumber string `json:"account_number" redact:"personal"` // digits only
	AccountName   string `json:"account_name" redact:"personal"`   // the account holder's name
}

// DirectEntryOutParams describes a payment to a bank account.
type DirectEntryOutParams struct {
	// RequestID makes the payment safe to repeat. Required, at most 100 characters; see [TransferParams].
	RequestID            RequestID   `json:"request_id"`
	Amount               Amount      `json:"amount"`                   // above zero, in currency units
	SourceReference      string      `json:"source_reference"`         // required, at most 75 characters
	DestinationReference string      `json:"destination_reference"`    // required, at most 75 characters
	Destination          BankAccount `json:"destination_account_info"` // the receiving bank account; required
	// BSB is required and sent as given. The reference does not explain how it differs from Destination.BSB: ask the operator.
	BSB              string `json:"bsb"`
	InitiatingUserID string `json:"initiating_user_id,omitzero"` // the user who initiated the request; optional
	// LastSent is for a payment whose outcome is unknown since an earlier call; see [TransferParams]. It is not sent.
	LastSent time.Time    `json:"last_sent,omitzero" wire:"-"`
	Extra    ExtraMembers `json:"extra,omitempty" wire:"members" redact:"content"` // further members of the request; optional
}

// DirectEntryOut pays from source to a bank account. It works as Transfer, but any response without a transaction ID leaves the outcome
// unknown. Never use one request ID for both operations: the reference does not say whether they share IDs. Errors: [ErrRequestIDExpired],
// [ErrRequestIDReused], [ErrBadRequest]. Safety: keyed. API: POST /accounts/{id}/directentryout.
func (s *AccountsService) DirectEntryOut(ctx context.Context, source AccountID, params DirectEntryOutParams) (*TransferResult, error) {
	v := s.client.validator()
	v.pathID("id", string(source))
	params.check(&v)
	body := wire.Writer{Body: make([]byte, 0, 256)}
	params.writeWire(&body)
	return move(ctx, s.client, request{
		op: opAccountsDirectEntryOut, account: source, requestID: params.RequestID, path: pathValues{string(source)}, faults: v.faults,
		lastSent: params.LastSent, encoded: body.Body, unencodable: body.Err,
	})
}

func (p DirectEntryOutParams) check(v *validator) {
	v.requestID("request_id", p.RequestID)
	v.positive("amount", p.Amount)
	v.requiredText("source_reference", p.SourceReference, 75)
	v.requiredText("destination_reference", p.DestinationReference, 75)
	v.required("destination_account_info.bsb", p.Destination.BSB)
	v.match("destination_account_info.bsb", p.Destination.BSB, "must be six digits", 6, 6, ascii.IsDigit[rune])
	v.required("destination_account_info.account_number", p.Destination.AccountNumber)
	v.match("destination_account_info.account_number", p.Destination.AccountNumber, "must be digits", 1, 1<<20, ascii.IsDigit[rune])
	v.required("destination_account_info.account_name", p.Destination.AccountName)
	v.required("bsb", p.BSB)
	v.text("initiating_user_id", p.InitiatingUserID, 0)
	v.extra(p.Extra, reflect.TypeFor[DirectEntryOutParams]())
}

func (DirectEntryOutParams) isPayment() {}

// movement is a keyed movement in progress: its result, and the response with the result.
type movement struct {
	result   TransferResult
	response transferResponse
	failing  bool // an empty transaction ID means that the movement failed
}

// move makes a keyed movement and reads its response, which may be a failure in a 200.
func move(ctx context.Context, c *Client, r request) (*TransferResult, error) {
	now := time.Now()
	if len(r.faults) == 0 && r.isForgotten(now) {
		// This call sends nothing. Sending it again can no longer show whether an earlier call moved the money.
		return nil, c.withheld(ctx, r, OutcomeUnknown, ErrRequestIDExpired)
	}
	if r.lastSent.After(now) { // by another clock; the call was earlier all the same
		r.lastSent = now
	}
	if !r.lastSent.IsZero() {
		r.unknown = c.repeats.afterAny(liveness.First(ctx, r.lastSent), r.lastSent)
	}
	m := &movement{result: TransferResult{RequestID: r.requestID}, failing: r.op.modelsFailure}
	if len(r.faults) > 0 || r.unencodable != nil { // do reports why
		return nil, c.do(ctx, &r, m.decode)
	}
	lock, err := c.locks.Enter(ctx, idlock.Payment{
		ID: string(r.requestID), Operation: r.op.Name, Source: string(r.account), Body: r.encoded, Unknown: r.unknown,
	})
	if errors.Is(err, idlock.ErrOtherPayment) {
		r.unknown = liveness.Request{}
		return nil, c.withheld(ctx, r, history{unknown: !r.lastSent.IsZero()}.conclude(OutcomeRejected), ErrRequestIDReused)
	}
	r.unknown, r.moved = lock.Unknown, lock.Applied
	if err != nil {
		return nil, c.withheld(ctx, r, OutcomeUnknown, &bothCauses{last: err, earlier: idlock.ErrInFlight, unknown: true})
	}
	outcome, last := OutcomeUnknown, liveness.Request{} // also if the caller's limiter or token source panics
	defer func() {
		if outcome == OutcomeUnknown {
			lock.LeaveUnknown(last)
		} else {
			lock.Leave(outcome == OutcomeApplied)
		}
	}()
	if r.op.class == classNever && (r.moved || !r.unknown.IsZero()) {
		outcome = history{applied: r.moved, unknown: true}.conclude(OutcomeRejected)
		if r.lastSent.IsZero() {
			r.lastSent = r.unknown.Last
		}
		last, r.unknown = r.unknown, liveness.Request{} // still unknown, but no wait makes a repeat safe
		return nil, c.withheld(ctx, r, outcome, errLoadRepeat)
	}
	err = c.do(ctx, &r, m.decode)
	outcome = OutcomeOf(err)
	if failure, ok := errors.AsType[*CallError](err); ok {
		last = failure.unknown
		if failure.Attempts > 0 && outcome == OutcomeUnknown {
			// The next call, or a worker in this process, then need not wait longer.
			c.alive.Later(failure.LastSent.Add(c.config.AttemptTimeout/3), c.config.AttemptTimeout, c.reader(r.account))
		}
	}
	if err != nil {
		return nil, err
	}
	return &m.result, nil
}

// isForgotten reports whether the client refuses the request ID by its day, or the service may have forgotten it since lastSent.
func (r *request) isForgotten(now time.Time) bool {
	return r.requestID.Expired(now) || !r.lastSent.IsZero() && now.Sub(r.lastSent) > requestIDMaxAge+requestIDMaxAhead
}

// errLoadRepeat is the refusal to repeat a load, with Config.NeverRepeatLoads.
var errLoadRepeat = fmt.Errorf("%w: a load is never repeated, look in the history (FindMovement)", ErrRequestIDExpired)

// withheld reports a call that was not sent, and returns its error.
func (c *core) withheld(ctx context.Context, r request, outcome Outcome, why error) error {
	failure := &CallError{
		Operation: r.op.Name, Outcome: outcome, AccountID: r.account, RequestID: r.requestID, Err: why, rule: c.repeats,
	}
	if outcome == OutcomeUnknown {
		failure.LastSent, failure.NotBefore = cmp.Or(r.lastSent, r.unknown.Last), r.unknown.NotBefore
	}
	began, observer := time.Now(), c.observer.of(ctx, &r)
	observer.callDone(observer.callStart(ctx), began, 0, 0, failure)
	return failure
}

// transferResponse is the response to a movement, which may report success or failure.
type transferResponse struct {
	TransactionID scalar `json:"transaction_id"`
	CorrelationID scalar `json:"correlation_id"`
}

// scalar is a member of any kind, with the text of a string or number.
type scalar struct {
	present bool
	kind    number.Kind
	text    string
}

// UnmarshalJSON reads any value.
func (s *scalar) UnmarshalJSON(data []byte) error {
	kind, text := number.Scalar(data)
	*s = scalar{present: true, kind: kind, text: string(text)}
	return nil
}

// readWire reads the usual forms of an ID.
func (s *scalar) readWire(r *wire.Reader) {
	text, plain := r.PlainText()
	s.present, s.kind = true, number.String
	if !plain {
		text, s.kind = r.Number(), number.Number
		if !ascii.IsDigits(text) || text[0] == '0' {
			r.Fallback()
		}
	}
	r.Set(&s.text, text)
}

// decode distinguishes a movement from a failure. Only an empty transaction ID ("" or null) is a failure, and only
// where section 4.4 defines it. Anything else that is not a number above zero proves nothing.
func (m *movement) decode(received *response) error {
	if err := decodeJSON(received, &m.response); err != nil {
		return err
	}
	moved, correlation := m.response.TransactionID, m.response.CorrelationID
	switch {
	case !correlation.present || correlation.kind == number.Null:
		return received.undecodable(errMissingMember)
	case correlation.kind == number.Other:
		return received.undecodable(errWrongType)
	}
	m.result.CorrelationID = correlation.text
	if m.failing && moved.text == "" && moved.kind != number.Other {
		return &correlatedError{ErrTransferFailed, m.result.CorrelationID}
	}
	m.result.TransactionID = TransactionID(moved.text)
	if moved.kind == number.Number && !ascii.IsDigits(moved.text) {
		_ = m.result.TransactionID.UnmarshalJSON([]byte(moved.text)) // 12 for 12.0
	}
	if err := m.result.unproven(); err != nil {
		return &correlatedError{received.undecodable(err), m.result.CorrelationID}
	}
	return nil
}

// unproven refuses a transaction ID that is not a number above zero.
func (r *TransferResult) unproven() error {
	if id := string(r.TransactionID); !ascii.IsDigits(id) || strings.Trim(id, "0") == "" {
		return errNotATransactionID
	}
	return nil
}

// NotBefore returns the earliest time at which a payment with unknown outcome, last sent at lastSent, may be sent again: lastSent plus
// AttemptTimeout and Retry.InFlightWait, 40 s by default; zero for the zero time. Until then the service may carry out the first request,
// and then the repeat too. Among derived clients ([Client.With]) the longest AttemptTimeout counts. AwaitRepeat adds a condition;
// [RetryPolicy].InFlightWait explains the risk.
func (s *AccountsService) NotBefore(lastSent time.Time) time.Time {
	return s.client.repeats.afterAny(lastSent, lastSent).NotBefore
}

// AwaitRepeat waits until a payment of source with unknown outcome, last sent at lastSent, may be sent again, as Transfer and
// DirectEntryOut do: until NotBefore, and until two responses have shown that an earlier request has arrived or never will, and
// Retry.InFlightWait after the second. docs/money-safety.md has the rule. Call it before you claim a stored payment: the wait then uses up
// no lease. If another process may have sent the payment, pass the latest time at which it could.
//
// A complete response to any call of this client counts if it has the media type of [Config].Vendor and no Age header, and is neither 101,
// 429 nor 5xx. Without one, AwaitRepeat reads the summary of source, with growing pauses. In a client whose network works it returns one
// round trip after NotBefore or, while other calls run, at most InFlightWait/8 after it. If the first response arrives only at the age s
// of the payment, also because the client is new, it returns when the payment is 2s + 2.5 s old or, if that is earlier, 2 minutes later,
// plus InFlightWait; if s is 20 minutes or more, after InFlightWait. Errors: that of ctx, soon if the wait would outlast its deadline; after
// twice the sum of AttemptTimeout and InFlightWait without such a response, an error that wraps that of the last read; [ErrClosed];
// *[ValidationError]. [OutcomeOf] is unknown for all but the last. Safety: read. API: GET /accounts/{id}/status.
func (s *AccountsService) AwaitRepeat(ctx context.Context, source AccountID, lastSent time.Time) error {
	v := s.client.validator()
	v.pathID("id", string(source))
	if len(v.faults) > 0 {
		return &ValidationError{Faults: v.faults}
	}
	if now := time.Now(); lastSent.After(now) { // by another clock
		lastSent = now
	}
	if lastSent.IsZero() {
		return nil
	}
	read := opAccountsSummary
	read.Name = awaitRepeat
	stop := s.client.observer.of(ctx, &request{op: read}).waiting(ctx)
	defer stop()
	return s.client.awaitRepeat(ctx, source, s.client.repeats.afterAny(liveness.First(ctx, lastSent), lastSent))
}

// Evidence returns when the service responded to this client and to the processes whose evidence it uses, as text of at most 16 KB without
// personal data. A store saves it every second or so while payments of unknown outcome wait, and passes it to UseEvidence when the next
// process begins. AwaitRepeat then counts the time and the responses of both processes: otherwise a program that is restarted often
// would begin each wait again. now is the present time of the clock by which the store records its payments. The stores of this
// module do all this.
func (s *AccountsService) Evidence(now time.Time) []byte {
	return s.client.alive.Evidence(s.client.base.String(), now)
}

// UseEvidence adds the Evidence of an earlier process. Call it once, before the first payment, and then save Evidence. If the clock was set
// back in between, by more than no process was running, the evidence has no effect; nor has that of another BaseURL, and other text. A
// client uses the evidence of one store.
func (s *AccountsService) UseEvidence(evidence []byte, now time.Time) {
	s.client.alive.Use(s.client.base.String(), now, evidence)
}
