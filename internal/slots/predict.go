package slots

import "time"

// earliest returns when a lane gets a slot after ahead others. known is false if that depends on a request in flight, whose
// slot is then assumed to start its rest now, or on slots that have yet to arrive.
func (l *Limiter) earliest(now time.Duration, lane Lane, ahead int) (at time.Duration, known bool) {
	at, known = l.returned(now, ahead+1-l.stock.Free)
	return l.pacedAt(now, lane, ahead, at), known
}

// pacedAt returns at, when there will be a slot, or later if the pace of the lane requires it.
func (l *Limiter) pacedAt(now time.Duration, lane Lane, ahead int, at time.Duration) time.Duration {
	if !l.stock.spaced(lane) {
		return at
	}
	first := at
	if ahead > 0 {
		first, _ = l.returned(now, 1-l.stock.Free)
	}
	first = max(l.stock.next, max(first, l.stock.PausedUntil)-l.stock.slack)
	return max(at, l.stock.PausedUntil, first+time.Duration(ahead)*l.stock.interval)
}

// returned computes when a number of slots will have returned.
func (l *Limiter) returned(now time.Duration, returns int) (at time.Duration, known bool) {
	at, known = now, true
	if busy := l.stock.Held - l.stock.Free; returns > busy {
		// Slots that are used from now on must return too: that takes more rounds of all slots.
		size := max(l.stock.Held, 1)
		rounds := (returns - busy + size - 1) / size
		returns -= rounds * size
		at += time.Duration(rounds) * l.stock.window
		known = false
	}
	switch {
	case returns > len(l.resting):
		at += l.stock.window
		known = false
	case returns > 0:
		at += l.resting[returns-1].until - now
	}
	return at, known
}

// predict computes when the waiter at an index of a lane gets its slot, if no waiter gives up and none arrives in a higher
// lane.
func (l *Limiter) predict(now time.Duration, lane Lane, index int) time.Duration {
	above, top := 0, lane
	for higher := lane - 1; higher >= Token; higher-- {
		if n := l.queues[higher].Len(); n > 0 {
			above += n
			top = higher
		}
	}
	if own := maxPassed*(index+1) - min(l.queues[lane].passed, maxPassed); own < above { // its turn comes before all above
		above, lane = own, top
	}
	ahead := index + above
	lacking := ahead + 1 - l.stock.Free
	at, _ := l.returned(now, lacking)
	if lacking > 0 && l.options.Owner != nil {
		at = min(at, l.options.Owner.Expect(now, &l.stock, lacking))
	}
	return l.pacedAt(now, lane, ahead, at)
}
