package prepaidtest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/service"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// AddAccount seeds an account and returns its EAID. An invalid company, status or balance, or an existing EAID, fails
// the test. The opening balance is a transaction like any other: the company's hooks get a message. Load sends no
// messages.
func (s *Server) AddAccount(seed SeedAccount) prepaid.AccountID {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	owner := l.Company(cmp.Or(seed.CompanyID, DefaultCompany))
	status := cmp.Or(seed.Status, "active")
	balance, err := wire.ParseMoney(cmp.Or(seed.Balance, "0"))
	switch {
	case owner == nil:
		s.fail("AddAccount: the company does not exist")
		return ""
	case !slices.Contains(AccountStatuses(), status):
		s.fail("AddAccount: Status must be one of %s", strings.Join(AccountStatuses(), ", "))
		return ""
	case err != nil:
		s.fail("AddAccount: Balance %v", err)
		return ""
	case seed.CardNumber != "" && len(seed.CardNumber) < 4:
		s.fail("AddAccount: CardNumber must have at least 4 characters")
		return ""
	case l.Account(string(seed.ID)) != nil:
		s.fail("AddAccount: the EAID exists")
		return ""
	}
	seed = seed.Clone()
	if seed.Cardholder != nil {
		service.CompleteCardholder(seed.Cardholder)
	}
	return s.service.AddAccount(l, owner, seed, balance).ID
}
