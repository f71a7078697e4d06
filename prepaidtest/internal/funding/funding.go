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

// fundingInput has the members that redemptions and refunds share.
type fundingInput struct {
	amount                                    wire.Money
	account, nameLocation, currency, acceptor string
	correlation, category, terminal, acquirer string
	originating, parent                       int64
}

func (in *fundingInput) bind(b *wire.Reader) {
	b.Decimal("amount", &in.amount, false).Required().NotNegative()
	b.String("account_id", &in.account).Required()
	b.String("merchant_name_location", &in.nameLocation).Required()
	b.Integer("originating_transaction", &in.originating).Required()
	b.String("currency", &in.currency).Required().Form(wire.CurrencyNumber())
	b.String("card_acceptor_id", &in.acceptor).Required()
	b.String("correlation_id", &in.correlation).Required()
	b.String("merchant_category", &in.category).Required().Form(wire.FourDigits())
	b.String("terminal_id", &in.terminal).Required()
	b.String("acquirer_id", &in.acquirer).Required()
}

func (in *fundingInput) entry(code ledger.Code, amount wire.Money) ledger.Entry {
	return ledger.Entry{
		Type: code, Amount: amount, ParentID: in.parent, Reference: in.nameLocation,
		Merchant: ledger.Merchant{CardAcceptorID: in.acceptor, TerminalID: in.terminal, AcquirerID: in.acquirer, MerchantCategoryCode: in.category},
	}
}

// Redeem handles POST /funding/redemptions. It approves a redemption if the account exists, is active and holds
// the amount. The member funding_exception, a statement about the proxy card, has no effect.
func (s *Funding) Redeem(c *exchange.Call) exchange.Response {
	var in fundingInput
	var exception string
	var clearing bool
	if refusal := c.BindBody(func(b *wire.Reader) {
		in.bind(b)
		b.String("funding_exception", &exception).Required().OneOf("no_exception", "restrictions_not_satisfiable", "funding_exhausted")
		b.Boolean("clearing_adjustment", &clearing).Required()
	}); refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	a := l.Account(in.account)
	if a == nil || a.Status != "active" || !a.Room(in.amount.Neg()) {
		return declined(c)
	}
	booked, _ := l.Post(a, in.entry(ledger.CodeFundingRedemption, in.amount.Neg()), s.clock.Now())
	s.redeemed[booked.ID] = &Redemption{
		Account: string(a.ID), Originating: in.originating, Correlation: in.correlation, Amount: in.amount, Item: booked.ID,
	}
	return approved(c, booked.ID)
}

// ReverseRedemption handles POST /funding/reversals. It approves one reversal of each redemption, if the request has its
// account, originating_transaction and correlation_id. The reversal credits the amount that was not refunded.
func (s *Funding) ReverseRedemption(c *exchange.Call) exchange.Response {
	var account, correlation string
	var originating, parent int64
	var clearing bool
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("account_id", &account).Required()
		b.Integer("originating_transaction", &originating).Required()
		b.String("correlation_id", &correlation).Required()
		b.Integer("parent_transaction_id", &parent).Required()
		b.Boolean("clearing_adjustment", &clearing).Required()
	}); refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	made := s.redeemed[parent]
	if made == nil || made.Account != account || made.Originating != originating || made.Correlation != correlation ||
		made.Reversed || made.Amount == made.Refunded {
		return declined(c)
	}
	credit, _ := made.Amount.Minus(made.Refunded) // cannot fail: Refund limits Refunded to Amount
	id, ok := s.credit(l, made.Account, ledger.Entry{Type: ledger.CodeFundingReversal, Amount: credit, ParentID: parent}, s.clock.Now())
	if !ok {
		return declined(c)
	}
	made.Reversed = true
	return approved(c, id)
}

// Refund handles POST /funding/refunds. A parent_transaction_id must belong to a redemption of the same account and
// correlation_id. The redemption must not be reversed, and the sum of its refunds must not exceed its amount.
func (s *Funding) Refund(c *exchange.Call) exchange.Response {
	var in fundingInput
	var hasParent bool
	if refusal := c.BindBody(func(b *wire.Reader) {
		in.bind(b)
		b.Integer("parent_transaction_id", &in.parent).Seen(&hasParent)
	}); refusal != nil {
		return *refusal
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	made := s.redeemed[in.parent]
	var refunded wire.Money
	if hasParent {
		if made == nil || made.Account != in.account || made.Correlation != in.correlation || made.Reversed {
			return declined(c)
		}
		var exact, left bool
		refunded, exact = made.Refunded.Plus(in.amount)
		_, left = made.Amount.Minus(refunded)
		if !exact || !left || refunded.Cmp(made.Amount) > 0 {
			return declined(c)
		}
	}
	id, ok := s.credit(l, in.account, in.entry(ledger.CodeFundingRefund, in.amount), s.clock.Now())
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
