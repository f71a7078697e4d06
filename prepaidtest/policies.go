package prepaidtest

import (
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// policies holds the policies of all companies. The ledger's lock guards it.
type policies struct {
	// LastRule is the number of the newest rule.
	LastRule int64

	ledger *ledger.Ledger
	rules  map[int64]*policy // by company; none for a company without a policy
}

func newPolicies(ledger *ledger.Ledger) *policies {
	return &policies{ledger: ledger, rules: make(map[int64]*policy)}
}

// The kinds of policy that a company can have.
const (
	OpenPolicy    = ""
	ClosedPolicy  = "closed"
	WithoutPolicy = "none"
)

// configure gives a company the kind of policy that its data name. Rules that exist stay.
func (s *policies) configure(_ ledger.Locked, owner *ledger.Company) {
	switch {
	case owner.Loop == WithoutPolicy:
		delete(s.rules, owner.ID)
		return
	case s.rules[owner.ID] == nil:
		s.rules[owner.ID] = new(policy)
	}
	s.rules[owner.ID].Closed = owner.Loop == ClosedPolicy
}

// of returns the policy of a company; nil without one.
func (s *policies) of(_ ledger.View, company int64) *policy { return s.rules[company] }

// approve decides a simulated transaction. A company without a policy approves everything.
func (s *policies) approve(v ledger.View, company int64, at ledger.Merchant) bool {
	p := s.of(v, company)
	return p == nil || p.approves(at)
}

// Save returns a copy of a company's policy; nil without one.
func (s *policies) Save(v ledger.View, company int64) *policy {
	p := s.of(v, company)
	if p == nil {
		return nil
	}
	return &policy{p.Closed, slices.Clone(p.Categories), slices.Clone(p.Merchants), slices.Clone(p.Terminals)} // lists may grow in place
}

// Restore gives a company the policy that was saved; nil for none.
func (s *policies) Restore(_ ledger.Locked, company int64, p *policy) {
	if p != nil {
		s.rules[company] = p
	}
}
