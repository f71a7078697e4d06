package service

import (
	"slices"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// seedAccount is an account of a document. Its balance is opening plus the sum of history.
type seedAccount struct {
	state.Account
	balance wire.Money
	path    string
	opening wire.Money
	history []seedItem
	wallet  []state.WalletToken
}

// defaultCompany is the company of an account that names none.
const defaultCompany = 42

// seedItem is a transaction of a document.
type seedItem struct {
	ledger.Entry
	occurredAt time.Time
}

func (d *seedDocument) bindAccount(b *wire.Reader) {
	add := seedAccount{path: b.Path}
	a := &add.Account
	a.CompanyID = defaultCompany
	sum := b.Decimal("balance", &add.balance, true)
	b.Rest(a)
	history := b.Objects("transactions", add.bindItem)
	b.Objects("wallet_tokens", func(b *wire.Reader) {
		var token state.WalletToken
		b.Struct(&token)
		add.wallet = append(add.wallet, token)
	})
	fits := true
	if sum.Present {
		fits = add.openingFor(add.balance)
	}
	history.Limit(fits && add.inRange(), "lead to a balance out of range")
	d.accounts = append(d.accounts, add)
}

// openingFor sets the opening balance so that the history ends at balance. It returns false if the opening balance is out of range.
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

// inRange reports whether every running balance is in range.
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

// putSeedAccount books the opening load first: one second before the history, or at the current time if there is no
// history.
func (s *Service) putSeedAccount(l ledger.Locked, add seedAccount) {
	a := s.AddAccount(l, l.Company(add.CompanyID), add.Account, wire.Money{}) // the balance is booked below
	opened := s.Clock.Now()
	if len(add.history) > 0 {
		opened = add.history[0].occurredAt.Add(-time.Second)
	}
	if add.opening.Sign() != 0 {
		l.Book(a, ledger.Entry{Type: ledger.CodeLoad, Amount: add.opening, Reference: "opening balance"}, opened)
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
	next.Type = ledger.Code(code)
	b.Decimal("amount", &next.Amount, true).Required()
	fee := b.Decimal("fee_amount", &next.Fee, true)
	fee.Limit(next.Fee.Sign() >= 0, "must be zero or more")
	at := b.DateTime("occurred_at", &next.occurredAt).Required()
	at = at.Limit(!next.occurredAt.After(b.Now), "must not be in the future")
	if n := len(add.history); n > 0 {
		at.Limit(!next.occurredAt.Before(add.history[n-1].occurredAt), "must not be before the transaction above it")
	}
	b.String("reference", &next.Reference)
	b.Struct(&next.Merchant)
	add.history = append(add.history, next)
}
