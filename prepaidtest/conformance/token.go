package conformance

import "encoding/json"

func tokenCases() []Case {
	const op = "POST /token"
	const grant = "grant_type=client_credentials"
	return []Case{
		with("4.1", "token_is_issued", op, func(p *probe) {
			body := p.askToken(p.basic(p.target.ClientID, p.target.ClientSecret), grant).status(200).object(tokenShape())
			if life, ok := body["expires_in"].(json.Number); ok {
				if seconds, err := life.Float64(); err != nil || seconds <= 0 {
					p.failIn("2.1", "expires_in", "must be positive")
				}
			}
		}),
		with("4.1", "wrong_secret", op, func(p *probe) {
			p.askToken(p.basic(p.target.ClientID, "conformance-wrong"), grant).refused(401, "invalid_client")
		}),
		with("4.1", "missing_credentials", op, func(p *probe) { p.askToken("", grant).refused(400, "invalid_client") }),
		with("4.1", "missing_grant", op, func(p *probe) {
			p.askToken(p.basic(p.target.ClientID, p.target.ClientSecret), "").refused(400, "invalid_request")
		}),
		with("4.1", "other_grant", op, func(p *probe) {
			p.askToken(p.basic(p.target.ClientID, p.target.ClientSecret), "grant_type=password").refused(400, "unsupported_grant_type")
		}),
	}
}
