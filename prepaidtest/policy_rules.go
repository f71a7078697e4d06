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
		if !slices.Contains(p.categories, code) {
			p.categories = append(p.categories, code)
		}
	}
}

// addMerchants needs s.mu.
func (s *Server) addMerchants(p *policy, rules []merchantRule) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.merchants, r.same) {
			s.policyIDs++
			r.ID = s.policyIDs
			p.merchants = append(p.merchants, r)
		}
	}
}

// addTerminals needs s.mu.
func (s *Server) addTerminals(p *policy, rules []terminalRule) {
	for _, r := range rules {
		if !slices.ContainsFunc(p.terminals, r.same) {
			s.policyIDs++
			r.ID = s.policyIDs
			p.terminals = append(p.terminals, r)
		}
	}
}
