package policy

import (
	"net/http"
	"slices"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// change is the body of a change with rules of one kind.
type change[Rule any] struct {
	Add    []Rule `json:"add"`
	Remove []Rule `json:"remove"`
}

// changePolicy handles each of the three changes: it checks the company and applies the change. Adding a listed item or removing an
// unlisted item has no effect.
func changePolicy[Rule any](s *Policies, c *exchange.Call, apply func(*Policy, change[Rule])) exchange.Response {
	in, refusal := exchange.Body[change[Rule]](c)
	if refusal != nil {
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
	apply(s.Of(l.View, id), in)
	return exchange.Done(http.StatusOK)
}

// ChangeCategories handles POST /policy/{id}/categories. Every code from 0 to 9999 can be listed, whether or not
// GET /policy/mccodes describes it.
func (s *Policies) ChangeCategories(c *exchange.Call) exchange.Response {
	return changePolicy(s, c, func(p *Policy, in change[int64]) {
		p.AddCategories(in.Add)
		p.Categories = slices.DeleteFunc(slices.Clone(p.Categories), func(code int64) bool { return slices.Contains(in.Remove, code) })
	})
}

// ChangeMerchants handles POST /policy/{id}/merchants.
func (s *Policies) ChangeMerchants(c *exchange.Call) exchange.Response {
	return changePolicy(s, c, func(p *Policy, in change[state.PolicyMerchant]) {
		s.AddMerchants(p, in.Add)
		p.Merchants = slices.DeleteFunc(slices.Clone(p.Merchants), func(r state.PolicyMerchant) bool { return slices.ContainsFunc(in.Remove, SameMerchant(r)) })
	})
}

// ChangeTerminals handles POST /policy/{id}/terminals. The three ids of the request select the rule to
// remove (rule 3 of 4.3).
func (s *Policies) ChangeTerminals(c *exchange.Call) exchange.Response {
	return changePolicy(s, c, func(p *Policy, in change[state.PolicyTerminal]) {
		s.AddTerminals(p, in.Add)
		p.Terminals = slices.DeleteFunc(slices.Clone(p.Terminals), func(r state.PolicyTerminal) bool { return slices.ContainsFunc(in.Remove, SameTerminal(r)) })
	})
}
