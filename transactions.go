package prepaid

import (
	"context"
	"iter"
	"time"
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
	return known(t, []TransactionType{
		TransactionTypeClearing, TransactionTypePOSCredit, TransactionTypeClearingCreditBack,
		TransactionTypePurchaseAuthorisation, TransactionTypePurchaseAuthorisationReversal, TransactionTypeClearingReversal,
		TransactionTypeATMCashAuthorisation, TransactionTypeLoad,
	})
}

// ListTransactionsParams selects by time, to the second. The zero value selects all.
type ListTransactionsParams struct {
	// From is the inclusive start; open when zero.
	From time.Time
	// To is the inclusive end. When both To and Before are zero, Transactions fixes the end at the time of the call,
	// so that pages do not shift while it reads.
	To time.Time
	// Before is an exclusive end, instead of To: give the first moment of the next month and no second is lost or
	// counted twice. Page totals of the service still count an item at that very second.
	Before time.Time
	// Paging starts at page 1 when zero.
	Paging Paging
}

var opTransactions = operation{
	Operation: Operation{"Accounts.Transactions", "GET", "/accounts/{id}/transactions"},
	class:     classRead, kind: answerJSON, success: []int{200, 204}, lane: LaneCall,
}

func (p ListTransactionsParams) request(id AccountID) request {
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
	}{{"start_date", p.From}, {"end_date", p.To}, {"end_date", ceilSecond(p.Before)}} {
		if !bound.at.IsZero() {
			query = query.with(bound.name, bound.at.UTC().Format(wireTime))
		}
	}
	return request{op: opTransactions, account: id, path: pathValues{string(id)}, query: query, faults: v.faults}
}

// ceilSecond rounds up: the wire knows whole seconds only.
func ceilSecond(at time.Time) time.Time {
	if rounded := at.Truncate(time.Second); !rounded.Equal(at) {
		return rounded.Add(time.Second)
	}
	return at
}

// keep drops what the inclusive end_date of the service lets in and Before does not.
func (p ListTransactionsParams) keep() func(*Transaction) bool {
	if p.Before.IsZero() {
		return nil
	}
	return func(t *Transaction) bool { return t.OccurredAt.Before(p.Before) }
}

// Transactions iterates over the history of an account, from Paging.Page on.
//
// Errors: [ErrNotFound]. Safety: read.
//
// API: GET /accounts/{id}/transactions.
func (s *AccountsService) Transactions(ctx context.Context, id AccountID, params ListTransactionsParams) iter.Seq2[*Transaction, error] {
	return func(yield func(*Transaction, error) bool) {
		if params.To.IsZero() && params.Before.IsZero() {
			params.To = time.Now()
		}
		items(ctx, s.client, params.request(id), params.Paging, params.keep())(yield)
	}
}

// TransactionsPage returns one page of [AccountsService.Transactions]; unlike Transactions, it does not fix an
// open end.
//
// Errors: [ErrNotFound]. Safety: read.
//
// API: GET /accounts/{id}/transactions.
func (s *AccountsService) TransactionsPage(ctx context.Context, id AccountID, params ListTransactionsParams) (*Page[Transaction], error) {
	page, err := fetchPage[Transaction](ctx, s.client, params.request(id), params.Paging.Page, params.Paging.Size, false)
	if keep := params.keep(); err == nil && keep != nil {
		kept := page.Items[:0]
		for i := range page.Items {
			if keep(&page.Items[i]) {
				kept = append(kept, page.Items[i])
			}
		}
		page.Items = kept
	}
	return page, err
}
