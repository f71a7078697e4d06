package main

import (
	"cmp"
	"maps"

	"github.com/cardprograms/prepaid"
)

// state is what a policy does: its rules by key, without the IDs that the service assigns. In a wanted state a nil list
// is left unchanged.
type state struct {
	action     prepaid.PolicyAction
	categories map[prepaid.MCC]prepaid.CategoryRule
	merchants  map[prepaid.MerchantKey]prepaid.MerchantRule
	terminals  map[prepaid.TerminalKey]prepaid.TerminalRule
}

// stateOf converts a policy of the service. None of its lists is nil.
func stateOf(p *prepaid.Policy) state {
	return state{
		action:     p.DefaultAction,
		categories: byKey(p.Categories, categoryKey),
		merchants: byKey(p.Merchants, func(r *prepaid.MerchantRule) prepaid.MerchantKey {
			r.ID = 0
			return merchantKey(r)
		}),
		terminals: byKey(p.Terminals, func(r *prepaid.TerminalRule) prepaid.TerminalKey {
			r.ID = 0
			return terminalKey(r)
		}),
	}
}

// within removes the lists that the wanted state leaves unchanged: what others do there does not matter.
func (s state) within(wanted state) state {
	if wanted.categories == nil {
		s.categories = nil
	}
	if wanted.merchants == nil {
		s.merchants = nil
	}
	if wanted.terminals == nil {
		s.terminals = nil
	}
	return s
}

// among returns the rules of s that current has, too, with whatever text.
func (s state) among(current state) state {
	s.categories = shared(s.categories, current.categories)
	s.merchants = shared(s.merchants, current.merchants)
	s.terminals = shared(s.terminals, current.terminals)
	return s
}

func shared[K comparable, R any](list, other map[K]R) map[K]R {
	list = maps.Clone(list) // nil stays nil
	maps.DeleteFunc(list, func(key K, _ R) bool {
		_, listed := other[key]
		return !listed
	})
	return list
}

func (s state) equal(o state) bool {
	return s.action == o.action && maps.Equal(s.categories, o.categories) && maps.Equal(s.merchants, o.merchants) &&
		maps.Equal(s.terminals, o.terminals)
}

func byKey[K comparable, R any](rules []R, key func(*R) K) map[K]R {
	list := make(map[K]R, len(rules))
	for _, rule := range rules { // rule is a copy: key may change it
		k := key(&rule)
		list[k] = rule
	}
	return list
}

func categoryKey(r *prepaid.CategoryRule) prepaid.MCC { return r.MerchantCategoryCode }

func merchantKey(r *prepaid.MerchantRule) prepaid.MerchantKey {
	return prepaid.MerchantKey{AcquirerID: r.AcquirerID, CardAcceptorID: r.CardAcceptorID}
}

func terminalKey(r *prepaid.TerminalRule) prepaid.TerminalKey {
	return prepaid.TerminalKey{AcquirerID: r.AcquirerID, CardAcceptorID: r.CardAcceptorID, TerminalID: r.TerminalID}
}

func compareMerchants(a, b prepaid.MerchantKey) int {
	return cmp.Or(cmp.Compare(a.AcquirerID, b.AcquirerID), cmp.Compare(a.CardAcceptorID, b.CardAcceptorID))
}

func compareTerminals(a, b prepaid.TerminalKey) int {
	return cmp.Or(cmp.Compare(a.AcquirerID, b.AcquirerID), cmp.Compare(a.CardAcceptorID, b.CardAcceptorID),
		cmp.Compare(a.TerminalID, b.TerminalID))
}

// delta is the difference of one list, each part in the order of the keys.
type delta[K, R any] struct {
	unmanaged bool // the wanted state leaves the list unchanged
	add       []R
	remove    []K
	replace   []replacement[K, R] // same key, another text
	unchanged int
}

type replacement[K, R any] struct {
	key      K
	old, new R
}

// listDelta returns the smallest difference: a rule is touched only if it is in just one of the lists, or differs.
func listDelta[K, R comparable](current, wanted map[K]R, order func(a, b K) int) delta[K, R] {
	if wanted == nil {
		return delta[K, R]{unmanaged: true}
	}
	var d delta[K, R]
	for _, key := range sortedKeys(wanted, order) {
		rule := wanted[key]
		switch old, listed := current[key]; {
		case !listed:
			d.add = append(d.add, rule)
		case old != rule:
			d.replace = append(d.replace, replacement[K, R]{key, old, rule})
		default:
			d.unchanged++
		}
	}
	for _, key := range sortedKeys(current, order) {
		if _, stays := wanted[key]; !stays {
			d.remove = append(d.remove, key)
		}
	}
	return d
}

// plan changes a current policy to the wanted one.
type plan struct {
	action     prepaid.PolicyAction // of both
	categories delta[prepaid.MCC, prepaid.CategoryRule]
	merchants  delta[prepaid.MerchantKey, prepaid.MerchantRule]
	terminals  delta[prepaid.TerminalKey, prepaid.TerminalRule]
}

func makePlan(current, wanted state) plan {
	return plan{
		action:     current.action,
		categories: listDelta(current.categories, wanted.categories, cmp.Compare[prepaid.MCC]),
		merchants:  listDelta(current.merchants, wanted.merchants, compareMerchants),
		terminals:  listDelta(current.terminals, wanted.terminals, compareTerminals),
	}
}

// count returns the number of rules in a plan.
type count struct{ add, remove, replace, unchanged int }

func (d *delta[K, R]) count() count {
	return count{len(d.add), len(d.remove), len(d.replace), d.unchanged}
}

func (c count) plus(o count) count {
	return count{c.add + o.add, c.remove + o.remove, c.replace + o.replace, c.unchanged + o.unchanged}
}

func (p *plan) count() count {
	return p.categories.count().plus(p.merchants.count()).plus(p.terminals.count())
}

func (p *plan) empty() bool {
	c := p.count()
	return c.add+c.remove+c.replace == 0
}

// sameTexts takes the texts of existing rules, so that only added or removed rules remain.
func sameTexts(current, wanted state) state {
	wanted.merchants = keepOld(current.merchants, wanted.merchants)
	wanted.terminals = keepOld(current.terminals, wanted.terminals)
	return wanted
}

func keepOld[K comparable, R any](current, wanted map[K]R) map[K]R {
	kept := maps.Clone(wanted) // nil stays nil
	for key := range kept {
		if old, listed := current[key]; listed {
			kept[key] = old
		}
	}
	return kept
}
