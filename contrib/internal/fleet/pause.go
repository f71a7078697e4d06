package fleet

import (
	"math"
	"math/rand/v2"
	"time"
)

// pause stops every lane after a 429 and reports whether the others must be informed: for retryAfter or, if the response
// had none, for a random time between a quarter of a window and a whole one. A response to a request older than the last
// pause is its echo: without a Retry-After it changes nothing.
func (l *slots) pause(now, retryAfter time.Duration, echo bool) bool {
	switch {
	case retryAfter > 0:
	case echo:
		return false
	default:
		retryAfter = l.window/4 + rand.N(l.window-l.window/4)
	}
	if !l.stop(now, min(retryAfter, l.maxPause)) {
		return false
	}
	l.mustReport = true
	return true
}

// heard adopts a pause that another replica started.
func (l *slots) heard(now, left time.Duration, pauses uint64) {
	if pauses > l.shared {
		l.shared = pauses
		l.pace(now)
	}
	if left > 0 && now+left > l.pausedUntil+l.window/100 { // less is the duration of the exchange
		l.stop(now, left)
	}
}

// stop pauses until a time, unless the pause already lasts that long.
func (l *slots) stop(now, wait time.Duration) bool {
	l.pace(now)
	until := now + wait
	if until <= l.pausedUntil {
		return false
	}
	l.pausedUntil = until
	l.pauses++
	l.evict(now, math.MaxUint64)
	return true
}

// pace spaces requests from now on.
func (l *slots) pace(now time.Duration) {
	if !l.paced {
		l.paced, l.next = true, now
	}
}
