package prepaidtest

import (
	"net/http"
	"slices"
)

// changePolicy reads the members all three changes have, checks the company and applies the change. Adding what
// is listed and removing what is not have no effect.
func (s *Server) changePolicy(c *call, bind func(*binder), apply func(*policy)) reply {
	var reason string
	var approval bool
	if refusal := c.bindBody(func(b *binder) {
		b.string("reason", &reason)
		reserved := b.boolean("require_approval", &approval)
		reserved.limit(!approval, "is reserved and must be false")
		bind(b)
	}); refusal != nil {
		return *refusal
	}
	id, ok := companyID(c.params[0])
	if !ok {
		return c.unusable("invalid fields: id must be a number")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := s.companies[id]
	if owner != nil && !s.permitted(id) {
		return c.refuse(http.StatusForbidden, "forbidden", "the caller has no permission on the company")
	}
	if owner == nil || owner.policy == nil {
		return c.noPolicy()
	}
	apply(owner.policy)
	return done(http.StatusOK)
}

// changeCategories answers POST /policy/{id}/categories. Every code from 0 to 9999 can be listed, whether or not
// GET /policy/mccodes describes it.
func (s *Server) changeCategories(c *call) reply {
	var add, remove []int64
	return s.changePolicy(c, func(b *binder) {
		within := func(codes []int64) bool {
			return !slices.ContainsFunc(codes, func(code int64) bool { return code < 0 || code > 9999 })
		}
		added := b.integers("add", &add)
		added.limit(within(add), "must have codes of four digits")
		removed := b.integers("remove", &remove)
		removed.limit(within(remove), "must have codes of four digits")
	}, func(p *policy) {
		for _, code := range add {
			if !slices.Contains(p.categories, code) {
				p.categories = append(p.categories, code)
			}
		}
		p.categories = without(p.categories, func(code int64) bool { return slices.Contains(remove, code) })
	})
}

// changeMerchants answers POST /policy/{id}/merchants.
func (s *Server) changeMerchants(c *call) reply {
	var add, remove []merchantRule
	return s.changePolicy(c, func(b *binder) {
		b.objects("add", func(b *binder) {
			var r merchantRule
			b.integer("acquirer_id", &r.AcquirerID).required()
			b.string("card_acceptor_id", &r.AcceptorID).required()
			b.string("description", &r.Description).required()
			add = append(add, r)
		})
		b.objects("remove", func(b *binder) {
			var r merchantRule
			b.integer("acquirer_id", &r.AcquirerID).required()
			b.string("card_acceptor_id", &r.AcceptorID).required()
			remove = append(remove, r)
		})
	}, func(p *policy) {
		is := func(r merchantRule) func(merchantRule) bool {
			return func(o merchantRule) bool { return r.AcquirerID == o.AcquirerID && r.AcceptorID == o.AcceptorID }
		}
		for _, r := range add {
			if !slices.ContainsFunc(p.merchants, is(r)) {
				s.policyIDs++
				r.ID = s.policyIDs
				p.merchants = append(p.merchants, r)
			}
		}
		p.merchants = without(p.merchants, func(r merchantRule) bool { return slices.ContainsFunc(remove, is(r)) })
	})
}

// changeTerminals answers POST /policy/{id}/terminals. Removal goes by the three ids of the request shape, as
// rule 3 of 4.3 has it.
func (s *Server) changeTerminals(c *call) reply {
	var add, remove []terminalRule
	key := func(b *binder, r *terminalRule) {
		b.integer("acquirer_id", &r.AcquirerID).required()
		b.string("card_acceptor_id", &r.AcceptorID).required()
		b.string("terminal_id", &r.TerminalID).required()
	}
	return s.changePolicy(c, func(b *binder) {
		b.objects("add", func(b *binder) {
			var r terminalRule
			key(b, &r)
			b.string("card_acceptor_name_location", &r.NameLocation)
			b.string("description", &r.Description)
			add = append(add, r)
		})
		b.objects("remove", func(b *binder) {
			var r terminalRule
			key(b, &r)
			remove = append(remove, r)
		})
	}, func(p *policy) {
		is := func(r terminalRule) func(terminalRule) bool {
			return func(o terminalRule) bool {
				return r.AcquirerID == o.AcquirerID && r.AcceptorID == o.AcceptorID && r.TerminalID == o.TerminalID
			}
		}
		for _, r := range add {
			if !slices.ContainsFunc(p.terminals, is(r)) {
				s.policyIDs++
				r.ID = s.policyIDs
				p.terminals = append(p.terminals, r)
			}
		}
		p.terminals = without(p.terminals, func(r terminalRule) bool { return slices.ContainsFunc(remove, is(r)) })
	})
}

// without copies, so that an answer being written keeps its list.
func without[T any](list []T, gone func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), gone)
}
