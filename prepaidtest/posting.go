package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// room tells whether an account can take amount without leaving the range of money, and, for a debit, without
// going below zero.
func (a *account) room(amount wire.Money) bool {
	balance, ok := a.balance.Plus(amount)
	return ok && (amount >= 0 || balance >= 0)
}

// post books an entry and announces it.
func (l Locked) post(a *account, e entry, at time.Time) (item, bool) {
	booked, ok := l.book(a, e, at)
	if ok {
		l.announce(l, a, booked)
	}
	return booked, ok
}

// postAll books several entries of one account, or none when the range of money does not hold them one after the
// other.
func (l Locked) postAll(a *account, at time.Time, entries ...entry) ([]item, bool) {
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
		booked[i], _ = l.post(a, e, at)
	}
	return booked, true
}

// book is the only place where a balance changes, so that a balance is always the sum of its history.  Time never runs back within an account. The sum of a forced posting is not checked against zero; an
// amount beyond the range of money cannot be posted and is reported false.
func (l Locked) book(a *account, e entry, at time.Time) (item, bool) {
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
	if e.merchant.Category == "" {
		e.merchant.Category = l.noCategory
	}
	booked := item{entry: e, id: l.ids.Transaction(), account: a.id, running: balance, occurredAt: at}
	a.balance = balance
	a.items = append(a.items, booked)
	return booked, true
}

// receives tells whether money may come in: an account that is over and done with takes none.
func (a *account) receives() bool {
	switch a.status {
	case "closed", "replaced", "expired", "lost_or_stolen", "deactivated":
		return false
	}
	return true
}
