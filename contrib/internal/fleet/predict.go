package fleet

import (
	"time"

	"github.com/cardprograms/prepaid"
)

// earliest returns when the lane of a queue gets its next slot after ahead others. It considers this replica's own slots;
// known is false if it depends on a request in flight, or on slots that have not arrived yet.
func (l *slots) earliest(now time.Duration, queue, ahead int) (at time.Duration, known bool) {
	at, known = l.returned(now, ahead+1-l.free)
	return l.pacedAt(now, queue, ahead, at), known
}

// pacedAt returns at, when the slot will be there, or later if the pace of the queue requires it.
func (l *slots) pacedAt(now time.Duration, queue, ahead int, at time.Duration) time.Duration {
	if !l.spaced(queue) {
		return at
	}
	first := at
	if ahead > 0 {
		first, _ = l.returned(now, 1-l.free)
	}
	first = max(l.next, max(first, l.pausedUntil)-l.slack())
	return max(at, l.pausedUntil, first+time.Duration(ahead)*l.interval())
}

// returned computes when so many slots will have come back. A slot in flight is assumed to start its rest now, and slots
// that are reused take another window.
func (l *slots) returned(now time.Duration, returns int) (at time.Duration, known bool) {
	at, known = now, true
	usable := max(l.held, 1)
	if own := l.held - l.free; returns > own {
		rounds := (returns - own + usable - 1) / usable
		returns -= rounds * usable
		at += time.Duration(rounds) * l.window
		known = false
	}
	switch {
	case returns > l.resting.len():
		at += l.window
		known = false
	case returns > 0:
		at += l.resting.get(returns-1).until - now
	}
	return at, known
}

// expect considers what others may hand over: the earliest time for so many slots that are not here. It is never now, however
// late the promise is: what was promised must arrive before it can be used.
func (l *slots) expect(now time.Duration, lacking int) time.Duration {
	if l.alone(now) {
		if share := l.share(); now < l.growAt && lacking <= share-l.held {
			return l.growAt
		}
		return noDeadline
	}
	if l.more.n < lacking {
		return noDeadline
	}
	return max(now+1, l.more.by-l.more.spread+l.more.spread*time.Duration(lacking)/time.Duration(l.more.n))
}

// predict computes when the waiter at place index of a queue gets its slot, if nobody gives up or joins a higher lane
// meanwhile.
func (l *slots) predict(now time.Duration, queue, index int) time.Duration {
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
	ahead := index + above
	at, _ := l.returned(now, ahead+1-l.free)
	if lacking := ahead + 1 - l.free; lacking > 0 {
		at = min(at, l.expect(now, lacking))
	}
	return l.pacedAt(now, queue, ahead, at)
}

// evict refuses the waiters whose wait would outlast their deadline, if they arrived before exchange number asked began:
// for younger ones, the pool has not been asked yet.
func (l *slots) evict(now time.Duration, asked uint64) {
	for queue := range l.queues {
		index := 0
		for w := range l.queues[queue].all() {
			at := l.predict(now, queue, index)
			if at < w.deadline || w.asked >= asked {
				index++
				continue
			}
			l.leave(w)
			w.err = &prepaid.ThrottledError{Wait: at - now}
			close(w.ready)
		}
	}
}
