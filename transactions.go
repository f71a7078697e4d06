package prepaid

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/wire"
)

// Transaction is an item of an account's history (reference section 2.8). The zero value is no transaction.
type Transaction struct {
	// ID identifies the transaction. A history with an item that has none is an error.
	ID TransactionID `json:"id"`
	// ParentID is the transaction this one belongs to; empty when there is none.
	ParentID TransactionID `json:"parent_id"`
	// AccountID is the account.
	AccountID AccountID `json:"account_id"`
	// Type is the four-digit code.
	Type TransactionType `json:"type"`
	// TypeDescription describes the type.
	TypeDescription string `json:"type_description"`
	// Amount is the base value in currency units. A history with an item that has none is an error, never zero.
	Amount Amount `json:"amount"`
	// AmountCurrency is ISO 4217 alphabetic (currently only AUD).
	AmountCurrency string `json:"amount_currency"`
	// FeeAmount is the fees applied, in currency units; zero also when the service reports none.
	FeeAmount Amount `json:"fee_amount"`
	// FeeAmountCurrency is ISO 4217 alphabetic (currently only AUD).
	FeeAmountCurrency string `json:"fee_amount_currency"`
	// RunningBalance is the balance after the transaction, in currency units. As with Amount, it is never zero for want
	// of one.
	RunningBalance Amount `json:"running_balance_amount"`
	// RunningBalanceCurrency is ISO 4217 alphabetic (currently only AUD).
	RunningBalanceCurrency string `json:"running_balance_amount_currency"`
	// OccurredAt is in UTC, and never zero.
	OccurredAt time.Time `json:"occurred_at"`
	// CardAcceptorID is the merchant.
	CardAcceptorID string `json:"card_acceptor_id"`
	// TerminalID is the terminal.
	TerminalID string `json:"terminal_id"`
	// AcquirerID is the acquirer.
	AcquirerID string `json:"acquirer_id"`
	// MerchantCategoryCode is the four-digit ISO 18245 code.
	MerchantCategoryCode MCC `json:"merchant_category_code"`
	// Reference is reference data.
	Reference string `json:"reference"`
}

func (t *Transaction) startUnset() { t.Amount, t.RunningBalance = amountUnset(), amountUnset() }

// missing refuses what could not be added up or identified. A missing or null fee is no fee.
func (t *Transaction) missing() bool {
	return t.ID == "" || t.Amount.unset() || t.RunningBalance.unset() || t.OccurredAt.IsZero()
}

// TransactionType is a four-digit code. Only the codes that the reference names have constants; any other is kept
// as it arrived; one that arrived as a number has its leading zeros again. The zero value means unspecified.
type TransactionType string

const (
	// TransactionTypeClearing is a clearing, forced post included.
	TransactionTypeClearing TransactionType = "1115"
	// TransactionTypePOSCredit is a point-of-sale credit.
	TransactionTypePOSCredit TransactionType = "1116"
	// TransactionTypeClearingCreditBack gives the authorised amount back when it clears.
	TransactionTypeClearingCreditBack TransactionType = "1117"
	// TransactionTypePurchaseAuthorisation is a purchase authorisation or advice.
	TransactionTypePurchaseAuthorisation TransactionType = "1118"
	// TransactionTypePurchaseAuthorisationReversal undoes a purchase authorisation.
	TransactionTypePurchaseAuthorisationReversal TransactionType = "1120"
	// TransactionTypeClearingReversal undoes a clearing.
	TransactionTypeClearingReversal TransactionType = "1125"
	// TransactionTypeATMCashAuthorisation is a withdrawal.
	TransactionTypeATMCashAuthorisation TransactionType = "1141"
	// TransactionTypeLoad is the load-type transfer.
	TransactionTypeLoad TransactionType = "2950"
)

// Known reports whether the reference names the code.
func (t TransactionType) Known() bool {
	return slices.Contains([]TransactionType{
		TransactionTypeClearing, TransactionTypePOSCredit, TransactionTypeClearingCreditBack,
		TransactionTypePurchaseAuthorisation, TransactionTypePurchaseAuthorisationReversal, TransactionTypeClearingReversal,
		TransactionTypeATMCashAuthorisation, TransactionTypeLoad,
	}, t)
}

func (t *TransactionType) setCode(text string) { *t = TransactionType(text) }

// ListTransactionsParams selects by time. The zero value selects all.
//
// Bounds are sent in whole seconds. One with a fraction is sent rounded outwards, and the items outside it are dropped
// here, by their OccurredAt as received; the service's page totals still count these. A service that reports whole
// seconds may have cut OccurredAt: give From in whole seconds to be sure of everything in its first second.
type ListTransactionsParams struct {
	// From is the inclusive start; open when zero.
	From time.Time
	// To is the inclusive end; open when zero. Leave it zero, rather than the present moment, to read everything there
	// is: the service's clock may be ahead of this one.
	To time.Time
	// Before is an exclusive end, instead of To: give the first moment of the next month and no second is lost or
	// counted twice. It is sent like To, and an item at that very moment is dropped here.
	Before time.Time
	// Paging starts at page 1 when zero.
	Paging Paging
}

var opTransactions = operation{
	Operation: Operation{"Accounts.Transactions", "GET", "/accounts/{id}/transactions"},
	class:     classRead, kind: responseJSON, success: []int{200, 204}, lane: LaneCall,
}

func (p ListTransactionsParams) list(id AccountID) pageList[Transaction] {
	var v validator
	v.pathID("id", string(id))
	if !p.To.IsZero() && !p.Before.IsZero() {
		v.fault("before", "must not be set together with to")
	}
	v.paging(p.Paging)
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
		request: request{op: opTransactions, account: id, path: pathValues{string(id)}, query: query, faults: v.faults},
		paging:  p.Paging, identity: func(t *Transaction) string { return string(t.ID) }, keep: p.keep(),
	}
}

// ceilSecond rounds up: the wire knows whole seconds only.
func ceilSecond(at time.Time) time.Time {
	if rounded := at.Truncate(time.Second); !rounded.Equal(at) {
		return rounded.Add(time.Second)
	}
	return at
}

// keep drops what the inclusive bounds of the wire, in whole seconds, let in and the caller's do not. It is nil when
// there is no difference.
func (p ListTransactionsParams) keep() func(*Transaction) bool {
	from, to := p.From.Nanosecond() != 0, p.To.Nanosecond() != 0
	if p.Before.IsZero() && !from && !to {
		return nil
	}
	return func(t *Transaction) bool {
		return (!from || !t.OccurredAt.Before(p.From)) && (!to || !t.OccurredAt.After(p.To)) &&
			(p.Before.IsZero() || t.OccurredAt.Before(p.Before))
	}
}

// Transactions iterates over the history of an account, from Paging.Page on, in the service's order, which the
// reference does not state. Each transaction that was there when the first page was served is delivered exactly once,
// and one added meanwhile at most once, whatever the order and the clocks are. For that it remembers the ids it has
// delivered, at about 40 bytes each. It stops following a history that has more than doubled, and grown by more than 1000
// transactions, since the first page.
//
// Errors: [ErrNotFound]; [ErrListIncomplete] as a *[IncompleteListError] when fewer transactions came than the service
// had counted, so that nothing may be concluded from what was not seen; [ErrPageRepeated] when the service ignores the
// page number. Safety: read.
//
// API: GET /accounts/{id}/transactions.
func (s *AccountsService) Transactions(ctx context.Context, id AccountID, params ListTransactionsParams) iter.Seq2[*Transaction, error] {
	return params.list(id).all(ctx, &s.client.core)
}

// TransactionsPage returns one page of [AccountsService.Transactions].
//
// Errors: [ErrNotFound]. Safety: read.
//
// API: GET /accounts/{id}/transactions.
func (s *AccountsService) TransactionsPage(ctx context.Context, id AccountID, params ListTransactionsParams) (*Page[Transaction], error) {
	return params.list(id).page(ctx, &s.client.core)
}

// decode reads a transaction whose amounts must not read as zero for want of one.
func (t *Transaction) decode(d *jsontext.Decoder) error {
	type plain Transaction
	t.startUnset()
	return json.UnmarshalDecode(d, (*plain)(t))
}

// readWire reads a string as it is, or a number, which may have lost its leading zeros.
func (t *TransactionType) readWire(r *wire.Reader) {
	if text, bare := r.StringOrInteger(); bare {
		setCode(r, (*string)(t), text)
	} else {
		r.Set((*string)(t), text)
	}
}
