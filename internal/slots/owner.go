package slots

import "time"

// Owner changes the number of slots of a [Limiter], for several that share one allowance. Its methods are called while the
// limiter is locked: they must not block or call it.
type Owner interface {
	// Advance changes the stock as time demands.
	Advance(now time.Duration, s *Stock)
	// Expect returns the earliest time, after now, at which others may have handed over so many slots.
	Expect(now time.Duration, s *Stock, lacking int) time.Duration
	// Arrive is called for each request. It reports whether the owner asks others for a slot. If so, a request that must wait
	// is not refused before an exchange has shown that its wait would outlast its deadline.
	Arrive(lane Lane, waits bool) bool
	// Paused is called when a 429 has begun a pause.
	Paused()
}

// Update lets an owner change the stock, and hands out what is then available. Waiters that arrived when Exchange was below
// the number that change returns are refused if their wait would outlast their deadline: younger ones have not been asked for.
func (l *Limiter) Update(change func(now time.Duration, s *Stock) (answered uint64)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	l.stock.Backlog = l.waiting(Call)
	answered := change(now, &l.stock)
	l.supply(now)
	l.dispatch(now)
	if answered > 0 {
		l.evict(now, answered)
	}
}

// Close refuses all current and future requests with err.
func (l *Limiter) Close(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = err
	for lane := range LaneCount {
		l.queues[lane].each(func(w *waiter) { l.refuse(w, err) })
	}
	l.disarm()
}
