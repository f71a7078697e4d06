package service

import (
	"cmp"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// AddAccount adds a checked account. Zero members get their defaults, except the cardholder.
func (s *Service) AddAccount(l ledger.Locked, owner *ledger.Company, seed ledger.AccountData) *ledger.Account {
	seed.Status = cmp.Or(seed.Status, "active")
	return l.Open(owner, seed, "opening balance", s.Clock.Now())
}

// DefaultCardholder returns a complete registration.
func DefaultCardholder() ledger.Personal {
	return ledger.Personal{
		Title: "Ms", FirstName: "Ada", LastName: "Lovelace", Sex: "F", DateOfBirth: "1990-05-01T00:00:00Z",
		MobileNumber: "+61400000000", EmailAddress: "ada@example.com",
		PrimaryAddress: ledger.Address{Line1: "1 Example Street", City: "Sydney", State: "NSW", Country: "AU", Postcode: "2000"},
	}
}
