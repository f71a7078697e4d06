package policy

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
	"github.com/cardprograms/prepaid/prepaidtest/state"
)

// Policy is a company's restriction policy. An open-loop policy allows unlisted items. A closed-loop policy allows
// listed items.
type Policy struct {
	Closed     bool                   `json:"closed"`
	Categories []int64                `json:"categories,omitzero"`
	Merchants  []state.PolicyMerchant `json:"merchants,omitzero"`
	Terminals  []state.PolicyTerminal `json:"terminals,omitzero"`
}

type categoryRule struct {
	Code string `json:"merchant_category_code"`
}

// policyBody has the lists that an operation shows, even if they are empty.
type policyBody struct {
	DefaultAction string                 `json:"default_action"`
	Description   string                 `json:"description"`
	Terminals     []state.PolicyTerminal `json:"terminals,omitzero"`
	Categories    []categoryRule         `json:"categories,omitzero"`
	Merchants     []state.PolicyMerchant `json:"merchants,omitzero"`
}

func (p *Policy) head() policyBody {
	if p.Closed {
		return policyBody{DefaultAction: "deny", Description: "Closed loop: what is listed is allowed"}
	}
	return policyBody{DefaultAction: "allow", Description: "Open loop: what is listed is blocked"}
}

func (p *Policy) categoryRules() []categoryRule {
	rules := make([]categoryRule, len(p.Categories))
	for i, code := range p.Categories {
		rules[i] = categoryRule{CategoryCode(code)}
	}
	return rules
}

// CategoryCode is a code with its leading zeros.
func CategoryCode(code int64) string { return fmt.Sprintf("%04d", code) }

// approves reports whether p approves a simulated transaction.
func (p *Policy) approves(m ledger.Merchant) bool {
	acquirer, err := strconv.ParseInt(m.AcquirerID, 10, 64)
	same := func(id int64, acceptor string) bool {
		return err == nil && id == acquirer && acceptor == m.CardAcceptorID
	}
	listed := slices.ContainsFunc(p.Categories, func(code int64) bool { return CategoryCode(code) == m.MerchantCategoryCode }) ||
		slices.ContainsFunc(p.Merchants, func(r state.PolicyMerchant) bool { return same(r.AcquirerID, r.CardAcceptorID) }) ||
		slices.ContainsFunc(p.Terminals, func(r state.PolicyTerminal) bool {
			return same(r.AcquirerID, r.CardAcceptorID) && r.TerminalID == m.TerminalID
		})
	return listed == p.Closed
}

// Whole handles GET /policy/{id}/policy.
func (s *Policies) Whole(c *exchange.Call) exchange.Response {
	return s.withPolicy(c, func(p *Policy) any {
		body := p.head()
		body.Terminals, body.Categories, body.Merchants = shown(p.Terminals), p.categoryRules(), shown(p.Merchants)
		return body
	})
}

// Categories handles GET /policy/{id}/categories.
func (s *Policies) Categories(c *exchange.Call) exchange.Response {
	return s.withPolicy(c, func(p *Policy) any {
		body := p.head()
		body.Categories = p.categoryRules()
		return body
	})
}

// Merchants handles GET /policy/{id}/merchants.
func (s *Policies) Merchants(c *exchange.Call) exchange.Response {
	return s.withPolicy(c, func(p *Policy) any {
		body := p.head()
		body.Merchants = shown(p.Merchants)
		return body
	})
}

// Terminals handles GET /policy/{id}/terminals.
func (s *Policies) Terminals(c *exchange.Call) exchange.Response {
	return s.withPolicy(c, func(p *Policy) any {
		body := p.head()
		body.Terminals = shown(p.Terminals)
		return body
	})
}

// shown returns an empty list for nil, so that omitzero keeps the member.
func shown[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Restrictions handles the deprecated view of a policy. It shows categories and terminals, and no merchants.
func (s *Policies) Restrictions(c *exchange.Call) exchange.Response {
	type terminal struct {
		RuleType string `json:"rule_type"`
		Acquirer string `json:"acquirer"`
		Acceptor string `json:"acceptor"`
		Terminal string `json:"terminal"`
	}
	type category struct {
		RuleType string `json:"rule_type"`
		Code     string `json:"category_code"`
	}
	return s.withPolicy(c, func(p *Policy) any {
		body := struct {
			Type       string     `json:"type"`
			Terminals  []terminal `json:"terminal_rules"`
			Categories []category `json:"category_rules"`
		}{Type: "open", Terminals: []terminal{}, Categories: []category{}}
		rule := "must_block"
		if p.Closed {
			body.Type, rule = "close", "must_allow"
		}
		for _, r := range p.Terminals {
			body.Terminals = append(body.Terminals, terminal{rule, strconv.FormatInt(r.AcquirerID, 10), r.CardAcceptorID, r.TerminalID})
		}
		for _, code := range p.Categories {
			body.Categories = append(body.Categories, category{rule, CategoryCode(code)})
		}
		return body
	})
}

func (s *Policies) withPolicy(c *exchange.Call, read func(*Policy) any) exchange.Response {
	id, ok := ledger.CompanyID(c.Params[0])
	if !ok {
		return c.Unusable("invalid fields: id must be a number")
	}
	l := s.ledger.RLock()
	defer l.RUnlock()
	p := s.Of(l, id)
	if p == nil {
		return noPolicy(c)
	}
	return c.JSON(http.StatusOK, read(p))
}

func noPolicy(c *exchange.Call) exchange.Response {
	return c.Refuse(http.StatusNotFound, "policy_not_found", "the company has no configured policy")
}
