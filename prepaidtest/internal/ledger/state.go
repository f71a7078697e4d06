package ledger

import (
	"cmp"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
)

// SavedAccount is an account in the saved state.
type SavedAccount struct {
	Account
	Found int `json:"found,omitzero"` // place among the accounts with the same client_account_key
}

// Save returns the accounts, oldest first. Items and wallet tokens are only appended, so they need no copy.
func (v View) Save() []SavedAccount {
	found := make(map[*Account]int)
	for _, list := range v.byKey {
		for place, a := range list {
			found[a] = place
		}
	}
	list := make([]SavedAccount, len(v.order))
	for i, a := range v.order {
		list[i] = SavedAccount{*a, found[a]}
		list[i].Items, list[i].WalletTokens = slices.Clip(a.Items), slices.Clip(a.WalletTokens)
	}
	return list
}

// Restore loads saved accounts; last is the newest transaction number.
func (l Locked) Restore(saved []SavedAccount, last int64) error {
	found := make(map[*Account]int)
	for i, add := range saved {
		a := &add.Account
		a.Company = l.Company(a.CompanyID)
		switch {
		case a.ID == "" || l.Account(string(a.ID)) != nil:
			return document.Wrong("accounts", i, "has no account_id of its own")
		case a.Company == nil:
			return document.Wrong("accounts", i, "has no company of the document")
		case !slices.Contains(AccountStatuses(), a.Status):
			return document.Wrong("accounts", i, "has a status that is none of the eleven")
		case len(a.CardNumber) < 4:
			return document.Wrong("accounts", i, "has a card_number that is too short")
		case !a.adopt(last):
			return document.Wrong("accounts", i, "has transactions that do not add up to its balance, or a number not given out yet")
		}
		l.Add(a)
		found[a] = add.Found
	}
	for _, list := range l.byKey {
		slices.SortStableFunc(list, func(a, b *Account) int { return cmp.Compare(found[a], found[b]) })
	}
	return nil
}
