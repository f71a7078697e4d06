package service

import (
	"cmp"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Seed is the state of an account to begin with. What is empty gets a default. SeedAccount of package prepaidtest is the same
// for partners.
type Seed struct {
	ID                     string
	ExternalID             string
	CompanyID              int64
	Key                    string
	Status                 string
	ProductType            string
	AccountType            string
	PlasticDisabled        bool
	PlasticExpiry          time.Time
	AccountExpiry          time.Time
	DisplayName            string
	NameOnCard             string
	Personal               *ledger.Personal
	FreeText               ledger.FreeText
	Portal                 *ledger.Portal
	MDESConfigID           string
	CorrespondingAccountID string
	CardholderType         int
}

// AddAccount puts a checked account in place.
func (s *Service) AddAccount(l ledger.Locked, owner *ledger.Company, seed Seed, balance wire.Money) string {
	now := s.Clock.Now()
	a := l.NewAccount(owner, now)
	a.ID, a.ExternalID = cmp.Or(seed.ID, a.ID), cmp.Or(seed.ExternalID, a.ExternalID)
	a.Status, a.Plastic, a.ClientAccountKey = cmp.Or(seed.Status, "active"), !seed.PlasticDisabled, seed.Key
	a.ProductType, a.AccountType = cmp.Or(seed.ProductType, a.ProductType), cmp.Or(seed.AccountType, a.AccountType)
	a.PlasticExpiry = ledger.NewExpiry(cmp.Or(seed.PlasticExpiry, a.PlasticExpiry.Time))
	a.AccountExpiry = ledger.NewExpiry(cmp.Or(seed.AccountExpiry, a.AccountExpiry.Time))
	a.DisplayName, a.NameOnCard, a.FreeText = seed.DisplayName, seed.NameOnCard, seed.FreeText
	if seed.Portal != nil {
		a.Portal = new(*seed.Portal)
	}
	a.MDESConfigID, a.Corresponding = seed.MDESConfigID, seed.CorrespondingAccountID
	a.HolderType = int64(cmp.Or(seed.CardholderType, 1))
	a.Registration = ledger.NewRegistration(somebody())
	if seed.Personal != nil {
		a.Registration = ledger.NewRegistration(*seed.Personal)
	}
	l.Add(a)
	if balance.Sign() != 0 {
		l.Post(a, ledger.Entry{Code: ledger.CodeLoad, Amount: balance, Reference: "opening balance"}, now)
	}
	return a.ID
}

// somebody is a complete registration.
func somebody() ledger.Personal {
	return ledger.Personal{
		Title: "Ms", FirstName: "Ada", LastName: "Lovelace", Sex: "F", DateOfBirth: "1990-05-01T00:00:00Z",
		MobileNumber: "+61400000000", EmailAddress: "ada@example.com",
		PrimaryAddress: ledger.Address{Line1: "1 Example Street", City: "Sydney", State: "NSW", Country: "AU", Postcode: "2000"},
	}
}
