package conformance

import "strconv"

func (p *probe) policyPath(kind string) string {
	return "policy/" + strconv.FormatInt(p.target.CompanyID, 10) + "/" + kind
}

func policyCases() []Case {
	read := func(kind string, r rule) Case {
		return with("4.3", "reads_"+kind, "GET /policy/{id}/"+kind, func(p *probe) {
			p.get(p.policyPath(kind)).status(200).read(r)
		}, "CompanyID")
	}
	terminal := map[string]any{"acquirer_id": 999999, "card_acceptor_id": "CONFORMANCE", "terminal_id": "CONF01"}
	return []Case{
		with("4.3", "merchant_category_codes_in_pages", "GET /policy/mccodes", func(p *probe) { p.paging("policy/mccodes?", categoryShape()) }),
		read("restrictions", restrictionsShape()),
		read("policy", policyShape("terminals", "categories", "merchants")),
		read("categories", policyShape("categories")),
		read("merchants", policyShape("merchants")),
		read("terminals", policyShape("terminals")),
		policyChange("categories", 7995, 7995),
		policyChange("merchants", map[string]any{"acquirer_id": 999999, "card_acceptor_id": "CONFORMANCE", "description": "conformance"},
			map[string]any{"acquirer_id": 999999, "card_acceptor_id": "CONFORMANCE"}),
		policyChange("terminals", terminal, terminal),
		with("4.3", "change_of_unknown_company", "POST /policy/{id}/categories", func(p *probe) {
			p.post("policy/999999999/categories", map[string]any{"reason": "conformance"}).refusedAs([]int{403, 404})
		}),
		with("4.3", "change_lists_invalid_fields", "POST /policy/{id}/categories", func(p *probe) {
			p.post(p.policyPath("categories"), map[string]any{"add": "none"}).refused(400)
		}, "CompanyID", "ChangePolicy"),
	}
}

// policyChange adds a rule, finds it, removes it and checks that it is gone. Existing rules do not change.
func policyChange(kind string, add, remove any) Case {
	return with("4.3", "changes_"+kind, "POST /policy/{id}/"+kind, func(p *probe) {
		count := func() int {
			body := p.get(p.policyPath(kind)).status(200).object(policyShape(kind))
			list, _ := body[kind].([]any)
			found := 0
			for _, element := range list {
				if rule, ok := element.(map[string]any); ok &&
					(rule["merchant_category_code"] == "7995" || rule["card_acceptor_id"] == "CONFORMANCE") {
					found++
				}
			}
			return found
		}
		if count() > 0 {
			p.skipped = "the rule that the case would add is there already"
			return
		}
		p.post(p.policyPath(kind), map[string]any{"reason": "conformance", "add": []any{add}}).status(200).empty()
		if count() != 1 {
			p.fail("add", "must make one rule")
		}
		p.post(p.policyPath(kind), map[string]any{"reason": "conformance", "remove": []any{remove}}).status(200).empty()
		if count() != 0 {
			p.fail("remove", "must delete the rule")
		}
	}, "CompanyID", "ChangePolicy")
}
