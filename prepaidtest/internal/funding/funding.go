// Package funding carries out the funding operations: redemptions, their reversal, and refunds.
//
// Funding keeps the approved redemptions, under the lock of the ledger. An amount is never given back twice: what was refunded
// is not reversed, and refunds never exceed their redemption.
package funding

import (
	"net/http"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// redemption is an approved funding redemption, for its reversal and refunds.
type redemption struct {
	account     string
	originating int64
	correlation string
	amount      wire.Money
	refunded    wire.Money
	reversed    bool
	item        int64
}

// Funding carries out the funding operations. The ledger's lock guards it.
type Funding struct {
	ledger   *ledger.Ledger
	clock    *clock.Clock
	redeemed map[int64]*redemption // by the item
}

// New makes the funding operations.
func New(books *ledger.Ledger, c *clock.Clock) *Funding {
	return &Funding{ledger: books, clock: c, redeemed: make(map[int64]*redemption)}
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
		Code: code, Amount: amount, Parent: in.parent, Reference: in.nameLocation,
		Merchant: ledger.Merchant{Acceptor: in.acceptor, Terminal: in.terminal, Acquirer: in.acquirer, Category: in.category},
	}
}

// Redeem handles POST /funding/redemptions. It is approved when the account exists, is active and holds the
// amount. funding_exception is the caller's statement about the proxy card and decides nothing here.
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
	s.redeemed[booked.ID] = &redemption{
		account: a.ID, originating: in.originating, correlation: in.correlation, amount: in.amount, item: booked.ID,
	}
	return approved(c, booked.ID)
}

// ReverseRedemption handles POST /funding/reversals. It is approved once for a redemption of the same account
// with the same originating_transaction and correlation_id, and gives back what was not refunded before.
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
	if made == nil || made.account != account || made.originating != originating || made.correlation != correlation ||
		made.reversed || made.amount == made.refunded {
		return declined(c)
	}
	credit, _ := made.amount.Minus(made.refunded) // as in Refund
	id, ok := s.credit(l, made.account, ledger.Entry{Code: ledger.CodeFundingReversal, Amount: credit, Parent: parent}, s.clock.Now())
	if !ok {
		return declined(c)
	}
	made.reversed = true
	return approved(c, id)
}

// Refund handles POST /funding/refunds. With a parent_transaction_id it must belong to a redemption of the same
// account and correlation_id that was not reversed, and all its refunds may not exceed it.
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
		if made == nil || made.account != in.account || made.correlation != in.correlation || made.reversed {
			return declined(c)
		}
		var exact, left bool
		refunded, exact = made.refunded.Plus(in.amount)
		_, left = made.amount.Minus(refunded)
		if !exact || !left || refunded.Cmp(made.amount) > 0 {
			return declined(c)
		}
	}
	id, ok := s.credit(l, in.account, in.entry(ledger.CodeFundingRefund, in.amount), s.clock.Now())
	if !ok {
		return declined(c)
	}
	if hasParent {
		made.refunded = refunded
	}
	return approved(c, id)
}

// credit books onto an account that exists and can take money.
func (s *Funding) credit(l ledger.Locked, eaid string, e ledger.Entry, now time.Time) (id int64, ok bool) {
	a := l.Account(eaid)
	if a == nil || !a.Receives() {
		return 0, false
	}
	booked, ok := l.Post(a, e, now)
	return booked.ID, ok
}
