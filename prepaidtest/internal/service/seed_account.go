package service

import (
	"slices"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/accounts"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// seedAccount is an account of a document. Its balance is opening and history.
type seedAccount struct {
	Seed
	path    string
	opening wire.Money
	history []seedItem
	wallet  []ledger.WalletToken
}

// defaultCompany is the owner of an account that names none.
const defaultCompany = 42

// seedItem is a transaction of a document.
type seedItem struct {
	ledger.Entry
	occurredAt time.Time
}

func (d *seedDocument) bindAccount(b *wire.Reader) {
	add := seedAccount{path: b.Path}
	add.CompanyID = defaultCompany
	b.String("account_id", &add.ID).Min(1)
	b.String("external_account_id", &add.ExternalID).Min(1)
	b.Integer("company_id", &add.CompanyID)
	var balance wire.Money
	sum := b.Decimal("balance", &balance, true)
	b.String("client_account_key", &add.Key).Max(255).Form(wire.PrintableASCII())
	b.String("status", &add.Status).OneOf(ledger.AccountStatuses()...)
	b.String("product_type", &add.ProductType).OneOf(productTypes()...)
	b.String("account_type", &add.AccountType).OneOf("proxy", "ledger")
	plastic := true
	b.Boolean("is_plastic_enabled", &plastic)
	add.PlasticDisabled = !plastic
	b.DateTime("plastic_expiry", &add.PlasticExpiry)
	b.DateTime("account_expiry", &add.AccountExpiry)
	b.String("display_name", &add.DisplayName).Max(100)
	b.String("name_on_card", &add.NameOnCard).Min(2).Max(19).Form(wire.NameOnCard())
	personal := new(ledger.Personal)
	if b.Object("personal", personal.Bind).Usable {
		add.Personal = personal
	}
	b.Object("free_text", add.FreeText.Bind)
	add.Portal = accounts.BindPortal(b)
	b.String("mdes_config_id", &add.MDESConfigID).Max(10)
	b.String("corresponding_account_id", &add.CorrespondingAccountID).Min(1)
	var holder int64
	b.Integer("card_holder_type", &holder).Between(1, 2, "must be 1 or 2")
	add.CardholderType = int(holder)
	history := b.Objects("transactions", add.bindItem)
	b.Objects("wallet_tokens", func(b *wire.Reader) {
		var token ledger.WalletToken
		token.Bind(b)
		add.wallet = append(add.wallet, token)
	})
	fits := true
	if sum.Present {
		fits = add.openingFor(balance)
	}
	history.Limit(fits && add.inRange(), "lead to a balance out of range")
	d.accounts = append(d.accounts, add)
}

// openingFor sets what must be there before the history for balance to come out, and reports whether it can be held.
func (add *seedAccount) openingFor(balance wire.Money) bool {
	add.opening = balance
	for _, booked := range slices.Backward(add.history) {
		after, ok := add.opening.Plus(booked.Fee)
		before, fits := after.Minus(booked.Amount)
		if !ok || !fits {
			return false
		}
		add.opening = before
	}
	return true
}

// inRange reports whether every running balance can be held.
func (add *seedAccount) inRange() bool {
	running := add.opening
	for _, booked := range add.history {
		for _, step := range []wire.Money{booked.Amount, booked.Fee.Neg()} {
			next, ok := running.Plus(step)
			if !ok {
				return false
			}
			running = next
		}
	}
	return true
}

// putSeedAccount books the opening load a second before the history, so that it is first in time, or now when there
// is none.
func (s *Service) putSeedAccount(l ledger.Locked, add seedAccount) {
	a := l.Account(s.AddAccount(l, l.Company(add.CompanyID), add.Seed, wire.Money{}))
	opened := s.Clock.Now()
	if len(add.history) > 0 {
		opened = add.history[0].occurredAt.Add(-time.Second)
	}
	if add.opening.Sign() != 0 {
		l.Book(a, ledger.Entry{Code: ledger.CodeLoad, Amount: add.opening, Reference: "opening balance"}, opened)
	}
	for _, booked := range add.history {
		l.Book(a, booked.Entry, booked.occurredAt)
	}
	for _, token := range add.wallet {
		s.Accounts.AddWalletToken(l, a, token)
	}
}

// bindItem reads a transaction. The list is oldest first.
func (add *seedAccount) bindItem(b *wire.Reader) {
	var next seedItem
	var code string
	b.String("type", &code).Required().Form(wire.FourDigits())
	next.Code = ledger.Code(code)
	b.Decimal("amount", &next.Amount, true).Required()
	fee := b.Decimal("fee_amount", &next.Fee, true)
	fee.Limit(next.Fee.Sign() >= 0, "must be zero or more")
	at := b.DateTime("occurred_at", &next.occurredAt).Required()
	at = at.Limit(!next.occurredAt.After(b.Now), "must not be in the future")
	if n := len(add.history); n > 0 {
		at.Limit(!next.occurredAt.Before(add.history[n-1].occurredAt), "must not be before the transaction above it")
	}
	b.String("reference", &next.Reference)
	b.String("card_acceptor_id", &next.Merchant.Acceptor)
	b.String("terminal_id", &next.Merchant.Terminal)
	b.String("acquirer_id", &next.Merchant.Acquirer)
	b.String("merchant_category_code", &next.Merchant.Category).Form(wire.FourDigits())
	add.history = append(add.history, next)
}
