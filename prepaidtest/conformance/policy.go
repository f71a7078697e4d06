package conformance

import "slices"

func policyCases() []Case {
	merchant := values{"acquirer_id": 999999, "card_acceptor_id": "CONFORMANCE"}
	described := values{"acquirer_id": 999999, "card_acceptor_id": "CONFORMANCE", "description": "conformance"}
	terminal := values{"acquirer_id": 999999, "card_acceptor_id": "CONFORMANCE", "terminal_id": "CONF01"}
	return slices.Concat(
		policyChange("Categories", "categories", 7995, 7995), policyChange("Merchants", "merchants", described, merchant),
		policyChange("Terminals", "terminals", terminal, terminal),
	)
}

// policyChange makes a case that adds a rule, finds it, removes it and checks that it is gone, and two with changes that must be refused.
// Existing rules do not change.
func policyChange(name, list string, add, remove any) []Case {
	change := "Policy.Change" + name
	changes := with("4.3", "changes_"+list, change, nil, func(p *probe) {
		count := func() int {
			rules, _ := p.call("Policy."+name, nil).object()[list].([]any)
			found := 0
			for _, element := range rules {
				rule, _ := element.(map[string]any)
				if rule["merchant_category_code"] == "7995" || rule["card_acceptor_id"] == "CONFORMANCE" {
					found++
				}
			}
			return found
		}
		if count() > 0 {
			p.skipped = "the rule that the case would add is there already"
			return
		}
		p.call(change, values{"reason": "conformance", "add": []any{add}}).ok()
		added := count()
		p.call(change, values{"reason": "conformance", "remove": []any{remove}}).ok()
		if added != 1 || count() != 0 {
			p.fail(list, "must have the rule until it is removed")
		}
	}, "ChangePolicy")
	return []Case{
		changes, refuse("unknown_company_"+list, change, values{"id": noCompany, "reason": "conformance"}, "", []int{403, 404}),
		refuse("invalid_"+list, change, values{"add": "none"}, "", []int{400}, "ChangePolicy"),
	}
}
