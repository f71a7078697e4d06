package prepaid

import "time"

// earliest computes when the lane of a queue gets the next slot but ahead. It is what is known now: known is false when
// it depends on a request in flight, whose slot is then taken to start its rest now.
func (l *slotLimiter) earliest(now time.Duration, queue, ahead int) (at time.Duration, known bool) {
	at, known = l.returned(now, ahead+1-l.free)
	if queue < queueCall && !l.paced {
		return at, known
	}
	first := at
	if ahead > 0 {
		first, _ = l.returned(now, 1-l.free)
	}
	first = max(l.next, max(first, l.pausedUntil)-l.slack)
	return max(at, l.pausedUntil, first+time.Duration(ahead)*l.interval), known
}

// returned computes when so many slots will have returned.
func (l *slotLimiter) returned(now time.Duration, returns int) (at time.Duration, known bool) {
	at, known = now, true
	if busy := l.size - l.free; returns > busy {
		// Slots used from now on must return too: one more round of all of them.
		rounds := (returns - busy + l.size - 1) / l.size
		returns -= rounds * l.size
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
	return at, known
}

// predict computes when the waiter at place index of a queue gets its slot, if nobody gives up or arrives in a higher
// lane meanwhile.
func (l *slotLimiter) predict(now time.Duration, queue, index int) time.Duration {
	above, top := 0, queue
	for i := queue - 1; i >= 0; i-- {
		if n := l.queues[i].n; n > 0 {
			above += n
			top = i
		}
	}
	if own := maxPassed*(index+1) - min(l.queues[queue].passed, maxPassed); own < above { // its turn comes first
		above, queue = own, top
	}
	at, _ := l.earliest(now, queue, index+above)
	return at
}
