package conformance

import (
	"net/http"
	"sync"
	"sync/atomic"
)

const (
	burst   = 1100 // more than the limit of 1,000
	callers = 32   // concurrent, so that a distant service gets all requests in 10 s
)

func limitCases() []Case {
	return []Case{
		with("8", "rate_is_limited", "GET /policy/mccodes", func(p *probe) {
			if p.token == "" && !p.authorise() {
				return
			}
			ask := func(p *probe) *response {
				return p.send(http.MethodGet, "policy/mccodes?page_size=1", "", p.bearer(p.token, false))
			}
			var (
				sent    atomic.Int32
				refusal atomic.Pointer[response]
				work    sync.WaitGroup
			)
			for range callers {
				work.Go(func() {
					own := *p // each goroutine has its own faults
					own.faults = nil
					for refusal.Load() == nil && sent.Add(1) <= burst {
						if a := ask(&own); a.bad || a.code != http.StatusOK {
							refusal.CompareAndSwap(nil, a)
						}
					}
				})
			}
			work.Wait()
			a := refusal.Load()
			if a == nil {
				p.fail("status", "more than 1,000 requests in 10 seconds must be refused with 429")
				return
			}
			p.faults = append(p.faults, a.faults...)
			a.probe = p
			a.refused(http.StatusTooManyRequests)
			p.sleep(a.retryAfter()) // ten seconds if the response has no Retry-After
			ask(p).status(http.StatusOK)
		}, "SpendRateLimit"),
	}
}
