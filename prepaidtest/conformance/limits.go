package conformance

import "net/http"

func limitCases() []Case {
	return []Case{
		with("8", "rate_is_limited", "GET /policy/mccodes", func(p *probe) {
			if p.token == "" && !p.authorise() {
				return
			}
			for range 1100 {
				a := p.send(http.MethodGet, "policy/mccodes?page_size=1", "", p.bearer(p.token, false))
				if a.bad {
					return
				}
				if a.code == http.StatusTooManyRequests {
					a.refused(429)
					p.sleep(a.retryAfter()) // at most ten seconds
					p.send(http.MethodGet, "policy/mccodes?page_size=1", "", p.bearer(p.token, false)).status(200)
					return
				}
				a.status(200)
			}
			p.fail("status", "more than 1,000 requests in 10 seconds must be refused with 429")
		}, "SpendRateLimit"),
	}
}
