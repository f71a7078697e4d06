package policy

import (
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Bind reads a merchant rule.
func (r *MerchantRule) Bind(b *wire.Reader) {
	b.Integer("acquirer_id", &r.AcquirerID).Required()
	b.String("card_acceptor_id", &r.AcceptorID).Required()
	b.String("description", &r.Description).Required()
}

// Same reports whether two rules are of one merchant.
func (r MerchantRule) Same(o MerchantRule) bool {
	return r.AcquirerID == o.AcquirerID && r.AcceptorID == o.AcceptorID
}

// Bind reads a terminal rule.
func (r *TerminalRule) Bind(b *wire.Reader) {
	r.bindKey(b)
	b.String("card_acceptor_name_location", &r.NameLocation)
	b.String("description", &r.Description)
}

func (r *TerminalRule) bindKey(b *wire.Reader) {
	b.Integer("acquirer_id", &r.AcquirerID).Required()
	b.String("card_acceptor_id", &r.AcceptorID).Required()
	b.String("terminal_id", &r.TerminalID).Required()
}

// Same reports whether two rules are of one terminal.
func (r TerminalRule) Same(o TerminalRule) bool {
	return r.AcquirerID == o.AcquirerID && r.AcceptorID == o.AcceptorID && r.TerminalID == o.TerminalID
}

// AddCategories adds the codes that are not listed.
func (p *Policy) AddCategories(codes []int64) {
	for _, code := range codes {
		if !slices.Contains(p.Categories, code) {
			p.Categories = append(p.Categories, code)
		}
	}
}

// AddMerchants adds the rules that are not there.
func (s *Policies) AddMerchants(p *Policy, rules []MerchantRule) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.Merchants, r.Same) {
			s.LastRule++
			r.ID = s.LastRule
			p.Merchants = append(p.Merchants, r)
		}
	}
}

// AddTerminals adds the rules that are not there.
func (s *Policies) AddTerminals(p *Policy, rules []TerminalRule) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.Terminals, r.Same) {
			s.LastRule++
			r.ID = s.LastRule
			p.Terminals = append(p.Terminals, r)
		}
	}
}
