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
type merchant struct{ acceptor, terminal, acquirer, category string }

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
	o.String(`"card_acceptor_id":`, i.merchant.acceptor)
	o.String(`"terminal_id":`, i.merchant.terminal)
	o.String(`"acquirer_id":`, i.merchant.acquirer)
	o.String(`"merchant_category_code":`, i.merchant.category)
	o.String(`"reference":`, i.reference)
	return o.End()
}

// room tells whether an account can take amount without leaving the range of money, and, for a debit, without
// going below zero.
func (a *account) room(amount wire.Money) bool {
	balance, ok := a.balance.Plus(amount)
	return ok && (amount >= 0 || balance >= 0)
}

// post books an entry and announces it. It needs s.mu.
func (s *Server) post(a *account, e entry, at time.Time) (item, bool) {
	booked, ok := s.book(a, e, at)
	if ok {
		s.announce(a, booked, booked.occurredAt)
	}
	return booked, ok
}

// postAll books several entries of one account, or none when the range of money does not hold them one after the
// other.
func (s *Server) postAll(a *account, at time.Time, entries ...entry) ([]item, bool) {
	balance := a.balance
	for _, e := range entries {
		for _, change := range []wire.Money{e.amount, -e.fee} {
			sum, ok := balance.Plus(change)
			if !ok {
				return nil, false
			}
			balance = sum
		}
	}
	booked := make([]item, len(entries))
	for i, e := range entries {
		booked[i], _ = s.post(a, e, at)
	}
	return booked, true
}

// book is the only place where a balance changes, so that a balance is always the sum of its history. It needs
// s.mu. Time never runs back within an account. The sum of a forced posting is not checked against zero; an
// amount beyond the range of money cannot be posted and is reported false.
func (s *Server) book(a *account, e entry, at time.Time) (item, bool) {
	balance, ok := a.balance.Plus(e.amount)
	if ok {
		balance, ok = balance.Plus(-e.fee)
	}
	if !ok {
		return item{}, false
	}
	if n := len(a.items); n > 0 && at.Before(a.items[n-1].occurredAt) {
		at = a.items[n-1].occurredAt
	}
	if e.merchant.category == "" {
		e.merchant.category = s.settings.noCategory
	}
	booked := item{entry: e, id: s.ids.Transaction(), account: a.id, running: balance, occurredAt: at}
	a.balance = balance
	a.items = append(a.items, booked)
	return booked, true
}
