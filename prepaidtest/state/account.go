package state

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/cardprograms/prepaid"
)

// IDs have the client's types, since no code interprets an ID. All other types are the emulator's own.
type (
	// AccountID is an EAID.
	AccountID = prepaid.AccountID
	// CompanyID is the number of a company.
	CompanyID = prepaid.CompanyID
)

// Account has the data of an account (2.2), in the order of the reference's response. The comments name the defaults of a seed: its
// zero value is an active, empty account of company 42 with a complete registration.
//
// If you print or log an account, the text has only EAID, status and balance, so that a failure message has no personal data.
type Account struct {
	// Balance is a decimal number such as "100.00". A seed's balance is booked as a load; default no money. An inspected balance
	// has at least two decimals. A saved state and a seed document have it as a number.
	Balance string `json:"-"`
	// CardNumber is masked, and has at least 4 characters. Default: generated.
	CardNumber string `json:"card_number"`
	// CompanyID is the owner. Default company 42.
	CompanyID CompanyID `json:"company_id"`
	// ExternalID is external_account_id, which is not the EAID. Default: generated.
	ExternalID string `json:"external_account_id"`
	// PlasticExpiry is the expiry of the card, in UTC. Default: four years from now.
	PlasticExpiry time.Time `json:"plastic_expiry"`
	// ProductType is reloadable, gift or loyalty. Default: the company's.
	ProductType string `json:"product_type"`
	// Status is one of the eleven values of 3.1. Default "active".
	Status string `json:"status"`
	// PlasticDisabled makes is_plastic_enabled false.
	PlasticDisabled Inverted `json:"is_plastic_enabled"`
	// ID is the EAID. Default: generated.
	ID AccountID `json:"account_id"`
	// AccountExpiry is the expiry of the account, in UTC. Default: four years from now.
	AccountExpiry time.Time `json:"account_expiry"`
	// AccountType is proxy (default) or ledger.
	AccountType string `json:"account_type"`
	// DisplayName is optional.
	DisplayName string `json:"display_name,omitzero"`
	// NameOnCard is optional.
	NameOnCard string `json:"name_on_card,omitzero"`
	// Key is client_account_key; optional.
	Key string `json:"client_account_key,omitzero"`
	// Portal is optional.
	Portal *PortalIdentifier `json:"portal_identifier,omitzero"`
	// Cardholder is the registration, nil only in a seed. Default: a complete registration of a fictional person, also for single
	// required members.
	Cardholder *Cardholder `json:"personal"`
	// FreeText is the program's own data.
	FreeText FreeText `json:"free_text"`
	// BPAYReference is bpay_reference_number. Default: generated.
	BPAYReference string `json:"bpay_reference_number"`
	// DirectEntry is direct_entry_account_number. Default: generated.
	DirectEntry string `json:"direct_entry_account_number"`
	// MDESConfigID is optional.
	MDESConfigID string `json:"mdes_config_id,omitzero"`
	// CorrespondingAccountID is the EAID of the card that this one replaces; optional.
	CorrespondingAccountID AccountID `json:"corresponding_account_id,omitzero"`
	// CardholderType is 1 (default) or 2.
	CardholderType int64 `json:"card_holder_type"`
}

// Format prints EAID, status and balance with every verb.
func (a Account) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s %s %s", string(a.ID), a.Status, a.Balance)
}

// LogValue logs EAID, status and balance.
func (a Account) LogValue() slog.Value {
	return slog.GroupValue(slog.String("account_id", string(a.ID)), slog.String("status", a.Status), slog.String("balance", a.Balance))
}

// Inverted is a bool that is the opposite of its JSON, so that the member's default true is the zero value.
type Inverted bool

// MarshalJSON implements json.Marshaler.
func (i Inverted) MarshalJSON() ([]byte, error) { return json.Marshal(!bool(i)) }

// UnmarshalJSON implements json.Unmarshaler.
func (i *Inverted) UnmarshalJSON(text []byte) error {
	plain := !bool(*i)
	err := json.Unmarshal(text, &plain)
	*i = Inverted(!plain)
	return err
}
