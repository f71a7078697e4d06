package policy

import (
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// SameMerchant returns a function that reports whether another rule is for the same merchant.
func SameMerchant(r state.PolicyMerchant) func(state.PolicyMerchant) bool {
	return func(o state.PolicyMerchant) bool {
		return r.AcquirerID == o.AcquirerID && r.CardAcceptorID == o.CardAcceptorID
	}
}

// SameTerminal returns a function that reports whether another rule is for the same terminal.
func SameTerminal(r state.PolicyTerminal) func(state.PolicyTerminal) bool {
	return func(o state.PolicyTerminal) bool {
		return r.AcquirerID == o.AcquirerID && r.CardAcceptorID == o.CardAcceptorID && r.TerminalID == o.TerminalID
	}
}

// AddCategories adds the codes that are not listed yet.
func (p *Policy) AddCategories(codes []int64) {
	for _, code := range codes {
		if !slices.Contains(p.Categories, code) {
			p.Categories = append(p.Categories, code)
		}
	}
}

// AddMerchants adds the rules that p lacks.
func (s *Policies) AddMerchants(p *Policy, rules []state.PolicyMerchant) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.Merchants, SameMerchant(r)) {
			s.LastRule++
			r.ID = s.LastRule
			p.Merchants = append(p.Merchants, r)
		}
	}
}

// AddTerminals adds the rules that p lacks.
func (s *Policies) AddTerminals(p *Policy, rules []state.PolicyTerminal) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.Terminals, SameTerminal(r)) {
			s.LastRule++
			r.ID = s.LastRule
			p.Terminals = append(p.Terminals, r)
		}
	}
}
