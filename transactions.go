package prepaid

import (
	"context"
	"iter"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/internal/wire"
)

// Transaction is an item of an account's history (reference section 2.8).
type Transaction struct {
	ID        TransactionID   `json:"id" required:""` // if an item has none, reading the history fails
	ParentID  TransactionID   `json:"parent_id"`      // the transaction this one belongs to; empty if there is none
	AccountID AccountID       `json:"account_id"`
	Type      TransactionType `json:"type"`
	// TypeDescription describes the type.
	TypeDescription   string `json:"type_description"`
	Amount            Amount `json:"amount" required:""`  // the base value in currency units; if an item has none, reading the history fails
	AmountCurrency    string `json:"amount_currency"`     // ISO 4217 alphabetic (currently only AUD)
	FeeAmount         Amount `json:"fee_amount"`          // total of the fees, in currency units; also zero if none are reported
	FeeAmountCurrency string `json:"fee_amount_currency"` // ISO 4217 alphabetic (currently only AUD)
	// RunningBalance is the balance after the transaction, in currency units. If an item has none, reading the history fails.
	RunningBalance         Amount    `json:"running_balance_amount" required:""`
	RunningBalanceCurrency string    `json:"running_balance_amount_currency"` // ISO 4217 alphabetic (currently only AUD)
	OccurredAt             time.Time `json:"occurred_at" required:""`         // in UTC, and never zero
	CardAcceptorID         string    `json:"card_acceptor_id"`                // the merchant
	TerminalID             string    `json:"terminal_id"`                     // the terminal
	AcquirerID             string    `json:"acquirer_id"`                     // the acquirer
	MerchantCategoryCode   MCC       `json:"merchant_category_code"`          // the four-digit ISO 18245 code
	Reference              string    `json:"reference"`                       // reference data
}

// TransactionType is a four-digit code. Unlisted codes are kept as received. The leading zeros of a number are restored.
type TransactionType string

const (
	TransactionTypeClearing                      TransactionType = "1115" // a clearing or a forced post
	TransactionTypePOSCredit                     TransactionType = "1116" // a point-of-sale credit
	TransactionTypeClearingCreditBack            TransactionType = "1117" // returns the authorised amount when the transaction clears
	TransactionTypePurchaseAuthorisation         TransactionType = "1118" // a purchase authorisation or advice
	TransactionTypePurchaseAuthorisationReversal TransactionType = "1120" // undoes a purchase authorisation
	TransactionTypeClearingReversal              TransactionType = "1125" // undoes a clearing
	TransactionTypeATMCashAuthorisation          TransactionType = "1141" // a withdrawal
	TransactionTypeLoad                          TransactionType = "2950" // the load-type transfer
)

// ListTransactionsParams selects transactions by time, by default all. Bounds are sent in whole seconds, rounded outwards; the client then
// drops the items outside the exact bounds, which the service's page totals still count. The service may truncate OccurredAt to whole
// seconds: use a From in whole seconds so that nothing in its first second is lost.
type ListTransactionsParams struct {
	From time.Time // the inclusive start; open when zero
	// To is the inclusive end, not before From; open when zero. To read everything, leave it zero: the service's clock may be ahead of yours.
	To     time.Time
	Before time.Time // an exclusive end, instead of To: with the first moment of the next month, no second is lost or counted twice
	Paging Paging    // starts at page 1 when zero
}

func (p ListTransactionsParams) check(v *validator) {
	if !p.To.IsZero() && !p.Before.IsZero() {
		v.fault("before", "must not be set together with to")
	}
	if !p.To.IsZero() && p.To.Before(p.From) {
		v.fault("to", "must not be before from")
	}
	if !p.Before.IsZero() && !p.Before.After(p.From) {
		v.fault("before", "must be after from")
	}
	v.paging(p.Paging)
}

func (p ListTransactionsParams) list(id AccountID) pageList[Transaction] {
	var v validator
	v.readID("id", string(id))
	p.check(&v)
	var query query
	for _, bound := range []struct {
		name string
		at   time.Time
	}{{"start_date", p.From}, {"end_date", ceilSecond(p.To)}, {"end_date", ceilSecond(p.Before)}} {
		if !bound.at.IsZero() {
			query = query.With(bound.name, bound.at.UTC().Format(wire.TimeLayout))
		}
	}
	return pageList[Transaction]{
		request: request{op: opAccountsTransactions, account: id, path: pathValues{string(id)}, query: query, faults: v.faults},
		paging:  p.Paging, identity: transactionIdentity, keep: p.filter(),
	}
}

// transactionIdentity has more than the ID: if the service gives an ID to two movements, neither may be dropped as a repeated item. It has
// nothing that changes while a history is read, as a running balance may.
func transactionIdentity(t *Transaction) string {
	key := append(append(make([]byte, 0, 64), t.ID...), 0)
	key, _ = t.Amount.AppendText(key) // never fails
	return string(append(strconv.AppendInt(append(key, 0), t.OccurredAt.UnixMicro(), 10), t.Type...))
}

// ceilSecond rounds up: the wire has whole seconds only.
func ceilSecond(at time.Time) time.Time {
	if rounded := at.Truncate(time.Second); !rounded.Equal(at) {
		return rounded.Add(time.Second)
	}
	return at
}

// filter returns a function that drops items which the bounds on the wire (inclusive, in whole seconds) admit but the
// caller's bounds exclude. It returns nil if the bounds are the same.
func (p ListTransactionsParams) filter() func(*Transaction) bool {
	from, to := p.From.Nanosecond() != 0, p.To.Nanosecond() != 0
	if p.Before.IsZero() && !from && !to {
		return nil
	}
	return func(t *Transaction) bool {
		return (!from || !t.OccurredAt.Before(p.From)) && (!to || !t.OccurredAt.After(p.To)) &&
			(p.Before.IsZero() || t.OccurredAt.Before(p.Before))
	}
}

// Transactions iterates over an account's history, in unspecified order. Each transaction that existed when the first page was served is
// yielded exactly once, a later one at most once; an ID with another amount, time or type is another transaction. The iterator keeps about
// 40 bytes for each, and stops if the history more than doubles and grows by over 1,000 transactions. Errors: [ErrNotFound]; after any
// error, unseen transactions may exist. Safety: read. API: GET /accounts/{id}/transactions.
func (s *AccountsService) Transactions(ctx context.Context, id AccountID, params ListTransactionsParams) iter.Seq2[*Transaction, error] {
	return params.list(id).all(ctx, &s.client.core)
}

// TransactionsPage returns one page of [AccountsService.Transactions]. Errors: [ErrNotFound]. Safety: read.
// API: GET /accounts/{id}/transactions.
func (s *AccountsService) TransactionsPage(ctx context.Context, id AccountID, params ListTransactionsParams) (*Page[Transaction], error) {
	return params.list(id).page(ctx, &s.client.core)
}

// readWire reads a string unchanged. If the code is a number, it restores the leading zeros.
func (t *TransactionType) readWire(r *wire.Reader) {
	if text, bare := r.StringOrInteger(); bare {
		setCode(r, (*string)(t), text)
	} else {
		r.Set((*string)(t), text)
	}
}
