package prepaidtest

import (
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func (r *merchantRule) bind(b *wire.Reader) {
	b.Integer("acquirer_id", &r.AcquirerID).Required()
	b.String("card_acceptor_id", &r.AcceptorID).Required()
	b.String("description", &r.Description).Required()
}

// same tells whether two rules are of one merchant.
func (r merchantRule) same(o merchantRule) bool {
	return r.AcquirerID == o.AcquirerID && r.AcceptorID == o.AcceptorID
}

func (r *terminalRule) bind(b *wire.Reader) {
	r.bindKey(b)
	b.String("card_acceptor_name_location", &r.NameLocation)
	b.String("description", &r.Description)
}

func (r *terminalRule) bindKey(b *wire.Reader) {
	b.Integer("acquirer_id", &r.AcquirerID).Required()
	b.String("card_acceptor_id", &r.AcceptorID).Required()
	b.String("terminal_id", &r.TerminalID).Required()
}

// same tells whether two rules are of one terminal.
func (r terminalRule) same(o terminalRule) bool {
	return r.AcquirerID == o.AcquirerID && r.AcceptorID == o.AcceptorID && r.TerminalID == o.TerminalID
}

func (p *policy) addCategories(codes []int64) {
	for _, code := range codes {
		if !slices.Contains(p.Categories, code) {
			p.Categories = append(p.Categories, code)
		}
	}
}

// addMerchants adds the rules that are not there.
func (s *policies) addMerchants(p *policy, rules []merchantRule) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.Merchants, r.same) {
			s.LastRule++
			r.ID = s.LastRule
			p.Merchants = append(p.Merchants, r)
		}
	}
}

// addTerminals adds the rules that are not there.
func (s *policies) addTerminals(p *policy, rules []terminalRule) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.Terminals, r.same) {
			s.LastRule++
			r.ID = s.LastRule
			p.Terminals = append(p.Terminals, r)
		}
	}
}
