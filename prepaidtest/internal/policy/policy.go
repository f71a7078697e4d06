// Package policy holds, shows and changes the companies' restriction policies, and applies them to simulated transactions.
//
// Open-loop policies allow unlisted items. Closed-loop policies allow listed items. Policies keeps the policies under the lock
// of the ledger.
package policy

import (
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// Policies holds the policies of all companies. The ledger's lock guards it.
type Policies struct {
	// LastRule is the number of the newest rule.
	LastRule int64

	ledger *ledger.Ledger
	rules  map[state.CompanyID]*Policy // by company; only companies with a policy
}

// New makes a store without policies.
func New(books *ledger.Ledger) *Policies {
	return &Policies{ledger: books, rules: make(map[state.CompanyID]*Policy)}
}

// Configure gives a company the kind of policy in its data, and keeps existing rules.
func (s *Policies) Configure(_ ledger.Locked, owner *ledger.Company) {
	switch {
	case owner.Loop == state.NoPolicy:
		delete(s.rules, owner.ID)
		return
	case s.rules[owner.ID] == nil:
		s.rules[owner.ID] = new(Policy)
	}
	s.rules[owner.ID].Closed = owner.Loop == state.ClosedLoop
}

// Of returns the policy of a company; nil without one.
func (s *Policies) Of(_ ledger.View, company state.CompanyID) *Policy { return s.rules[company] }

// Approve reports whether a company's policy approves a simulated transaction. Without a policy, Approve approves everything.
func (s *Policies) Approve(v ledger.View, company state.CompanyID, at ledger.Merchant) bool {
	p := s.Of(v, company)
	return p == nil || p.approves(at)
}

// Save returns a copy of a company's policy; nil without one.
func (s *Policies) Save(v ledger.View, company state.CompanyID) *Policy {
	p := s.Of(v, company)
	if p == nil {
		return nil
	}
	return &Policy{p.Closed, slices.Clone(p.Categories), slices.Clone(p.Merchants), slices.Clone(p.Terminals)} // lists may grow in place
}

// Restore gives a company its saved policy; nil for no policy.
func (s *Policies) Restore(_ ledger.Locked, company state.CompanyID, p *Policy) {
	if p != nil {
		s.rules[company] = p
	}
}
