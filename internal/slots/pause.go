package slots

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/cardprograms/prepaid/ratelimit"
)

// pause stops every lane: for retryAfter or, if unspecified, for a random time between a quarter of a window and a whole one.
// A 429 for a request that was sent before the last pause is an echo. Without a Retry-After, an echo changes nothing: if each echo
// drew another random time, the longest would win.
func (l *Limiter) pause(now, retryAfter time.Duration, echo bool) {
	switch {
	case retryAfter > 0:
	case echo:
		return
	default:
		retryAfter = min(l.stock.window/4+rand.N(l.stock.window-l.stock.window/4), l.options.MaxRandomPause)
	}
	if !l.stock.Pause(now, min(retryAfter, l.options.MaxPause)) {
		return
	}
	if l.options.Owner != nil {
		l.options.Owner.Paused()
	}
	l.evict(now, math.MaxUint64)
}

// evict refuses each waiter that arrived before the exchange of the given number and whose wait would now outlast its deadline.
func (l *Limiter) evict(now time.Duration, exchange uint64) {
	for lane := range LaneCount {
		index := 0
		l.queues[lane].each(func(w *waiter) {
			at := l.predict(now, lane, index)
			if at < w.deadline || w.exchange >= exchange {
				index++
				return
			}
			l.refuse(w, &ratelimit.RefusedError{Wait: at - now})
		})
	}
}
