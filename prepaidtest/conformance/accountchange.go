package conformance

import "net/http"

func accountChangeCases() []Case {
	person := map[string]any{
		"first_name": "Conformance", "last_name": "Check", "date_of_birth": "1990-01-01T00:00:00Z",
		"primary_address": map[string]any{"state": "NSW", "country": "AU"},
	}
	unknown := func(rest string, body any) Case {
		return with("4.4", "unknown_account_put"+rest, "PUT /accounts/{id}"+rest, func(p *probe) {
			p.do(http.MethodPut, "accounts/"+noAccount+rest, body).refused(404)
		})
	}
	// same makes a case that writes the current value back, so that nothing changes.
	same := func(rest, from, to string) Case {
		return with("4.4", "put_"+to, "PUT /accounts/{id}"+rest, func(p *probe) {
			before := p.get(p.accountPath("")).status(200).object(accountShape())
			if before == nil {
				return
			}
			p.do(http.MethodPut, p.accountPath(rest), map[string]any{to: before[from]}).status(200).empty()
			after := p.get(p.accountPath("")).status(200).object(accountShape())
			if after != nil && after[from] != before[from] {
				p.fail(to, "must be what was put")
			}
		}, "AccountID", "ChangeAccounts")
	}
	return []Case{
		with("4.4", "create_account", "POST /accounts", func(p *probe) {
			p.post("accounts", map[string]any{"company_id": p.target.CompanyID, "initial_load_amount": 0, "registration": person}).
				status(201).read(createdShape())
		}, "CompanyID", "CreateAccounts"),
		with("4.4", "create_replacement_of_unknown_account", "POST /accounts", func(p *probe) {
			p.post("accounts", map[string]any{
				"company_id": p.target.CompanyID, "initial_load_amount": 0, "registration": person,
				"request_type": "replace", "account_id_to_replace": noAccount,
			}).refused(404)
		}, "CompanyID", "CreateAccounts"),
		with("4.4", "put_registration", "PUT /accounts/{id}", func(p *probe) {
			shape := accountShape(req(personalShape("2.3", false), "personal"))
			before := p.get(p.accountPath("?with_personal=1")).status(200).object(shape)
			if before == nil {
				return
			}
			body := map[string]any{"registration": before["personal"]}
			for _, m := range updatedMembers() {
				if value, present := before[m.name]; present {
					body[m.name] = value
				}
			}
			p.do(http.MethodPut, p.accountPath(""), body).status(200).empty()
			if after := p.get(p.accountPath("?with_personal=1")).status(200).object(shape); after != nil && len(after) != len(before) {
				p.fail("", "must have the members that it had before they were put back")
			}
		}, "AccountID", "ChangeAccounts"),
		same("/status", "status", "status"),
		same("/plastic", "is_plastic_enabled", "plastic_enabled"),
		unknown("", map[string]any{"registration": person}),
		unknown("/status", map[string]any{"status": "active"}),
		unknown("/plastic", map[string]any{"plastic_enabled": true}),
	}
}
