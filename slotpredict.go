package prepaid

import "time"

// earliest reckons when the next slot but ahead can be handed out, while keep slots stay free. It is what is
// known now: known is false when it hangs on a request in flight, whose slot is then taken to start its rest now.
func (l *slotLimiter) earliest(now time.Duration, ahead, keep int) (at time.Duration, known bool) {
	at, known = now, true
	if returns := ahead + keep + 1 - l.free; returns > 0 {
		if busy := l.size - l.free; returns > busy {
			// Slots used from now on must come back too: one more round of all that the lane may use.
			usable := l.size - keep
			rounds := (returns - busy + usable - 1) / usable
			returns -= rounds * usable
			at += time.Duration(rounds) * l.window
			known = false
		}
		switch {
		case returns > l.resting.n:
			at += l.window
			known = false
		case returns > 0:
			at += l.resting.get(returns-1) - now
		}
	}
	if l.paced {
		first := max(l.nextPaced, max(now, l.pausedUntil)-l.slack)
		at = max(at, l.pausedUntil, first+time.Duration(ahead)*l.interval)
	}
	return at, known
}

// predict reckons when the waiter at place index of a queue gets its slot, if nobody gives up or comes into a
// higher lane meanwhile.
func (l *slotLimiter) predict(now time.Duration, queue, index int) time.Duration {
	above, top := 0, queue
	for i := queue - 1; i >= 0; i-- {
		if n := l.queues[i].n; n > 0 {
			above += n
			top = i
		}
	}
	keep := l.keep[queue]
	if own := maxPassed*(index+1) - min(l.queues[queue].passed, maxPassed); own < above { // its turn comes first
		above, keep = own, l.keep[top]
	}
	at, _ := l.earliest(now, index+above, keep)
	return at
}
