package policy

import "slices"

// Same reports whether two rules are for one merchant.
func (r MerchantRule) Same(o MerchantRule) bool {
	return r.AcquirerID == o.AcquirerID && r.CardAcceptorID == o.CardAcceptorID
}

// Same reports whether two rules are for one terminal.
func (r TerminalRule) Same(o TerminalRule) bool {
	return r.AcquirerID == o.AcquirerID && r.CardAcceptorID == o.CardAcceptorID && r.TerminalID == o.TerminalID
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
func (s *Policies) AddMerchants(p *Policy, rules []MerchantRule) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.Merchants, r.Same) {
			s.LastRule++
			r.ID = s.LastRule
			p.Merchants = append(p.Merchants, r)
		}
	}
}

// AddTerminals adds the rules that p lacks.
func (s *Policies) AddTerminals(p *Policy, rules []TerminalRule) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.Terminals, r.Same) {
			s.LastRule++
			r.ID = s.LastRule
			p.Terminals = append(p.Terminals, r)
		}
	}
}
