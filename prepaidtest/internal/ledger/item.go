package ledger

import (
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Code is the four-digit type of a history item.
type Code string

const (
	CodeClearing           Code = "1115"
	CodePOSCredit          Code = "1116"
	CodeClearingCreditBack Code = "1117"
	CodePurchase           Code = "1118"
	CodePurchaseReversal   Code = "1120"
	CodeClearingReversal   Code = "1125"
	CodeATMCash            Code = "1141"
	CodeLoad               Code = "2950"
	CodeCardToCard         Code = "2951"
	CodeDirectEntryOut     Code = "2960"
	CodeFundingRedemption  Code = "3010"
	CodeFundingReversal    Code = "3011"
	CodeFundingRefund      Code = "3012"
	CodeAdjustment         Code = "3900" // Adjust
)

// Describe returns the description of a type.
func (t Code) Describe() string {
	switch t {
	case CodeClearing:
		return "Clearing"
	case CodePOSCredit:
		return "Point of sale credit"
	case CodeClearingCreditBack:
		return "Clearing credit back"
	case CodePurchase:
		return "Purchase authorisation"
	case CodePurchaseReversal:
		return "Purchase authorisation reversal"
	case CodeClearingReversal:
		return "Clearing reversal"
	case CodeATMCash:
		return "ATM cash authorisation"
	case CodeLoad:
		return "Load"
	case CodeCardToCard:
		return "Card to card transfer"
	case CodeDirectEntryOut:
		return "Direct entry out"
	case CodeFundingRedemption:
		return "Funding redemption"
	case CodeFundingReversal:
		return "Funding redemption reversal"
	case CodeFundingRefund:
		return "Funding refund"
	case CodeAdjustment:
		return "Adjustment"
	}
	return "Transaction"
}

// Merchant is where a card was used.
type Merchant struct {
	CardAcceptorID       string `json:"card_acceptor_id,omitzero"`
	TerminalID           string `json:"terminal_id,omitzero"`
	AcquirerID           string `json:"acquirer_id,omitzero"`
	MerchantCategoryCode string `json:"merchant_category_code,omitzero"`
}

// Entry is a movement to be booked. Credits are positive, debits negative.
type Entry struct {
	Type      Code       `json:"type"`
	Amount    wire.Money `json:"amount"`
	Fee       wire.Money `json:"fee_amount,omitzero"` // zero or more; also debited
	ParentID  int64      `json:"parent_id,omitzero"`
	Merchant  `json:"merchant,omitzero"`
	Reference string `json:"reference,omitzero"`
}

// Item is a booked movement: an element of the history. Its JSON is that of the saved state, within its account.
type Item struct {
	ID int64 `json:"id"`
	Entry
	AccountID      string     `json:"-"`
	RunningBalance wire.Money `json:"running_balance_amount"`
	OccurredAt     time.Time  `json:"occurred_at"`
}

const Currency = "AUD"

// Parent is the ID of the parent, as in responses; empty without a parent.
func (i Item) Parent() string {
	if i.ParentID == 0 {
		return ""
	}
	return strconv.FormatInt(i.ParentID, 10)
}

// itemBody is a history item as it is in responses (2.8).
type itemBody struct {
	ID              string        `json:"id"`
	ParentID        string        `json:"parent_id"`
	AccountID       string        `json:"account_id"`
	Type            Code          `json:"type"`
	Description     string        `json:"type_description"`
	Amount          wire.Money    `json:"amount"`
	Currency        string        `json:"amount_currency"`
	Fee             wire.Money    `json:"fee_amount"`
	FeeCurrency     string        `json:"fee_amount_currency"`
	Balance         wire.Money    `json:"running_balance_amount"`
	BalanceCurrency string        `json:"running_balance_amount_currency"`
	OccurredAt      wire.DateTime `json:"occurred_at"`
	CardAcceptorID  string        `json:"card_acceptor_id"`
	TerminalID      string        `json:"terminal_id"`
	AcquirerID      string        `json:"acquirer_id"`
	Category        string        `json:"merchant_category_code"`
	Reference       string        `json:"reference"`
}

// AppendItem appends a history item as it is in responses.
func AppendItem(to []byte, i Item) []byte {
	return wire.AppendJSON(to, itemBody{
		ID: strconv.FormatInt(i.ID, 10), ParentID: i.Parent(), AccountID: i.AccountID, Type: i.Type, Description: i.Type.Describe(),
		Amount: i.Amount, Currency: Currency, Fee: i.Fee, FeeCurrency: Currency, Balance: i.RunningBalance, BalanceCurrency: Currency,
		OccurredAt: wire.DateTime(i.OccurredAt), CardAcceptorID: i.CardAcceptorID, TerminalID: i.TerminalID, AcquirerID: i.AcquirerID,
		Category: i.MerchantCategoryCode, Reference: i.Reference,
	})
}
