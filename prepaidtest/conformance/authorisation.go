package conformance

import "strings"

// operations are those of section 4 that need a token.
func operations() []string {
	return []string{
		"GET /reporting/templates/{templatename}", "GET /reporting/templates/{templatename}/reports/{reportid}",
		"GET /policy/mccodes", "GET /policy/{id}/restrictions", "GET /policy/{id}/policy", "GET /policy/{id}/categories",
		"GET /policy/{id}/merchants", "GET /policy/{id}/terminals", "POST /policy/{id}/categories",
		"POST /policy/{id}/merchants", "POST /policy/{id}/terminals", "GET /accounts", "POST /accounts",
		"GET /accounts/company/{companyid}", "GET /accounts/{id}", "PUT /accounts/{id}", "GET /accounts/{id}/transactions",
		"GET /accounts/{id}/status", "PUT /accounts/{id}/status", "PUT /accounts/{id}/plastic", "GET /accounts/{id}/tokens",
		"POST /accounts/{id}/wallet/{provider}", "POST /accounts/{id}/dip", "POST /accounts/{id}/directentryout",
		"POST /accounts/{id}/transfer", "POST /funding/redemptions", "POST /funding/reversals", "POST /funding/refunds",
		"POST /simulation/transact", "POST /simulation/advice", "POST /simulation/reverse", "POST /simulation/clear",
		"POST /simulation/reverse_clear", "POST /pin/initiate", "POST /pin/validate", "POST /pin/execute", "GET /hooks",
		"GET /hooks/{id}", "POST /hooks", "PATCH /hooks/{id}", "DELETE /hooks/{id}", "GET /hooks/{id}/undeliverable",
		"POST /hooks/{id}/undeliverable/dismiss",
	}
}

// authorisationCases ask each operation without a token and with a bad one, for what does not exist and with an
// empty body: a service that lets them in has nothing to change.
func authorisationCases() []Case {
	fill := strings.NewReplacer("/policy/{id}", "/policy/999999999", "/hooks/{id}", "/hooks/"+unknownUUID, "{companyid}", "999999999",
		"{reportid}", unknownUUID, "{id}", nobody, "{templatename}", nobody, "{provider}", nobody)
	var cases []Case
	for _, operation := range operations() {
		method, path, _ := strings.Cut(operation, " /")
		name := strings.NewReplacer(" /", "_", "/", "_", "{", "", "}", "").Replace(operation)
		allowed := []int{401}
		if operation == "GET /reporting/templates/{templatename}" {
			allowed = []int{400, 401} // its row has 400 for a wrong token
		}
		cases = append(cases, with("5", "token_is_required_by_"+name, operation, func(p *probe) {
			body := ""
			if method != "GET" && method != "DELETE" {
				body = "{}"
			}
			target := strings.TrimPrefix(fill.Replace("/"+path), "/")
			for _, token := range []string{"", "conformance-bad"} {
				p.patiently(method, target, body, p.bearer(token, body != "")).refusedAs(allowed)
			}
		}))
	}
	return cases
}
