package prepaidtest

import (
	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/policy"
)

// Policy is the restriction policy of a company (2.10), with the values used on the wire.
type Policy struct {
	// DefaultAction is allow for an open loop (rules block), and deny for a closed loop (rules allow).
	DefaultAction string
	// Categories are the listed merchant categories, in the order added.
	Categories []PolicyCategory
	// Merchants are the listed card acceptors.
	Merchants []PolicyMerchant
	// Terminals are the listed terminals.
	Terminals []PolicyTerminal
}

// PolicyCategory is a merchant category that a policy lists.
type PolicyCategory struct {
	// Code has four digits.
	Code string
	// Description is from GET /policy/mccodes; empty for a code that is not listed there.
	Description string
}

// Policy returns a copy of a company's policy. It returns false for a company without a policy or an unknown id.
func (s *Server) Policy(companyID prepaid.CompanyID) (Policy, bool) {
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	held := s.service.Policies.Save(l, companyID)
	if held == nil {
		return Policy{}, false
	}
	p := Policy{DefaultAction: "allow", Merchants: held.Merchants, Terminals: held.Terminals}
	if held.Closed {
		p.DefaultAction = "deny"
	}
	for _, code := range held.Categories {
		p.Categories = append(p.Categories, PolicyCategory{policy.CategoryCode(code), policy.DescribeCategory(code)})
	}
	return p, true
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
