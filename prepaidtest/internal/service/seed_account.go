package service

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// seedCompany is a company of a document with its policy rules.
type seedCompany struct {
	state.Company
	Categories []int64                `json:"categories"`
	Merchants  []state.PolicyMerchant `json:"merchants"`
	Terminals  []state.PolicyTerminal `json:"terminals"`
}

// check finds the rules of a company that has no policy, and duplicates.
func (add *seedCompany) check(fault func(field, rule string)) {
	if add.Loop == "open" {
		add.Loop = state.OpenLoop
	}
	for name, given := range map[string]bool{"categories": add.Categories != nil, "merchants": add.Merchants != nil, "terminals": add.Terminals != nil} {
		if given && add.Loop == state.NoPolicy {
			fault(name, "is not for a company with loop none")
		}
	}
	twice := func(list string, i int, is bool) {
		if is {
			fault(list+"["+strconv.Itoa(i)+"]", "is there twice")
		}
	}
	for i, code := range add.Categories {
		twice("categories", i, slices.Contains(add.Categories[:i], code))
	}
	for i, r := range add.Merchants {
		twice("merchants", i, slices.ContainsFunc(add.Merchants[:i], policy.SameMerchant(r)))
	}
	for i, r := range add.Terminals {
		twice("terminals", i, slices.ContainsFunc(add.Terminals[:i], policy.SameTerminal(r)))
	}
}

// seedAccount is an account of a document. Its balance is opening plus the sum of its history.
type seedAccount struct {
	state.Account
	Balance *wire.Money         `json:"balance"`
	History []seedItem          `json:"transactions"`
	Wallet  []state.WalletToken `json:"wallet_tokens"`
	opening wire.Money
}

// seedItem is a transaction of a document.
type seedItem struct {
	Type   ledger.Code `json:"type"`
	Amount wire.Money  `json:"amount"`
	Fee    wire.Money  `json:"fee_amount"`
	ledger.Merchant
	Reference  string    `json:"reference"`
	OccurredAt time.Time `json:"occurred_at"`
}

func (i seedItem) entry() ledger.Entry {
	return ledger.Entry{Type: i.Type, Amount: i.Amount, Fee: i.Fee, Merchant: i.Merchant, Reference: i.Reference}
}

// owner is the company of the account. An account that names none is of company 42.
func (add *seedAccount) owner() state.CompanyID { return cmp.Or(add.CompanyID, 42) }

func (add *seedAccount) check(fault func(field, rule string), now time.Time) {
	for i, item := range add.History {
		field := "transactions[" + strconv.Itoa(i) + "].occurred_at"
		if item.OccurredAt.After(now) {
			fault(field, "must not be in the future")
		}
		if i > 0 && item.OccurredAt.Before(add.History[i-1].OccurredAt) {
			fault(field, "must not be before the transaction above it")
		}
	}
	if !add.open() || !add.inRange() {
		fault("transactions", "lead to a balance out of range")
	}
}

// open sets the opening balance so that the history ends at the balance. It returns false if the opening balance is out of range.
func (add *seedAccount) open() bool {
	if add.Balance == nil {
		return true
	}
	add.opening = *add.Balance
	for _, booked := range slices.Backward(add.History) {
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
	for _, booked := range add.History {
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
	a := s.AddAccount(l, l.Company(add.owner()), add.Account, wire.Money{}) // the balance is booked below
	opened := s.Clock.Now()
	if len(add.History) > 0 {
		opened = add.History[0].OccurredAt.Add(-time.Second)
	}
	if add.opening.Sign() != 0 {
		l.Book(a, ledger.Entry{Type: ledger.CodeLoad, Amount: add.opening, Reference: "opening balance"}, opened)
	}
	for _, booked := range add.History {
		l.Book(a, booked.entry(), booked.OccurredAt)
	}
	for _, token := range add.Wallet {
		s.Accounts.AddWalletToken(l, a, token)
	}
}
