package main

import (
	"context"
	"maps"
	"slices"

	"github.com/cardprograms/prepaid"
)

// step is one call. It adds to one list or removes from it, never both: the reference does not say which the service
// does first.
type step struct {
	categories prepaid.ChangeCategoriesParams
	merchants  prepaid.ChangeMerchantsParams
	terminals  prepaid.ChangeTerminalsParams
	// secondHalf adds back, with another text, the rules that the step before has removed: nothing may come between.
	secondHalf bool
}

// steps splits a plan into calls of at most batch rules: first those that restrict, last those that permit. All rules
// of a program do the same, so none overrides another: if the default is to allow, adding a rule restricts; if it is to
// deny, removing a rule does. So nothing is opened while something is still to be closed, wherever the calls end. In
// between are the replacements, each batch in two consecutive calls, because the service may ignore an existing rule
// that is added with another text.
func (p *plan) steps(batch int) []step {
	adds := slices.Concat(
		inBatches(codes(p.categories.add), batch, addCategories),
		inBatches(p.merchants.add, batch, addMerchants),
		inBatches(p.terminals.add, batch, addTerminals))
	removes := slices.Concat(
		inBatches(p.categories.remove, batch, removeCategories),
		inBatches(p.merchants.remove, batch, removeMerchants),
		inBatches(p.terminals.remove, batch, removeTerminals))
	replaces := slices.Concat(
		inPairs(p.merchants.replace, batch, removeMerchants, addMerchants),
		inPairs(p.terminals.replace, batch, removeTerminals, addTerminals))
	if p.action == prepaid.PolicyActionDeny {
		return slices.Concat(removes, replaces, adds)
	}
	return slices.Concat(adds, replaces, removes)
}

func inBatches[T any](rules []T, batch int, call func([]T) step) []step {
	var steps []step
	for part := range slices.Chunk(rules, batch) {
		steps = append(steps, call(part))
	}
	return steps
}

func inPairs[K, R any](rules []replacement[K, R], batch int, remove func([]K) step, add func([]R) step) []step {
	var steps []step
	for part := range slices.Chunk(rules, batch) {
		var old []K
		var again []R
		for _, r := range part {
			old, again = append(old, r.key), append(again, r.new)
		}
		second := add(again)
		second.secondHalf = true
		steps = append(steps, remove(old), second)
	}
	return steps
}

func addCategories(list []prepaid.MCC) step {
	return step{categories: prepaid.ChangeCategoriesParams{Add: list}}
}

func removeCategories(list []prepaid.MCC) step {
	return step{categories: prepaid.ChangeCategoriesParams{Remove: list}}
}

func addMerchants(list []prepaid.MerchantRule) step {
	return step{merchants: prepaid.ChangeMerchantsParams{Add: list}}
}

func removeMerchants(list []prepaid.MerchantKey) step {
	return step{merchants: prepaid.ChangeMerchantsParams{Remove: list}}
}

func addTerminals(list []prepaid.TerminalRule) step {
	return step{terminals: prepaid.ChangeTerminalsParams{Add: list}}
}

func removeTerminals(list []prepaid.TerminalKey) step {
	return step{terminals: prepaid.ChangeTerminalsParams{Remove: list}}
}

func codes(rules []prepaid.CategoryRule) []prepaid.MCC {
	var list []prepaid.MCC
	for _, r := range rules {
		list = append(list, r.MerchantCategoryCode)
	}
	return list
}

// rules returns the number of rules in a step.
func (s *step) rules() int {
	return len(s.categories.Add) + len(s.categories.Remove) + len(s.merchants.Add) + len(s.merchants.Remove) +
		len(s.terminals.Add) + len(s.terminals.Remove)
}

// send makes the call.
func (s *step) send(ctx context.Context, client *prepaid.Client, company prepaid.CompanyID, reason string) error {
	switch {
	case len(s.categories.Add)+len(s.categories.Remove) > 0:
		params := s.categories
		params.Reason = reason
		return client.Policy.ChangeCategories(ctx, company, params)
	case len(s.merchants.Add)+len(s.merchants.Remove) > 0:
		params := s.merchants
		params.Reason = reason
		return client.Policy.ChangeMerchants(ctx, company, params)
	default:
		params := s.terminals
		params.Reason = reason
		return client.Policy.ChangeTerminals(ctx, company, params)
	}
}

// after returns the state that the step makes of before, which is not modified.
func (s *step) after(before state) state {
	before.categories = changed(before.categories, asRules(s.categories.Add), s.categories.Remove, categoryKey)
	before.merchants = changed(before.merchants, s.merchants.Add, s.merchants.Remove, merchantKey)
	before.terminals = changed(before.terminals, s.terminals.Add, s.terminals.Remove, terminalKey)
	return before
}

func asRules(list []prepaid.MCC) []prepaid.CategoryRule {
	var rules []prepaid.CategoryRule
	for _, code := range list {
		rules = append(rules, prepaid.CategoryRule{MerchantCategoryCode: code})
	}
	return rules
}

func changed[K comparable, R any](list map[K]R, add []R, remove []K, key func(*R) K) map[K]R {
	if len(add)+len(remove) == 0 {
		return list
	}
	list = maps.Clone(list)
	for _, k := range remove {
		delete(list, k)
	}
	for i := range add {
		list[key(&add[i])] = add[i]
	}
	return list
}

// explains reports whether got is the result if each rule is as in one of the states, so that nobody else need have
// changed anything.
func explains(states []state, got state) bool {
	return !slices.ContainsFunc(states, func(s state) bool { return s.action != got.action }) &&
		listExplains(states, got, func(s *state) map[prepaid.MCC]prepaid.CategoryRule { return s.categories }) &&
		listExplains(states, got, func(s *state) map[prepaid.MerchantKey]prepaid.MerchantRule { return s.merchants }) &&
		listExplains(states, got, func(s *state) map[prepaid.TerminalKey]prepaid.TerminalRule { return s.terminals })
}

func listExplains[K, R comparable](states []state, got state, list func(*state) map[K]R) bool {
	same := func(key K) bool {
		found, listed := list(&got)[key]
		return slices.ContainsFunc(states, func(s state) bool {
			rule, there := list(&s)[key]
			return there == listed && rule == found
		})
	}
	for i := range states {
		for key := range list(&states[i]) {
			if !same(key) {
				return false
			}
		}
	}
	for key := range list(&got) {
		if !same(key) {
			return false
		}
	}
	return true
}
