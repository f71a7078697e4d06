package slots

import "time"

// earliest returns when a lane gets a slot after ahead others. known is false if that depends on a request in flight, whose
// slot is then assumed to start its rest now.
func (l *Limiter) earliest(now time.Duration, lane Lane, ahead int) (at time.Duration, known bool) {
	at, known = l.returned(now, ahead+1-l.free)
	if lane < Call && !l.paced {
		return at, known
	}
	first := at
	if ahead > 0 {
		first, _ = l.returned(now, 1-l.free)
	}
	first = max(l.next, max(first, l.pausedUntil)-l.slack)
	return max(at, l.pausedUntil, first+time.Duration(ahead)*l.interval), known
}

// returned computes when a number of slots will have returned.
func (l *Limiter) returned(now time.Duration, returns int) (at time.Duration, known bool) {
	at, known = now, true
	if busy := l.size - l.free; returns > busy {
		// Slots that are used from now on must return too: that takes more rounds of all slots.
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

// predict computes when the waiter at an index of a lane gets its slot, if no waiter gives up and none arrives in a higher
// lane.
func (l *Limiter) predict(now time.Duration, lane Lane, index int) time.Duration {
	above, top := 0, lane
	for higher := lane - 1; higher >= Token; higher-- {
		if n := l.queues[higher].n; n > 0 {
			above += n
			top = higher
		}
	}
	if own := maxPassed*(index+1) - min(l.queues[lane].passed, maxPassed); own < above { // its turn comes before all above
		above, lane = own, top
	}
	at, _ := l.earliest(now, lane, index+above)
	return at
}
