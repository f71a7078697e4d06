package slots

import (
	"math/rand/v2"
	"time"
)

// pause stops every lane: for retryAfter or, if unspecified, for a random time between a quarter of a window and a whole one.
// The response to a request sent before the last pause is an echo: without a Retry-After it changes nothing. Otherwise each
// echo would draw another random time, and the longest would win.
func (l *Limiter) pause(now, retryAfter time.Duration, echo bool) {
	if !l.paced {
		l.paced, l.next = true, now
	}
	switch {
	case retryAfter > 0:
	case echo:
		return
	default:
		retryAfter = min(l.window/4+rand.N(l.window-l.window/4), l.maxRandomPause)
	}
	until := now + min(retryAfter, l.maxPause)
	if until <= l.pausedUntil {
		return
	}
	l.pausedAt, l.pausedUntil = now, until
	l.evict(now)
}

// evict refuses the waiters whose wait would now outlast their deadline.
func (l *Limiter) evict(now time.Duration) {
	for lane := range Lane(laneCount) {
		index := 0
		for w := range l.queues[lane].all() {
			at := l.predict(now, lane, index)
			if at < w.deadline {
				index++
				continue
			}
			l.unqueue(w)
			w.refused = &Refused{Wait: at - now}
			close(w.ready)
		}
	}
}
