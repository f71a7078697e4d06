package conformance

import "strings"

// authorisationCases calls each operation of the other cases without a token and with a bad token. The calls have an
// unknown ID and an empty body: they change nothing even if a service accepts them.
func authorisationCases(others []Case) []Case {
	fill := strings.NewReplacer("/policy/{id}", "/policy/999999999", "/hooks/{id}", "/hooks/"+unknownUUID, "{companyid}", "999999999",
		"{reportid}", unknownUUID, "{id}", noAccount, "{templatename}", noAccount, "{provider}", noAccount)
	var cases []Case
	asked := map[string]bool{"POST /token": true}
	for _, other := range others {
		operation := other.Operation
		if asked[operation] {
			continue
		}
		asked[operation] = true
		method, path, _ := strings.Cut(operation, " /")
		name := strings.NewReplacer(" /", "_", "/", "_", "{", "", "}", "").Replace(operation)
		allowed := []int{401}
		if operation == "GET /reporting/templates/{templatename}" {
			allowed = []int{400, 401} // the reference has 400 for a wrong token
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
