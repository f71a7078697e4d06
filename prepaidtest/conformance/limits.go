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
	const operation = "Policy.MerchantCategoryCodes"
	return []Case{with("8", "rate_is_limited", operation, nil, func(p *probe) {
		request, bearer := newRequest(&p.target, operation, values{"page_size": 1}), p.bearer()
		var (
			sent    atomic.Int32
			refusal atomic.Pointer[response]
			work    sync.WaitGroup
		)
		for range callers {
			work.Go(func() {
				own := *p // each goroutine has its own faults
				for refusal.Load() == nil && sent.Add(1) <= burst {
					if r := own.once(request, bearer); r.Status != http.StatusOK {
						refusal.CompareAndSwap(nil, r)
					}
				}
			})
		}
		work.Wait()
		r := refusal.Load()
		if r == nil {
			p.stop("status", "more than 1,000 requests in 10 seconds must be refused with 429")
		}
		r.probe = p
		r.check().refused("", http.StatusTooManyRequests)
		p.sleep(r.retryAfter()) // ten seconds if the response has no Retry-After
		p.once(request, bearer).check().ok()
	}, "SpendRateLimit")}
}
