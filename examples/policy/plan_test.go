package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const (
	allow = prepaid.PolicyActionAllow
	deny  = prepaid.PolicyActionDeny
)

func categoriesOf(list ...prepaid.MCC) map[prepaid.MCC]prepaid.CategoryRule {
	rules := make(map[prepaid.MCC]prepaid.CategoryRule)
	for _, code := range list {
		rules[code] = prepaid.CategoryRule{MerchantCategoryCode: code}
	}
	return rules
}

func merchantsOf(rules ...prepaid.MerchantRule) map[prepaid.MerchantKey]prepaid.MerchantRule {
	return byKey(rules, merchantKey)
}

func terminalsOf(rules ...prepaid.TerminalRule) map[prepaid.TerminalKey]prepaid.TerminalRule {
	return byKey(rules, terminalKey)
}

func TestPlan(t *testing.T) {
	t.Parallel()
	shop := prepaid.MerchantRule{AcquirerID: 1, CardAcceptorID: "SHOP", Description: "a shop"}
	renamed, other := shop, shop
	renamed.Description, other.AcquirerID = "the shop", 2
	till := prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1"}
	named := till
	named.CardAcceptorNameLocation = "SHOP SYDNEY"
	for name, c := range map[string]struct {
		current, wanted state
		want            count
	}{
		"nothing":        {state{}, state{categories: categoriesOf(), merchants: merchantsOf(), terminals: terminalsOf()}, count{}},
		"codes":          {state{categories: categoriesOf("0742", "7995")}, state{categories: categoriesOf("7995", "5411")}, count{1, 1, 0, 1}},
		"batches":        {state{}, state{categories: categoriesOf("0001", "0002", "0003", "0004", "0005")}, count{add: 5}},
		"left alone":     {state{categories: categoriesOf("0742"), merchants: merchantsOf(shop)}, state{merchants: merchantsOf(shop)}, count{unchanged: 1}},
		"emptied":        {state{terminals: terminalsOf(till)}, state{terminals: terminalsOf()}, count{remove: 1}},
		"other acquirer": {state{merchants: merchantsOf(shop)}, state{merchants: merchantsOf(other)}, count{add: 1, remove: 1}},
		"new text":       {state{merchants: merchantsOf(shop)}, state{merchants: merchantsOf(renamed)}, count{replace: 1}},
		"new place":      {state{terminals: terminalsOf(till)}, state{terminals: terminalsOf(named)}, count{replace: 1}},
	} {
		for _, action := range []prepaid.PolicyAction{allow, deny} {
			c.current.action, c.wanted.action = action, action
			p := makePlan(c.current, c.wanted)
			require.Equal(t, c.want, p.count(), name)
		}
	}
}

// The ids that the service gives to rules are no difference.
func TestPlanPassesOverIDs(t *testing.T) {
	t.Parallel()
	current := stateOf(&prepaid.Policy{
		DefaultAction: deny,
		Merchants:     []prepaid.MerchantRule{{ID: 7, AcquirerID: 1, CardAcceptorID: "SHOP", Description: "a shop"}},
		Terminals:     []prepaid.TerminalRule{{ID: 8, AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1"}},
	})
	p := makePlan(current, state{
		action:     deny,
		categories: categoriesOf(),
		merchants:  merchantsOf(prepaid.MerchantRule{AcquirerID: 1, CardAcceptorID: "SHOP", Description: "a shop"}),
		terminals:  terminalsOf(prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1"}),
	})
	require.True(t, p.empty())
	require.Equal(t, 2, p.count().unchanged)
}

func randomState(r *rand.Rand, action prepaid.PolicyAction) state {
	s := state{action: action, categories: categoriesOf(), merchants: merchantsOf(), terminals: terminalsOf()}
	for n := range 6 {
		if r.IntN(2) == 0 {
			code := prepaid.MCC(fmt.Sprintf("%04d", n))
			s.categories[code] = prepaid.CategoryRule{MerchantCategoryCode: code}
		}
		if r.IntN(2) == 0 {
			rule := prepaid.MerchantRule{AcquirerID: int64(1 + n/3), CardAcceptorID: fmt.Sprint("M", n%3), Description: fmt.Sprint("text ", r.IntN(2))}
			s.merchants[merchantKey(&rule)] = rule
		}
		if r.IntN(2) == 0 {
			rule := prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: fmt.Sprint("M", n/3), TerminalID: fmt.Sprint("T", n%3), Description: fmt.Sprint(r.IntN(2))}
			s.terminals[terminalKey(&rule)] = rule
		}
	}
	return s
}

// differing counts by looking at each key there is, which is the least that any plan must touch.
func differing[K comparable, R comparable](a, b map[K]R) (n int) {
	for key, rule := range a {
		if other, listed := b[key]; !listed || other != rule {
			n++
		}
	}
	for key := range b {
		if _, listed := a[key]; !listed {
			n++
		}
	}
	return n
}

func TestPlanProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		action := []prepaid.PolicyAction{allow, deny}[r.IntN(2)]
		current, wanted := randomState(r, action), randomState(r, action)
		p := makePlan(current, wanted)
		c := p.count()
		require.Equal(t, differing(current.categories, wanted.categories)+differing(current.merchants, wanted.merchants)+
			differing(current.terminals, wanted.terminals), c.add+c.remove+c.replace, "seed %d", seed)
		require.Equal(t, p.empty(), current.equal(wanted), "seed %d", seed)
		nothing := makePlan(wanted, wanted)
		require.True(t, nothing.empty() && wanted.equal(wanted))
		kept := sameTexts(current, wanted)
		shorter := makePlan(current, kept)
		require.Equal(t, count{c.add, c.remove, 0, c.unchanged + c.replace}, shorter.count(), "seed %d", seed)
	}
}
