package ledger

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// AccountStatuses are the eleven values of 3.1.
func AccountStatuses() []string {
	return []string{
		"active", "pre_active", "inactive", "deactivated", "lost_or_stolen", "expired", "suspected_fraud", "closed",
		"inactive_pin_tries_exceeded", "vendor_inactive", "replaced",
	}
}

// Account is an account with its history.
type Account struct {
	ID, ExternalID   string
	CardNumber       string // masked
	Company          *Company
	Status           string
	ProductType      string
	AccountType      string
	Plastic          bool
	PlasticExpiry    Expiry
	AccountExpiry    Expiry
	DisplayName      string
	NameOnCard       string
	ClientAccountKey string
	indexed          Key
	BPAYReference    string
	DirectEntry      string
	Registration     Registration
	FreeText         FreeText
	Portal           *Portal
	MDESConfigID     string
	Corresponding    string
	HolderType       int64
	Balance          wire.Money
	Items            []Item
	Wallet           []WalletToken
	PIN              string
	PINTries         int // wrong ones in a row; see PINTries
}

// Expiry is a time with its wire form, which does not change as often as it is asked for.
type Expiry struct {
	time.Time
	text string
}

// NewExpiry makes an expiry at a time.
func NewExpiry(at time.Time) Expiry { return Expiry{at, wire.DateTime(at).String()} }

// Registration is a cardholder with its wire form, for the same reason.
type Registration struct {
	Personal
	text []byte
}

// NewRegistration makes a registration of a cardholder.
func NewRegistration(p Personal) Registration { return Registration{p, wire.AppendJSON(nil, p)} }

// Key is what GET /accounts searches by.
type Key struct{ ClientID, Key string }

const (
	bpayBillerCode = "123456"
	directEntryBSB = "633000"
)

// Groups says which optional groups a response has.
type Groups struct {
	Personal, DirectEntry, FreeText, BPAY    bool
	TokenInfo, Corresponding, CardholderType bool
}

// AppendReduced begins the account as it is shown (2.2) with the eight fields of GET /accounts/{id}/status.
func (a *Account) AppendReduced(to []byte) wire.Writer {
	o := wire.Begin(to)
	o.Money(`"balance":`, a.Balance)
	o.Plain(`"card_number":`, a.CardNumber)
	o.Integer(`"company_id":`, a.Company.ID)
	o.String(`"external_account_id":`, a.ExternalID)
	o.Plain(`"plastic_expiry":`, a.PlasticExpiry.text)
	o.String(`"product_type":`, a.ProductType)
	o.Plain(`"status":`, a.Status)
	o.Boolean(`"is_plastic_enabled":`, a.Plastic)
	return o
}

// AppendCreated adds the two fields that POST /accounts has beyond them.
func (a *Account) AppendCreated(to []byte) wire.Writer {
	o := a.AppendReduced(to)
	if len(a.Items) > 0 {
		o.Time(`"first_transaction_occurred_at":`, a.Items[0].OccurredAt)
		o.Time(`"last_transaction_occurred_at":`, a.Items[len(a.Items)-1].OccurredAt)
	}
	return o
}

// Append appends the whole account with the groups that were asked for.
func (a *Account) Append(to []byte, with Groups) []byte {
	o := a.AppendCreated(to)
	o.String(`"account_id":`, a.ID)
	o.Plain(`"account_expiry":`, a.AccountExpiry.text)
	o.String(`"account_type":`, a.AccountType)
	o.Optional(`"display_name":`, a.DisplayName)
	o.Optional(`"name_on_card":`, a.NameOnCard)
	o.Boolean(`"is_compliant":`, true)
	o.Optional(`"client_id":`, a.Company.ClientID)
	o.Optional(`"client_account_key":`, a.ClientAccountKey)
	if a.Portal != nil {
		o.Raw(`"portal_identifier":`, wire.AppendJSON(nil, a.Portal))
	}
	if with.Personal {
		o.Raw(`"personal":`, a.Registration.text)
	}
	if with.FreeText {
		o.Raw(`"free_text":`, wire.AppendJSON(nil, a.FreeText))
	}
	if with.BPAY {
		o.Plain(`"bpay_biller_code":`, bpayBillerCode)
		o.String(`"bpay_reference_number":`, a.BPAYReference)
	}
	if with.DirectEntry {
		o.Plain(`"direct_entry_bsb":`, directEntryBSB)
		o.String(`"direct_entry_account_number":`, a.DirectEntry)
	}
	if with.TokenInfo {
		o.Optional(`"mdes_config_id":`, a.MDESConfigID)
	}
	if with.Corresponding {
		o.Optional(`"corresponding_account_id":`, a.Corresponding)
	}
	if with.CardholderType {
		o.Integer(`"card_holder_type":`, a.HolderType)
	}
	return o.End()
}
