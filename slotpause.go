package prepaid

import (
	"math/rand/v2"
	"time"
)

// pause stops every lane: for retryAfter, or, when the answer named none, for between a quarter and the whole of
// a window, at random. Answers to requests older than the last pause are its echo: without a Retry-After they
// change nothing, else each would draw again and the longest draw would win.
func (l *slotLimiter) pause(now, retryAfter time.Duration, echo bool) {
	if !l.paced {
		l.paced, l.next = true, now
	}
	switch {
	case retryAfter > 0:
	case echo:
		return
	default:
		retryAfter = min(l.window/4+rand.N(l.window-l.window/4), l.maxDraw)
	}
	until := now + min(retryAfter, l.maxPause)
	if until <= l.pausedUntil {
		return
	}
	l.pausedAt, l.pausedUntil = now, until
	l.evict(now)
}

// evict refuses the waiters whose wait has come to outlast their deadline, so that they need not sleep it out.
func (l *slotLimiter) evict(now time.Duration) {
	for queue := range l.queues {
		index := 0
		for w := range l.queues[queue].all() {
			at := l.predict(now, queue, index)
			if at < w.deadline {
				index++
				continue
			}
			l.leave(w)
			w.err = &ThrottledError{Wait: at - now}
			close(w.ready)
		}
	}
}
