// Package funding carries out the funding operations: redemptions, their reversal, and refunds.
//
// Funding keeps the approved redemptions, under the lock of the ledger. No part of a redemption is credited twice: a reversal
// omits the refunded amount, and refunds never exceed their redemption.
package funding

import (
	"net/http"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Redemption is an approved funding redemption, for its reversal and refunds. Its JSON is that of the saved state.
type Redemption struct {
	Item        int64      `json:"transaction_id"`
	Account     string     `json:"account_id"`
	Originating int64      `json:"originating_transaction"`
	Correlation string     `json:"correlation_id"`
	Amount      wire.Money `json:"amount"`
	Refunded    wire.Money `json:"refunded"`
	Reversed    bool       `json:"reversed"`
}

// Funding carries out the funding operations. The ledger's lock guards it.
type Funding struct {
	ledger   *ledger.Ledger
	clock    *clock.Clock
	redeemed map[int64]*Redemption // by item ID
}

// New makes the funding operations.
func New(books *ledger.Ledger, c *clock.Clock) *Funding {
	return &Funding{ledger: books, clock: c, redeemed: make(map[int64]*Redemption)}
}

type fundingBody struct {
	Outcome       string `json:"outcome"`
	TransactionID int64  `json:"transaction_id,omitzero"`
}

func approved(c *exchange.Call, id int64) exchange.Response {
	return c.JSON(http.StatusOK, fundingBody{Outcome: "approved", TransactionID: id})
}

func declined(c *exchange.Call) exchange.Response {
	return c.JSON(http.StatusOK, fundingBody{Outcome: "declined"})
}

// input has the members of the three bodies that have an effect.
type input struct {
	Amount       wire.Money `json:"amount"`
	Account      string     `json:"account_id"`
	NameLocation string     `json:"merchant_name_location"`
	Acceptor     string     `json:"card_acceptor_id"`
	Correlation  string     `json:"correlation_id"`
	Category     string     `json:"merchant_category"`
	Terminal     string     `json:"terminal_id"`
	Acquirer     string     `json:"acquirer_id"`
	Originating  int64      `json:"originating_transaction"`
	Parent       int64      `json:"parent_transaction_id"`
}

func (in *input) entry(code ledger.Code, amount wire.Money) ledger.Entry {
	return ledger.Entry{
		Type: code, Amount: amount, ParentID: in.Parent, Reference: in.NameLocation,
		Merchant: ledger.Merchant{CardAcceptorID: in.Acceptor, TerminalID: in.Terminal, AcquirerID: in.Acquirer, MerchantCategoryCode: in.Category},
	}
}

// Redeem handles POST /funding/redemptions. It approves a redemption if the account exists, is active and holds
// the amount. The member funding_exception, a statement about the proxy card, has no effect.
func (s *Funding) Redeem(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[input](c)
	if refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	a := l.Account(in.Account)
	if a == nil || a.Status != "active" || !a.Room(in.Amount.Neg()) {
		return declined(c)
	}
	booked, _ := l.Post(a, in.entry(ledger.CodeFundingRedemption, in.Amount.Neg()), s.clock.Now())
	s.redeemed[booked.ID] = &Redemption{
		Account: string(a.ID), Originating: in.Originating, Correlation: in.Correlation, Amount: in.Amount, Item: booked.ID,
	}
	return approved(c, booked.ID)
}

// ReverseRedemption handles POST /funding/reversals. It approves one reversal of each redemption, if the request has its
// account, originating_transaction and correlation_id. The reversal credits the amount that was not refunded.
func (s *Funding) ReverseRedemption(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[input](c)
	if refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	made := s.redeemed[in.Parent]
	if made == nil || made.Account != in.Account || made.Originating != in.Originating || made.Correlation != in.Correlation ||
		made.Reversed || made.Amount == made.Refunded {
		return declined(c)
	}
	credit, _ := made.Amount.Minus(made.Refunded) // cannot fail: Refund limits Refunded to Amount
	id, ok := s.credit(l, made.Account, ledger.Entry{Type: ledger.CodeFundingReversal, Amount: credit, ParentID: in.Parent}, s.clock.Now())
	if !ok {
		return declined(c)
	}
	made.Reversed = true
	return approved(c, id)
}

// Refund handles POST /funding/refunds. A parent_transaction_id must belong to a redemption of the same account and
// correlation_id. The redemption must not be reversed, and the sum of its refunds must not exceed its amount.
func (s *Funding) Refund(c *exchange.Call) exchange.Response {
	in, refusal := exchange.Body[input](c)
	if refusal != nil {
		return *refusal
	}
	hasParent := c.Has("parent_transaction_id")
	l := s.ledger.Lock()
	defer l.Unlock()
	made := s.redeemed[in.Parent]
	var refunded wire.Money
	if hasParent {
		if made == nil || made.Account != in.Account || made.Correlation != in.Correlation || made.Reversed {
			return declined(c)
		}
		var exact, left bool
		refunded, exact = made.Refunded.Plus(in.Amount)
		_, left = made.Amount.Minus(refunded)
		if !exact || !left || refunded.Cmp(made.Amount) > 0 {
			return declined(c)
		}
	}
	id, ok := s.credit(l, in.Account, in.entry(ledger.CodeFundingRefund, in.Amount), s.clock.Now())
	if !ok {
		return declined(c)
	}
	if hasParent {
		made.Refunded = refunded
	}
	return approved(c, id)
}

// credit books an entry onto an account, if the account exists and can take money.
func (s *Funding) credit(l ledger.Locked, eaid string, e ledger.Entry, now time.Time) (id int64, ok bool) {
	a := l.Account(eaid)
	if a == nil || !a.Receives() {
		return 0, false
	}
	booked, ok := l.Post(a, e, now)
	return booked.ID, ok
}
