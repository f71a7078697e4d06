package conformance

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

func limitCases() []Case {
	const operation = "Policy.MerchantCategoryCodes"
	const burst = 1100 // more than the limit of 1,000
	const callers = 32 // concurrent, so that a distant service gets all requests in 10 s
	return []Case{with("8", "rate_is_limited", operation, nil, func(p *probe) {
		request, bearer := newRequest(&p.target, operation, values{"page_size": 1}), p.bearer()
		refused := make(chan *response, callers)
		var sent atomic.Int32
		var work sync.WaitGroup
		for range callers {
			work.Go(func() {
				own := *p // each goroutine has its own faults
				for len(refused) == 0 && sent.Add(1) <= burst {
					if r := own.send(request, bearer); r.Status != http.StatusOK {
						refused <- r
					}
				}
			})
		}
		work.Wait()
		if len(refused) == 0 {
			p.stop("status", "more than 1,000 requests in 10 seconds must be refused with 429")
		}
		r := <-refused
		r.probe = p
		r.refused("", http.StatusTooManyRequests)
		p.sleep(10 * time.Second)
		p.send(request, bearer).ok()
	}, "SpendRateLimit")}
}
