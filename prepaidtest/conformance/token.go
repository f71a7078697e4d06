package conformance

func tokenCases() []Case {
	const grant = "grant_type=client_credentials"
	token := func(name string, check func(p *probe, id, secret string)) Case {
		return with("4.1", name, "Token", nil, func(p *probe) { check(p, p.target.ClientID, p.target.ClientSecret) })
	}
	return []Case{
		token("token_is_issued", func(p *probe, id, secret string) {
			if number(p.askToken(id, secret, grant).object()["expires_in"]) <= 0 {
				p.failIn("2.1", "expires_in", "must be positive")
			}
		}),
		token("wrong_secret", func(p *probe, id, _ string) {
			p.askToken(id, "conformance-wrong", grant).refused("invalid_client", 401)
		}),
		token("missing_credentials", func(p *probe, _, _ string) { p.askToken("", "", grant).refused("invalid_client", 400) }),
		token("missing_grant", func(p *probe, id, secret string) { p.askToken(id, secret, "").refused("invalid_request", 400) }),
		token("other_grant", func(p *probe, id, secret string) {
			p.askToken(id, secret, "grant_type=password").refused("unsupported_grant_type", 400)
		}),
	}
}
