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

// AppendItem appends a history item as it is in responses (2.8).
func AppendItem(to []byte, i Item) []byte {
	o := wire.Begin(to)
	o.Digits(`"id":`, i.ID)
	o.Plain(`"parent_id":`, i.Parent())
	o.String(`"account_id":`, i.AccountID)
	o.Plain(`"type":`, string(i.Type))
	o.Plain(`"type_description":`, i.Type.Describe())
	o.Money(`"amount":`, i.Amount)
	o.Plain(`"amount_currency":`, Currency)
	o.Money(`"fee_amount":`, i.Fee)
	o.Plain(`"fee_amount_currency":`, Currency)
	o.Money(`"running_balance_amount":`, i.RunningBalance)
	o.Plain(`"running_balance_amount_currency":`, Currency)
	o.Time(`"occurred_at":`, i.OccurredAt)
	o.String(`"card_acceptor_id":`, i.CardAcceptorID)
	o.String(`"terminal_id":`, i.TerminalID)
	o.String(`"acquirer_id":`, i.AcquirerID)
	o.String(`"merchant_category_code":`, i.MerchantCategoryCode)
	o.String(`"reference":`, i.Reference)
	return o.End()
}
