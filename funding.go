package prepaid

import (
	"context"
	"reflect"
	"strings"
)

// FundingService posts funding movements. Use [Client].Funding.
type FundingService struct{ client *Client }

// FundingOutcome is approved or declined.
type FundingOutcome string

const (
	FundingOutcomeApproved FundingOutcome = "approved" // the money moved
	FundingOutcomeDeclined FundingOutcome = "declined" // no money moved
)

// FundingResult is approved or declined. A missing or unlisted outcome, or a decline with a transaction ID, is an error with
// [OutcomeUnknown].
type FundingResult struct {
	Outcome       FundingOutcome `json:"outcome" required:""`
	TransactionID TransactionID  `json:"transaction_id,omitzero"` // set when approved
}

// Approved reports whether the money moved.
func (r *FundingResult) Approved() bool { return r.Outcome == FundingOutcomeApproved }

// unproven refuses an unlisted outcome: callers that read it as "not approved" could move the money again. For the same reason it refuses a
// decline with a transaction ID, which only an approval has.
func (r *FundingResult) unproven() error {
	if !Known(r.Outcome) || !r.Approved() && strings.Trim(string(r.TransactionID), "0") != "" {
		return errContradiction
	}
	return nil
}

// FundingException says why a redemption is exceptional. It is required.
type FundingException string

const (
	FundingExceptionNone                       FundingException = "no_exception"                 // not exceptional
	FundingExceptionRestrictionsNotSatisfiable FundingException = "restrictions_not_satisfiable" // the restrictions could not be met
	FundingExceptionExhausted                  FundingException = "funding_exhausted"            // the funding was used up
)

// RedeemFundingParams describes a redemption; every field is required.
type RedeemFundingParams struct {
	Amount    Amount           `json:"amount"`            // in currency units, above zero unless AllowUnusual is set
	AccountID AccountID        `json:"account_id"`        // the EAID
	Exception FundingException `json:"funding_exception"` // FundingExceptionNone for an ordinary redemption
	// MerchantNameLocation is card data element 43.
	MerchantNameLocation   string `json:"merchant_name_location"`
	OriginatingTransaction int64  `json:"originating_transaction"` // sequence number of the proxy card transaction; 0 only with AllowUnusual
	// AllowUnusual sends an Amount of zero (a clearing adjustment may have none) or below zero (the reference does not define it: ask the
	// operator) and an OriginatingTransaction of 0. They are otherwise refused as mistakes. Not part of the JSON.
	AllowUnusual         bool         `json:"-"`
	ClearingAdjustment   bool         `json:"clearing_adjustment"`                             // always sent
	Currency             string       `json:"currency"`                                        // ISO 4217 numeric: "036" for AUD
	CardAcceptorID       string       `json:"card_acceptor_id"`                                // card data element 42
	CorrelationID        string       `json:"correlation_id"`                                  // your own ID of the originating transaction; errors and logs show it
	MerchantCategoryCode MCC          `json:"merchant_category"`                               // four digits
	TerminalID           string       `json:"terminal_id"`                                     // card data element 41
	AcquirerID           string       `json:"acquirer_id"`                                     // card data element 32
	Extra                ExtraMembers `json:"extra,omitempty" wire:"members" redact:"content"` // further members of the request; optional
}

func (p RedeemFundingParams) check(v *validator) {
	v.amount("amount", p.Amount, p.AllowUnusual || p.Amount.Sign() > 0, "must be above zero; for another amount, set AllowUnusual")
	v.required("account_id", string(p.AccountID))
	v.requiredOneOf("funding_exception", string(p.Exception), p.Exception.values())
	v.required("merchant_name_location", p.MerchantNameLocation)
	v.sequenceNumber("originating_transaction", p.OriginatingTransaction, p.AllowUnusual)
	v.currency("currency", p.Currency)
	v.required("card_acceptor_id", p.CardAcceptorID)
	v.required("correlation_id", p.CorrelationID)
	v.mcc("merchant_category", p.MerchantCategoryCode)
	v.required("terminal_id", p.TerminalID)
	v.required("acquirer_id", p.AcquirerID)
	v.extra(p.Extra, reflect.TypeFor[RedeemFundingParams]())
}

// Redeem posts a redemption. A decline is no error. CorrelationID is no request ID: a repeat may take the money twice. After
// [OutcomeUnknown] use FindMovement. Safety: never repeated. API: POST /funding/redemptions.
func (s *FundingService) Redeem(ctx context.Context, params RedeemFundingParams) (*FundingResult, error) {
	v := s.client.validator()
	params.check(&v)
	return s.post(ctx, opFundingRedeem, params.AccountID, params.CorrelationID, params, v)
}

// ReverseFundingParams reverses a redemption; every field is required.
type ReverseFundingParams struct {
	AccountID AccountID `json:"account_id"` // the EAID
	// OriginatingTransaction is the sequence number of the proxy card transaction, not zero unless AllowUnusual is set.
	OriginatingTransaction int64 `json:"originating_transaction"`
	// AllowUnusual sends an OriginatingTransaction of 0, which is otherwise refused as possibly forgotten. Not part of the JSON.
	AllowUnusual  bool   `json:"-"`
	CorrelationID string `json:"correlation_id"` // your own ID of the originating transaction; errors and logs show it
	// ParentTransactionID is the transaction ID that the redemption returned.
	ParentTransactionID TransactionID `json:"parent_transaction_id"`
	ClearingAdjustment  bool          `json:"clearing_adjustment"`                             // always sent
	Extra               ExtraMembers  `json:"extra,omitempty" wire:"members" redact:"content"` // further members of the request; optional
}

func (p ReverseFundingParams) check(v *validator) {
	v.required("account_id", string(p.AccountID))
	v.sequenceNumber("originating_transaction", p.OriginatingTransaction, p.AllowUnusual)
	v.required("correlation_id", p.CorrelationID)
	if p.ParentTransactionID == "" {
		v.fault("parent_transaction_id", ruleRequired)
	}
	v.numericID("parent_transaction_id", p.ParentTransactionID)
	v.extra(p.Extra, reflect.TypeFor[ReverseFundingParams]())
}

// Reverse posts a reversal. Safety: as Redeem. API: POST /funding/reversals.
func (s *FundingService) Reverse(ctx context.Context, params ReverseFundingParams) (*FundingResult, error) {
	v := s.client.validator()
	params.check(&v)
	body := struct {
		ReverseFundingParams
		ParentTransactionID transactionNumber `json:"parent_transaction_id"`
	}{params, transactionNumber(params.ParentTransactionID)}
	return s.post(ctx, opFundingReverse, params.AccountID, params.CorrelationID, body, v)
}

// RefundFundingParams is a refund; only ParentTransactionID is optional.
type RefundFundingParams struct {
	// Amount is the value to credit, in currency units, above zero unless AllowUnusual is set.
	Amount              Amount        `json:"amount"`
	AccountID           AccountID     `json:"account_id"`                     // the EAID
	ParentTransactionID TransactionID `json:"parent_transaction_id,omitzero"` // the transaction ID that a redemption returned; optional
	// MerchantNameLocation is card data element 43.
	MerchantNameLocation   string `json:"merchant_name_location"`
	OriginatingTransaction int64  `json:"originating_transaction"` // sequence number of the proxy card transaction; 0 only with AllowUnusual
	// AllowUnusual sends an Amount of zero (a clearing adjustment may have none) or below zero (the reference does not define it: ask the
	// operator) and an OriginatingTransaction of 0. They are otherwise refused as mistakes. Not part of the JSON.
	AllowUnusual         bool         `json:"-"`
	Currency             string       `json:"currency"`                                        // ISO 4217 numeric: "036" for AUD
	CardAcceptorID       string       `json:"card_acceptor_id"`                                // card data element 42
	CorrelationID        string       `json:"correlation_id"`                                  // your own ID of the originating transaction; errors and logs show it
	MerchantCategoryCode MCC          `json:"merchant_category"`                               // four digits
	TerminalID           string       `json:"terminal_id"`                                     // card data element 41
	AcquirerID           string       `json:"acquirer_id"`                                     // card data element 32
	Extra                ExtraMembers `json:"extra,omitempty" wire:"members" redact:"content"` // further members of the request; optional
}

func (p RefundFundingParams) check(v *validator) {
	v.amount("amount", p.Amount, p.AllowUnusual || p.Amount.Sign() > 0, "must be above zero; for another amount, set AllowUnusual")
	v.required("account_id", string(p.AccountID))
	v.numericID("parent_transaction_id", p.ParentTransactionID)
	v.required("merchant_name_location", p.MerchantNameLocation)
	v.sequenceNumber("originating_transaction", p.OriginatingTransaction, p.AllowUnusual)
	v.currency("currency", p.Currency)
	v.required("card_acceptor_id", p.CardAcceptorID)
	v.required("correlation_id", p.CorrelationID)
	v.mcc("merchant_category", p.MerchantCategoryCode)
	v.required("terminal_id", p.TerminalID)
	v.required("acquirer_id", p.AcquirerID)
	v.extra(p.Extra, reflect.TypeFor[RefundFundingParams]())
}

// Refund posts a refund. Safety: as Redeem. API: POST /funding/refunds.
func (s *FundingService) Refund(ctx context.Context, params RefundFundingParams) (*FundingResult, error) {
	v := s.client.validator()
	params.check(&v)
	body := struct {
		RefundFundingParams
		ParentTransactionID transactionNumber `json:"parent_transaction_id,omitzero"`
	}{params, transactionNumber(params.ParentTransactionID)}
	return s.post(ctx, opFundingRefund, params.AccountID, params.CorrelationID, body, v)
}

// sequenceNumber refuses 0 unless unusual is set: a movement that names no transaction cannot be traced.
func (v *validator) sequenceNumber(field string, number int64, unusual bool) {
	if number == 0 && !unusual {
		v.fault(field, "is required; for zero, set AllowUnusual")
	}
}

func (s *FundingService) post(ctx context.Context, op operation, account AccountID, correlation string, body any, v validator) (*FundingResult, error) {
	return fetch[FundingResult](ctx, s.client, request{
		op: op, account: account, correlationID: correlation, faults: v.faults,
	}.with(body))
}
