package policy

import (
	"net/http"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// changePolicy handles each of the three changes: it reads the members, checks the company and applies the change.
// Adding a listed item or removing an unlisted item has no effect.
func (s *Policies) changePolicy(c *exchange.Call, bind func(*wire.Reader), apply func(*Policy)) exchange.Response {
	var reason string
	var approval bool
	if refusal := c.BindBody(func(b *wire.Reader) {
		b.String("reason", &reason)
		reserved := b.Boolean("require_approval", &approval)
		reserved.Limit(!approval, "is reserved and must be false")
		bind(b)
	}); refusal != nil {
		return *refusal
	}
	id, ok := ledger.CompanyID(c.Params[0])
	if !ok {
		return c.Unusable("invalid fields: id must be a number")
	}
	l := s.ledger.Lock()
	defer l.Unlock()
	owner := l.Company(id)
	if owner != nil && !l.Permitted(id) {
		return c.Refuse(http.StatusForbidden, "forbidden", "the caller has no permission on the company")
	}
	if owner == nil || s.Of(l.View, id) == nil {
		return noPolicy(c)
	}
	apply(s.Of(l.View, id))
	return exchange.Done(http.StatusOK)
}

// ChangeCategories handles POST /policy/{id}/categories. Every code from 0 to 9999 can be listed, whether or not
// GET /policy/mccodes describes it.
func (s *Policies) ChangeCategories(c *exchange.Call) exchange.Response {
	var add, remove []int64
	return s.changePolicy(c, func(b *wire.Reader) {
		b.Integers("add", &add).Between(0, 9999, "must have codes of four digits")
		b.Integers("remove", &remove).Between(0, 9999, "must have codes of four digits")
	}, func(p *Policy) {
		p.AddCategories(add)
		p.Categories = slices.DeleteFunc(slices.Clone(p.Categories), func(code int64) bool { return slices.Contains(remove, code) })
	})
}

// ChangeMerchants handles POST /policy/{id}/merchants.
func (s *Policies) ChangeMerchants(c *exchange.Call) exchange.Response {
	var add, remove []MerchantRule
	return s.changePolicy(c, func(b *wire.Reader) {
		b.Objects("add", func(b *wire.Reader) {
			var r MerchantRule
			b.Struct(&r)
			add = append(add, r)
		})
		b.Objects("remove", func(b *wire.Reader) {
			var r MerchantRule
			b.Some(&r, "acquirer_id", "card_acceptor_id")
			remove = append(remove, r)
		})
	}, func(p *Policy) {
		s.AddMerchants(p, add)
		p.Merchants = slices.DeleteFunc(slices.Clone(p.Merchants), func(r MerchantRule) bool { return slices.ContainsFunc(remove, r.Same) })
	})
}

// ChangeTerminals handles POST /policy/{id}/terminals. The three ids of the request select the rule to
// remove (rule 3 of 4.3).
func (s *Policies) ChangeTerminals(c *exchange.Call) exchange.Response {
	var add, remove []TerminalRule
	return s.changePolicy(c, func(b *wire.Reader) {
		b.Objects("add", func(b *wire.Reader) {
			var r TerminalRule
			b.Struct(&r)
			add = append(add, r)
		})
		b.Objects("remove", func(b *wire.Reader) {
			var r TerminalRule
			b.Some(&r, "acquirer_id", "card_acceptor_id", "terminal_id")
			remove = append(remove, r)
		})
	}, func(p *Policy) {
		s.AddTerminals(p, add)
		p.Terminals = slices.DeleteFunc(slices.Clone(p.Terminals), func(r TerminalRule) bool { return slices.ContainsFunc(remove, r.Same) })
	})
}
