package prepaidtest

import (
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// typeCode is the four-digit type of a history item. The reference names those up to 1141 and 2950; the others
// are this emulator's own.
type typeCode string

const (
	codeClearing           typeCode = "1115"
	codePOSCredit          typeCode = "1116"
	codeClearingCreditBack typeCode = "1117"
	codePurchase           typeCode = "1118"
	codePurchaseReversal   typeCode = "1120"
	codeClearingReversal   typeCode = "1125"
	codeATMCash            typeCode = "1141"
	codeLoad               typeCode = "2950"
	codeCardToCard         typeCode = "2951" // own
	codeDirectEntryOut     typeCode = "2960" // own
	codeFundingRedemption  typeCode = "3010" // own
	codeFundingReversal    typeCode = "3011" // own
	codeFundingRefund      typeCode = "3012" // own
	codeAdjustment         typeCode = "3900" // own; Adjust
)

func (t typeCode) describe() string {
	switch t {
	case codeClearing:
		return "Clearing"
	case codePOSCredit:
		return "Point of sale credit"
	case codeClearingCreditBack:
		return "Clearing credit back"
	case codePurchase:
		return "Purchase authorisation"
	case codePurchaseReversal:
		return "Purchase authorisation reversal"
	case codeClearingReversal:
		return "Clearing reversal"
	case codeATMCash:
		return "ATM cash authorisation"
	case codeLoad:
		return "Load"
	case codeCardToCard:
		return "Card to card transfer"
	case codeDirectEntryOut:
		return "Direct entry out"
	case codeFundingRedemption:
		return "Funding redemption"
	case codeFundingReversal:
		return "Funding redemption reversal"
	case codeFundingRefund:
		return "Funding refund"
	case codeAdjustment:
		return "Adjustment"
	}
	return "Transaction"
}

// merchant is where a card was used.
type merchant struct {
	Acceptor string `json:"card_acceptor_id,omitzero"`
	Terminal string `json:"terminal_id,omitzero"`
	Acquirer string `json:"acquirer_id,omitzero"`
	Category string `json:"merchant_category_code,omitzero"`
}

// entry is a movement to be booked. Credits are positive, debits negative.
type entry struct {
	code      typeCode
	amount    wire.Money
	fee       wire.Money // zero or more; taken on top
	parent    int64
	merchant  merchant
	reference string
}

// item is a booked movement: an element of the history.
type item struct {
	entry
	id         int64
	account    string
	running    wire.Money
	occurredAt time.Time
}

const currency = "AUD"

func (i item) parentID() string {
	if i.parent == 0 {
		return ""
	}
	return strconv.FormatInt(i.parent, 10)
}

// appendItem appends a history item as it is answered (2.8).
func appendItem(to []byte, i item) []byte {
	o := wire.Begin(to)
	o.Digits(`"id":`, i.id)
	if i.parent == 0 {
		o.Plain(`"parent_id":`, "")
	} else {
		o.Digits(`"parent_id":`, i.parent)
	}
	o.String(`"account_id":`, i.account)
	o.Plain(`"type":`, string(i.code))
	o.Plain(`"type_description":`, i.code.describe())
	o.Money(`"amount":`, i.amount)
	o.Plain(`"amount_currency":`, currency)
	o.Money(`"fee_amount":`, i.fee)
	o.Plain(`"fee_amount_currency":`, currency)
	o.Money(`"running_balance_amount":`, i.running)
	o.Plain(`"running_balance_amount_currency":`, currency)
	o.Time(`"occurred_at":`, i.occurredAt)
	o.String(`"card_acceptor_id":`, i.merchant.Acceptor)
	o.String(`"terminal_id":`, i.merchant.Terminal)
	o.String(`"acquirer_id":`, i.merchant.Acquirer)
	o.String(`"merchant_category_code":`, i.merchant.Category)
	o.String(`"reference":`, i.reference)
	return o.End()
}
