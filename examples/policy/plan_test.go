package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const (
	allow = prepaid.PolicyActionAllow
	deny  = prepaid.PolicyActionDeny
)

func categoriesOf(list ...prepaid.MCC) map[prepaid.MCC]prepaid.CategoryRule {
	return byKey(asRules(list), categoryKey)
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
		calls           int // of at most two rules
	}{
		"nothing":        {state{}, state{categories: categoriesOf(), merchants: merchantsOf(), terminals: terminalsOf()}, count{}, 0},
		"codes":          {state{categories: categoriesOf("0742", "7995")}, state{categories: categoriesOf("7995", "5411")}, count{1, 1, 0, 1}, 2},
		"batches":        {state{}, state{categories: categoriesOf("0001", "0002", "0003", "0004", "0005")}, count{add: 5}, 3},
		"left alone":     {state{categories: categoriesOf("0742"), merchants: merchantsOf(shop)}, state{merchants: merchantsOf(shop)}, count{unchanged: 1}, 0},
		"emptied":        {state{terminals: terminalsOf(till)}, state{terminals: terminalsOf()}, count{remove: 1}, 1},
		"other acquirer": {state{merchants: merchantsOf(shop)}, state{merchants: merchantsOf(other)}, count{add: 1, remove: 1}, 2},
		"new text":       {state{merchants: merchantsOf(shop)}, state{merchants: merchantsOf(renamed)}, count{replace: 1}, 2},
		"new place":      {state{terminals: terminalsOf(till)}, state{terminals: terminalsOf(named)}, count{replace: 1}, 2},
	} {
		for _, action := range []prepaid.PolicyAction{allow, deny} {
			c.current.action, c.wanted.action = action, action
			p := makePlan(c.current, c.wanted)
			require.Equal(t, c.want, p.count(), name)
			require.Len(t, p.steps(2), c.calls, name)
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

// A block list is lengthened before it is shortened, an allow list the other way round, across all three lists; the two
// halves of a replacement are neighbours.
func TestOrderOfCalls(t *testing.T) {
	t.Parallel()
	current := state{
		categories: categoriesOf("0742"),
		merchants:  merchantsOf(prepaid.MerchantRule{AcquirerID: 1, CardAcceptorID: "SHOP", Description: "old"}),
		terminals:  terminalsOf(prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1"}),
	}
	wanted := state{
		categories: categoriesOf("7995"),
		merchants:  merchantsOf(prepaid.MerchantRule{AcquirerID: 1, CardAcceptorID: "SHOP", Description: "new"}),
		terminals:  terminalsOf(prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T2"}),
	}
	for action, want := range map[prepaid.PolicyAction]string{
		allow: "+category +terminal -merchant ^+merchant -category -terminal ",
		deny:  "-category -terminal -merchant ^+merchant +category +terminal ",
	} {
		current.action, wanted.action = action, action
		p := makePlan(current, wanted)
		require.Equal(t, want, describeSteps(p.steps(10)))
	}
}

func describeSteps(steps []step) string {
	var text strings.Builder
	for _, s := range steps {
		if s.secondHalf {
			text.WriteString("^")
		}
		for word, n := range map[string]int{
			"+category": len(s.categories.Add), "-category": len(s.categories.Remove), "+merchant": len(s.merchants.Add),
			"-merchant": len(s.merchants.Remove), "+terminal": len(s.terminals.Add), "-terminal": len(s.terminals.Remove),
		} {
			if n > 0 {
				text.WriteString(word + " ")
			}
		}
	}
	return text.String()
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

// listed are the rules of a state, whatever their texts and lists, except those that are replaced.
func listed(s state, p *plan) map[any]bool {
	all := make(map[any]bool)
	for key := range s.categories {
		all[key] = true
	}
	for key := range s.merchants {
		all[key] = true
	}
	for key := range s.terminals {
		all[key] = true
	}
	for _, r := range p.merchants.replace {
		delete(all, r.key)
	}
	for _, r := range p.terminals.replace {
		delete(all, r.key)
	}
	return all
}

func within(part, whole map[any]bool) bool {
	for key := range part {
		if !whole[key] {
			return false
		}
	}
	return true
}

// differing counts by looking at each key there is, which is the least that any plan must touch.
func differing(a, b state) int {
	n := 0
	keys := listed(a, &plan{})
	for key := range listed(b, &plan{}) {
		keys[key] = true
	}
	for key := range keys {
		var x, y any
		switch key := key.(type) {
		case prepaid.MCC:
			x, y = a.categories[key], b.categories[key]
		case prepaid.MerchantKey:
			x, y = a.merchants[key], b.merchants[key]
		case prepaid.TerminalKey:
			x, y = a.terminals[key], b.terminals[key]
		}
		if x != y {
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
		p, batch := makePlan(current, wanted), 1+r.IntN(4)
		c := p.count()
		require.Equal(t, differing(current, wanted), c.add+c.remove+c.replace, "seed %d", seed)
		nothing := makePlan(wanted, wanted)
		require.True(t, nothing.empty())
		require.Empty(t, nothing.steps(batch))

		before, after := listed(current, &p), listed(wanted, &p)
		now, steps := current, p.steps(batch)
		for i := range steps {
			require.LessOrEqual(t, steps[i].rules(), batch)
			next := steps[i].after(now)
			require.True(t, explains([]state{now, next}, now) && explains([]state{now, next}, next), "seed %d", seed)
			require.False(t, explains([]state{now}, next) || explains([]state{next}, now), "seed %d", seed)
			now = next
			on := listed(now, &p)
			if action == allow { // what is blocked
				require.True(t, within(before, on) || within(after, on), "seed %d, step %d opens too early", seed, i)
			} else { // what is allowed
				require.True(t, within(on, before) || within(on, after), "seed %d, step %d opens too early", seed, i)
			}
		}
		require.Equal(t, wanted, now, "seed %d", seed)
	}
}

// A change of somebody else is distinguished from a call that was made in part.
func TestExplains(t *testing.T) {
	t.Parallel()
	current := state{action: allow, categories: categoriesOf("0001", "0002")}
	removal := removeCategories([]prepaid.MCC{"0001"})
	addition := addCategories([]prepaid.MCC{"0003", "0004"})
	states := []state{current, removal.after(current), addition.after(current)}
	for _, found := range []map[prepaid.MCC]prepaid.CategoryRule{
		categoriesOf("0001", "0002"), categoriesOf("0002"), categoriesOf("0002", "0004"), categoriesOf("0001", "0002", "0003", "0004"),
	} {
		require.True(t, explains(states, state{action: allow, categories: found}), found)
		require.False(t, explains(states, state{action: deny, categories: found}), found)
	}
	for _, found := range []map[prepaid.MCC]prepaid.CategoryRule{categoriesOf("0001"), categoriesOf("0001", "0002", "0005"), nil} {
		require.False(t, explains(states, state{action: allow, categories: found}), found)
	}
	require.False(t, explains(states, state{action: allow, categories: states[0].categories, merchants: merchantsOf(prepaid.MerchantRule{AcquirerID: 1})}))
}
