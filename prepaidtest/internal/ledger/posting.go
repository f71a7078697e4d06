package ledger

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Room reports whether the balance plus amount is in the range of money and, for a debit, not below zero.
func (a *Account) Room(amount wire.Money) bool {
	balance, ok := a.Balance.Plus(amount)
	return ok && (amount.Sign() >= 0 || balance.Sign() >= 0)
}

// Post books an entry and announces it.
func (l Locked) Post(a *Account, e Entry, at time.Time) (Item, bool) {
	booked, ok := l.Book(a, e, at)
	if ok {
		l.announce(l, a, booked)
	}
	return booked, ok
}

// PostAll books several entries of one account, or none if the balance after any of them would leave the range of
// money.
func (l Locked) PostAll(a *Account, at time.Time, entries ...Entry) ([]Item, bool) {
	balance := a.Balance
	for _, e := range entries {
		for _, change := range []wire.Money{e.Amount, e.Fee.Neg()} {
			sum, ok := balance.Plus(change)
			if !ok {
				return nil, false
			}
			balance = sum
		}
	}
	booked := make([]Item, len(entries))
	for i, e := range entries {
		booked[i], _ = l.Post(a, e, at)
	}
	return booked, true
}

// Book is the only place where a balance changes, so that a balance is always the sum of its history. Time never runs
// back within an account. A forced posting may make the balance negative; if the balance would leave the range of money,
// Book returns false.
func (l Locked) Book(a *Account, e Entry, at time.Time) (Item, bool) {
	balance, ok := a.Balance.Plus(e.Amount)
	if ok {
		balance, ok = balance.Plus(e.Fee.Neg())
	}
	if !ok {
		return Item{}, false
	}
	if n := len(a.Items); n > 0 && at.Before(a.Items[n-1].OccurredAt) {
		at = a.Items[n-1].OccurredAt
	}
	if e.Merchant.MerchantCategoryCode == "" {
		e.Merchant.MerchantCategoryCode = "0000" // the reference requires four digits
	}
	booked := Item{Entry: e, ID: l.ids.Transaction(), AccountID: string(a.ID), RunningBalance: balance, OccurredAt: at}
	a.Balance = balance
	a.Items = append(a.Items, booked)
	return booked, true
}

// Receives reports whether money may be credited: an account that is no longer used takes no money.
func (a *Account) Receives() bool {
	switch a.Status {
	case "closed", "replaced", "expired", "lost_or_stolen", "deactivated":
		return false
	}
	return true
}

// adopt checks the restored items and sets their account.
func (a *Account) adopt(last int64) bool {
	var sum wire.Money
	for n := range a.Items {
		i := &a.Items[n]
		i.AccountID = string(a.ID)
		var ok, paid bool
		sum, ok = sum.Plus(i.Amount)
		sum, paid = sum.Plus(i.Fee.Neg())
		if !ok || !paid || sum != i.RunningBalance || i.ID > last {
			return false
		}
	}
	return sum == a.Balance
}
