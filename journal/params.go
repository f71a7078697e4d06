package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/cardprograms/prepaid"
)

// The operations of an Entry.
const (
	operationTransfer       = "Accounts.Transfer"
	operationDirectEntryOut = "Accounts.DirectEntryOut"
)

// NewEntry returns the queued entry of a payment from account, with digests of its params under key; an empty key gives plain
// SHA-256, see [Options].DigestKey. If params have LastSent, the payment was sent without this store, with unknown outcome, and the
// entry is unknown since then. It does not call params.Validate.
//
// Errors: a [*prepaid.ValidationError] if params are a pointer or nil.
func NewEntry(key prepaid.Secret, account prepaid.AccountID, params prepaid.PaymentParams) (Entry, error) {
	e := Entry{State: StateQueued, AccountID: account}
	var sent time.Time
	switch p := params.(type) {
	case prepaid.TransferParams:
		e.Operation, e.RequestID, e.Amount, sent = operationTransfer, p.RequestID, p.Amount, p.LastSent
		e.Destination = digest(key, p.DestinationAccountID)
	case prepaid.DirectEntryOutParams:
		e.Operation, e.RequestID, e.Amount, sent = operationDirectEntryOut, p.RequestID, p.Amount, p.LastSent
		e.Destination = digest(key, p.Destination)
	default:
		return Entry{}, errParamsType()
	}
	e.Params = digest(key, params)
	if !sent.IsZero() {
		sent = earlier(sent, time.Now()).UTC().Round(0) // by another clock
		e.State, e.Began, e.Changed, e.LastSent, e.NotBefore = StateUnknown, sent, sent, sent, sent
	}
	return e, nil
}

func errParamsType() error {
	return refused("params", "must be a TransferParams or a DirectEntryOutParams, not a pointer")
}

func digest(key prepaid.Secret, value any) string {
	data, _ := json.Marshal(value) // strings and numbers always marshal
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	if key.IsZero() {
		mac = sha256.New()
	}
	mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil))
}

// Match returns nil if again, a new entry with the same request ID under the same key, is the same payment as e, the recorded one;
// otherwise a [*ChangedError].
func (e Entry) Match(again Entry) error {
	var fields []string
	for _, field := range []struct {
		name    string
		differs bool
	}{
		{"operation", again.Operation != e.Operation},
		{"account_id", again.AccountID != e.AccountID},
		{"amount", again.Amount != e.Amount},
		{"destination", again.Destination != e.Destination},
	} {
		if field.differs {
			fields = append(fields, field.name)
		}
	}
	if len(fields) == 0 && again.Params != e.Params {
		fields = append(fields, "params")
	}
	if len(fields) == 0 {
		return nil
	}
	return &ChangedError{Fields: fields, State: e.State}
}
