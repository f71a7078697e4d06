package prepaidtest

import "slices"

func (r *merchantRule) bind(b *binder) {
	b.integer("acquirer_id", &r.AcquirerID).required()
	b.string("card_acceptor_id", &r.AcceptorID).required()
	b.string("description", &r.Description).required()
}

// same tells whether two rules are of one merchant.
func (r merchantRule) same(o merchantRule) bool {
	return r.AcquirerID == o.AcquirerID && r.AcceptorID == o.AcceptorID
}

func (r *terminalRule) bind(b *binder) {
	r.bindKey(b)
	b.string("card_acceptor_name_location", &r.NameLocation)
	b.string("description", &r.Description)
}

func (r *terminalRule) bindKey(b *binder) {
	b.integer("acquirer_id", &r.AcquirerID).required()
	b.string("card_acceptor_id", &r.AcceptorID).required()
	b.string("terminal_id", &r.TerminalID).required()
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
