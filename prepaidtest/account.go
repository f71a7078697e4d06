package prepaidtest

import (
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// accountStatuses are the eleven values of 3.1.
func accountStatuses() []string {
	return []string{
		"active", "pre_active", "inactive", "deactivated", "lost_or_stolen", "expired", "suspected_fraud", "closed",
		"inactive_pin_tries_exceeded", "vendor_inactive", "replaced",
	}
}

type account struct {
	id, externalID   string
	cardNumber       string // masked
	company          *company
	status           string
	productType      string
	accountType      string
	plastic          bool
	plasticExpiry    expiry
	accountExpiry    expiry
	displayName      string
	nameOnCard       string
	clientAccountKey string
	indexed          accountKey
	bpayReference    string
	directEntry      string
	personal         registration
	freeText         freeTextData
	portal           *portalData
	mdesConfigID     string
	corresponding    string
	holderType       int64
	balance          wire.Money
	items            []item
	wallet           []walletTokenData
	pin              string
	pinTries         int // wrong ones in a row; see PINTries
}

// expiry is a time with its wire form, which does not change as often as it is asked for.
type expiry struct {
	time.Time
	text string
}

func expires(at time.Time) expiry { return expiry{at, wire.DateTime(at).String()} }

// registration is a cardholder with its wire form, for the same reason.
type registration struct {
	personalData
	text []byte
}

func register(p personalData) registration { return registration{p, wire.AppendJSON(nil, p)} }

// accountKey is what GET /accounts searches by.
type accountKey struct{ clientID, key string }

const (
	bpayBillerCode = "123456"
	directEntryBSB = "633000"
)

// include says which optional groups an answer has.
type include struct {
	personal, directEntry, freeText, bpay    bool
	tokenInfo, corresponding, cardholderType bool
}

// appendReduced begins the account as it is answered (2.2) with the eight fields of GET /accounts/{id}/status.
func (a *account) appendReduced(to []byte) wire.Writer {
	o := wire.Begin(to)
	o.Money(`"balance":`, a.balance)
	o.Plain(`"card_number":`, a.cardNumber)
	o.Integer(`"company_id":`, a.company.ID)
	o.String(`"external_account_id":`, a.externalID)
	o.Plain(`"plastic_expiry":`, a.plasticExpiry.text)
	o.String(`"product_type":`, a.productType)
	o.Plain(`"status":`, a.status)
	o.Boolean(`"is_plastic_enabled":`, a.plastic)
	return o
}

// appendCreated adds the two fields that POST /accounts has beyond them.
func (a *account) appendCreated(to []byte) wire.Writer {
	o := a.appendReduced(to)
	if len(a.items) > 0 {
		o.Time(`"first_transaction_occurred_at":`, a.items[0].occurredAt)
		o.Time(`"last_transaction_occurred_at":`, a.items[len(a.items)-1].occurredAt)
	}
	return o
}

func (a *account) append(to []byte, with include) []byte {
	o := a.appendCreated(to)
	o.String(`"account_id":`, a.id)
	o.Plain(`"account_expiry":`, a.accountExpiry.text)
	o.String(`"account_type":`, a.accountType)
	o.Optional(`"display_name":`, a.displayName)
	o.Optional(`"name_on_card":`, a.nameOnCard)
	o.Boolean(`"is_compliant":`, true)
	o.Optional(`"client_id":`, a.company.ClientID)
	o.Optional(`"client_account_key":`, a.clientAccountKey)
	if a.portal != nil {
		o.Raw(`"portal_identifier":`, wire.AppendJSON(nil, a.portal))
	}
	if with.personal {
		o.Raw(`"personal":`, a.personal.text)
	}
	if with.freeText {
		o.Raw(`"free_text":`, wire.AppendJSON(nil, a.freeText))
	}
	if with.bpay {
		o.Plain(`"bpay_biller_code":`, bpayBillerCode)
		o.String(`"bpay_reference_number":`, a.bpayReference)
	}
	if with.directEntry {
		o.Plain(`"direct_entry_bsb":`, directEntryBSB)
		o.String(`"direct_entry_account_number":`, a.directEntry)
	}
	if with.tokenInfo {
		o.Optional(`"mdes_config_id":`, a.mdesConfigID)
	}
	if with.corresponding {
		o.Optional(`"corresponding_account_id":`, a.corresponding)
	}
	if with.cardholderType {
		o.Integer(`"card_holder_type":`, a.holderType)
	}
	return o.End()
}
