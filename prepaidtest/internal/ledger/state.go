package ledger

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/document"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// SavedAccount ends with what the reference does not show.
type SavedAccount struct {
	ID                     string        `json:"account_id"`
	ExternalID             string        `json:"external_account_id"`
	CardNumber             string        `json:"card_number"`
	CompanyID              int64         `json:"company_id"`
	Status                 string        `json:"status"`
	ProductType            string        `json:"product_type"`
	AccountType            string        `json:"account_type"`
	Plastic                bool          `json:"is_plastic_enabled"`
	PlasticExpiry          time.Time     `json:"plastic_expiry"`
	AccountExpiry          time.Time     `json:"account_expiry"`
	DisplayName            string        `json:"display_name,omitzero"`
	NameOnCard             string        `json:"name_on_card,omitzero"`
	Key                    string        `json:"client_account_key,omitzero"`
	BPAYReference          string        `json:"bpay_reference_number"`
	DirectEntry            string        `json:"direct_entry_account_number"`
	Personal               Personal      `json:"personal"`
	FreeText               FreeText      `json:"free_text"`
	Portal                 *Portal       `json:"portal_identifier,omitzero"`
	MDESConfigID           string        `json:"mdes_config_id,omitzero"`
	CorrespondingAccountID string        `json:"corresponding_account_id,omitzero"`
	CardholderType         int64         `json:"card_holder_type"`
	Balance                wire.Money    `json:"balance"`
	Items                  SavedItems    `json:"transactions"`
	Wallet                 []WalletToken `json:"wallet_tokens,omitzero"`
	PIN                    string        `json:"pin,omitzero"`
	PINTries               int           `json:"pin_tries,omitzero"`
	Found                  int           `json:"found,omitzero"` // place among the accounts with its client_account_key
}

// SavedItems is a history in the order booked.
type SavedItems []Item

type savedItem struct {
	ID         int64      `json:"id"`
	Parent     int64      `json:"parent_id,omitzero"`
	Type       Code       `json:"type"`
	Amount     wire.Money `json:"amount"`
	Fee        wire.Money `json:"fee_amount,omitzero"`
	Running    wire.Money `json:"running_balance_amount"`
	OccurredAt time.Time  `json:"occurred_at"`
	Merchant   Merchant   `json:"merchant,omitzero"`
	Reference  string     `json:"reference,omitzero"`
}

// MarshalJSON leaves out the account, in which the items stand.
func (s SavedItems) MarshalJSON() ([]byte, error) {
	list := make([]savedItem, len(s))
	for n, i := range s {
		list[n] = savedItem{i.ID, i.Parent, i.Code, i.Amount, i.Fee, i.Running, i.OccurredAt, i.Merchant, i.Reference}
	}
	return json.Marshal(list)
}

// UnmarshalJSON leaves the account to the caller.
func (s *SavedItems) UnmarshalJSON(text []byte) error {
	var list []savedItem
	if err := document.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, i := range list {
		*s = append(*s, Item{
			Entry: Entry{Code: i.Type, Amount: i.Amount, Fee: i.Fee, Parent: i.Parent, Merchant: i.Merchant, Reference: i.Reference},
			ID:    i.ID, Running: i.Running, OccurredAt: i.OccurredAt,
		})
	}
	return nil
}

// Save returns the accounts, oldest first. Items and wallet tokens are only ever appended, and need no copy.
func (v View) Save() []SavedAccount {
	found := make(map[*Account]int)
	for _, list := range v.byKey {
		for place, a := range list {
			found[a] = place
		}
	}
	list := make([]SavedAccount, len(v.order))
	for i, a := range v.order {
		list[i] = SavedAccount{
			ID: a.ID, ExternalID: a.ExternalID, CardNumber: a.CardNumber, CompanyID: a.Company.ID, Status: a.Status,
			ProductType: a.ProductType, AccountType: a.AccountType, Plastic: a.Plastic, PlasticExpiry: a.PlasticExpiry.UTC(),
			AccountExpiry: a.AccountExpiry.UTC(), DisplayName: a.DisplayName, NameOnCard: a.NameOnCard, Key: a.ClientAccountKey,
			BPAYReference: a.BPAYReference, DirectEntry: a.DirectEntry, Personal: a.Registration.Personal, FreeText: a.FreeText,
			Portal: a.Portal, MDESConfigID: a.MDESConfigID, CorrespondingAccountID: a.Corresponding,
			CardholderType: a.HolderType, Balance: a.Balance, Items: slices.Clip(a.Items), Wallet: slices.Clip(a.Wallet),
			PIN: a.PIN, PINTries: a.PINTries, Found: found[a],
		}
	}
	return list
}

// Restore puts back accounts that were saved; last is the newest transaction number.
func (l Locked) Restore(saved []SavedAccount, last int64) error {
	found := make(map[*Account]int)
	for i, add := range saved {
		a := &Account{
			ID: add.ID, ExternalID: add.ExternalID, CardNumber: add.CardNumber, Company: l.Company(add.CompanyID), Status: add.Status,
			ProductType: add.ProductType, AccountType: add.AccountType, Plastic: add.Plastic, PlasticExpiry: NewExpiry(add.PlasticExpiry),
			AccountExpiry: NewExpiry(add.AccountExpiry), DisplayName: add.DisplayName, NameOnCard: add.NameOnCard,
			ClientAccountKey: add.Key, BPAYReference: add.BPAYReference, DirectEntry: add.DirectEntry, Registration: NewRegistration(add.Personal),
			FreeText: add.FreeText, Portal: add.Portal, MDESConfigID: add.MDESConfigID, Corresponding: add.CorrespondingAccountID,
			HolderType: add.CardholderType, Balance: add.Balance, Items: add.Items, Wallet: add.Wallet, PIN: add.PIN, PINTries: add.PINTries,
		}
		switch {
		case add.ID == "" || l.Account(add.ID) != nil:
			return document.Wrong("accounts", i, "has no account_id of its own")
		case a.Company == nil:
			return document.Wrong("accounts", i, "has no company of the document")
		case !slices.Contains(AccountStatuses(), add.Status):
			return document.Wrong("accounts", i, "has a status that is none of the eleven")
		case len(add.CardNumber) < 4:
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
