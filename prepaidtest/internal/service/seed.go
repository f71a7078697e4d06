package service

import (
	"cmp"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// AddAccount adds a checked account. Zero members get their defaults.
func (s *Service) AddAccount(l ledger.Locked, owner *ledger.Company, seed state.Account, balance wire.Money) *ledger.Account {
	seed.Status = cmp.Or(seed.Status, "active")
	if seed.Cardholder == nil {
		seed.Cardholder = defaultCardholder()
	}
	return l.Open(owner, seed, balance, "opening balance", s.Clock.Now())
}

// defaultCardholder returns a complete registration.
func defaultCardholder() *state.Cardholder {
	return &state.Cardholder{
		Title: "Ms", FirstName: "Ada", LastName: "Lovelace", Sex: "F", DateOfBirth: "1990-05-01T00:00:00Z",
		MobileNumber: "+61400000000", EmailAddress: "ada@example.com",
		PrimaryAddress: state.Address{Line1: "1 Example Street", City: "Sydney", State: "NSW", Country: "AU", Postcode: "2000"},
	}
}

// CompleteCardholder fills in the members that a registration always has in the service (2.3, 2.4).
func CompleteCardholder(p *state.Cardholder) {
	full := defaultCardholder()
	p.FirstName, p.LastName = cmp.Or(p.FirstName, full.FirstName), cmp.Or(p.LastName, full.LastName)
	p.DateOfBirth, p.PrimaryAddress.State = cmp.Or(p.DateOfBirth, full.DateOfBirth), cmp.Or(p.PrimaryAddress.State, full.PrimaryAddress.State)
	p.PrimaryAddress.Country = cmp.Or(p.PrimaryAddress.Country, full.PrimaryAddress.Country)
}
