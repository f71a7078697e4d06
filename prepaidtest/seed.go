package prepaidtest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// SeedAccount is the initial state of an account, with the values used on the wire. The zero value is an active,
// empty account of company 42 with a complete registration.
type SeedAccount struct {
	// ID is the EAID; generated when empty.
	ID prepaid.AccountID
	// ExternalID is external_account_id, which is not the EAID; generated when empty.
	ExternalID string
	// CompanyID is the owner. Default company 42.
	CompanyID prepaid.CompanyID
	// Balance is a decimal number such as "100.00", booked as a load. Default: no money.
	Balance string
	// Key is client_account_key.
	Key string
	// Status is one of the eleven account statuses. Default "active".
	Status string
	// ProductType is reloadable, gift or loyalty. Default: the company's.
	ProductType string
	// AccountType is proxy (default) or ledger.
	AccountType string
	// PlasticDisabled makes is_plastic_enabled false.
	PlasticDisabled bool
	// PlasticExpiry defaults to four years from now.
	PlasticExpiry time.Time
	// AccountExpiry defaults to four years from now.
	AccountExpiry time.Time
	// DisplayName is optional.
	DisplayName string
	// NameOnCard is optional.
	NameOnCard string
	// Cardholder is the registration. Default: a complete registration of a fictional person, also for single required members.
	Cardholder *Cardholder
	// FreeText is the program's own data.
	FreeText FreeText
	// Portal is optional.
	Portal *PortalIdentifier
	// MDESConfigID is optional.
	MDESConfigID string
	// CorrespondingAccountID is the EAID of the card that this one replaces.
	CorrespondingAccountID prepaid.AccountID
	// CardholderType is 1 (default) or 2.
	CardholderType int
}

// AddAccount seeds an account and returns its EAID. An invalid company, status or balance, or an existing EAID, fails
// the test. The opening balance is a transaction like any other: the company's hooks get a message. Load sends no
// messages.
func (s *Server) AddAccount(seed SeedAccount) prepaid.AccountID {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	owner := l.Company(int64(cmp.Or(seed.CompanyID, DefaultCompany)))
	status := cmp.Or(seed.Status, "active")
	balance, err := wire.ParseMoney(cmp.Or(seed.Balance, "0"))
	switch {
	case owner == nil:
		s.fail("AddAccount: the company does not exist")
		return ""
	case !slices.Contains(ledger.AccountStatuses(), status):
		s.fail("AddAccount: Status must be one of %s", strings.Join(AccountStatuses(), ", "))
		return ""
	case err != nil:
		s.fail("AddAccount: Balance %v", err)
		return ""
	case l.Account(string(seed.ID)) != nil:
		s.fail("AddAccount: the EAID exists")
		return ""
	}
	given := seed.internal()
	given.Balance = balance
	return prepaid.AccountID(s.service.AddAccount(l, owner, given).ID)
}
