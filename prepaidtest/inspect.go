package prepaidtest

import (
	"slices"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// known finds an account for an inspection; an unknown EAID fails the test.
func (s *Server) known(l ledger.View, id prepaid.AccountID) *ledger.Account {
	a := l.Account(string(id))
	if a == nil {
		s.fail("the account does not exist")
	}
	return a
}

// Balance returns the balance of an account with at least two decimals, for example "74.50".
func (s *Server) Balance(id prepaid.AccountID) string {
	s.service.Clock.Settle()
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	if a := s.known(l, id); a != nil {
		return a.Balance.String()
	}
	return ""
}

// Status returns the status of an account.
func (s *Server) Status(id prepaid.AccountID) string {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	if a := s.known(l, id); a != nil {
		return a.Status
	}
	return ""
}

// SetStatus sets the status of an account; an unknown status fails the test.
func (s *Server) SetStatus(id prepaid.AccountID, status string) {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	if !slices.Contains(AccountStatuses(), status) {
		s.fail("SetStatus: the status must be one of %s", strings.Join(AccountStatuses(), ", "))
		return
	}
	if a := s.known(l.View, id); a != nil {
		a.Status = status
	}
}

// Adjust adds an amount, which may be negative, to an account, whatever its balance and status.
func (s *Server) Adjust(id prepaid.AccountID, amount string) {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	value, err := wire.ParseMoney(amount)
	if err != nil {
		s.fail("Adjust: amount %v", err)
		return
	}
	if a := s.known(l.View, id); a == nil {
		return
	} else if _, ok := l.Post(a, ledger.Entry{Type: ledger.CodeAdjustment, Amount: value, Reference: "adjustment"}, s.service.Clock.Now()); !ok {
		s.fail("Adjust: the balance would be out of range")
	}
}

// ActivateThroughPortal acts like the card activation portal (3.1): the account becomes active. If the account
// replaces an active account with a zero balance, that account is closed. The test fails unless the status of the
// card is pre_active, inactive, active or InitialStatus.
func (s *Server) ActivateThroughPortal(id prepaid.AccountID) {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	a := s.known(l.View, id)
	if a == nil {
		return
	}
	if !s.activatable(a) {
		s.fail("ActivateThroughPortal: a card in this status cannot be activated")
		return
	}
	a.Status = "active"
	if old := l.Account(string(a.CorrespondingAccountID)); old != nil && old.Status == "active" && old.Balance.Sign() == 0 {
		old.Status = "closed"
	}
}

// activatable reports whether the holder can activate a card.
func (s *Server) activatable(a *ledger.Account) bool {
	return slices.Contains([]string{"active", "pre_active", "inactive", s.settings.InitialStatus}, a.Status)
}

// AccountIDs returns the EAIDs of all accounts, oldest first.
func (s *Server) AccountIDs() []prepaid.AccountID {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	return each(l.Accounts(), accountID)
}

func accountID(a *ledger.Account) prepaid.AccountID { return a.ID }

// AddWalletToken adds a wallet token to an account. Empty required fields get plausible values.
func (s *Server) AddWalletToken(id prepaid.AccountID, token WalletToken) {
	l := s.service.Ledger.Lock()
	defer l.Unlock()
	if a := s.known(l.View, id); a != nil {
		s.service.Accounts.AddWalletToken(l, a, token.Clone())
	}
}

// CompanyAccountIDs returns the EAIDs of a company's accounts, oldest first. For an unknown id it returns none.
func (s *Server) CompanyAccountIDs(companyID prepaid.CompanyID) []prepaid.AccountID {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	owner := l.Company(companyID)
	if owner == nil {
		return nil
	}
	return each(owner.Accounts, accountID)
}

// RevokeTokens makes every access token issued so far invalid, as if all had expired.
func (s *Server) RevokeTokens() { s.service.Tokens.Revoke() }

// each converts a list. The result is never nil.
func each[To, From any](list []From, convert func(From) To) []To {
	all := make([]To, len(list))
	for i, one := range list {
		all[i] = convert(one)
	}
	return all
}
