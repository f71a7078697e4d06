package prepaidredis

import (
	"math"
	"time"

	"github.com/cardprograms/prepaid"
)

// report is what an exchange sends to Redis.
type report struct {
	seq   uint64
	at    time.Duration
	held  int
	need  [laneCount]int
	extra int
	pause time.Duration
	known bool
}

// response is what Redis returns.
type response struct {
	granted  int
	give     int // of what was reported as held
	allot    int // what this replica may own in the end
	replicas int
	paused   time.Duration
	pauses   uint64
	opens    time.Duration // until when nothing is granted
}

// report begins an exchange. What this replica does not need is given away first: it reports everything that it owns.
// While Redis is unreachable it keeps its slots, since nobody would get them.
func (l *slots) report() report {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	l.asked++
	r := report{seq: l.asked, at: now, known: l.leaseEnd > 0}
	total := 0
	for queue := range l.queues {
		r.need[queue] = l.busy[queue] + l.queues[queue].n
		total += r.need[queue]
	}
	if queue := l.backlog(); queue < laneCount { // it will use the free ones as well, at its pace
		r.need[queue] += l.free
		total += l.free
	}
	stock := 0 // for calls that arrive before the next exchange
	if total > 0 {
		stock = max(1, l.size/50, total/8)
	}
	wanted := max(total+stock, l.floor)
	if surplus := min(l.free, l.held-wanted); surplus > 0 && !l.alone(now) && l.growAt == noDeadline {
		l.free -= surplus
		l.held -= surplus
	}
	r.held = l.held
	r.extra = min(stock, max(0, wanted-l.held))
	if l.mustReport {
		r.pause = l.pausedUntil - now
	}
	return r
}

// finish ends a successful exchange. The lease counts from its beginning, because Redis cannot have known of it earlier.
func (l *slots) finish(r report, a response) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	if a.granted < 0 { // response to a repetition of the command; the first was lost
		return
	}
	if l.held > r.held { // it has grown meanwhile, which Redis must learn first
		a.granted = 0
	}
	l.leaseEnd, l.growAt, l.learnt = r.at+l.lease, noDeadline, a.replicas
	l.held += a.granted
	l.free += a.granted
	l.limit = l.size
	after := r.held + a.granted
	if a.give > 0 {
		l.limit = after - a.give
	}
	l.full = laneCount
	for lane := laneCount - 1; lane >= 0; lane-- {
		sum := 0
		for _, n := range r.need[:lane+1] {
			sum += n
		}
		if after < sum {
			l.full = lane
		}
	}
	l.scarce = l.full < laneCount || l.backlog() < laneCount
	switch {
	case a.opens > 0:
		l.more = promise{n: l.size, by: now + a.opens}
	case a.allot > after:
		l.more = promise{n: a.allot - after, by: now + l.window, spread: l.window}
	default:
		l.more = promise{}
	}
	if r.pause > 0 && l.pausedUntil <= r.at+r.pause {
		l.mustReport = false
	}
	l.heard(now, a.paused, a.pauses)
	now = l.advance()
	l.dispatch(now)
	l.evict(now, r.seq)
}

// fail ends a failed exchange. The replica continues with what it owns.
func (l *slots) fail(r report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	if l.growAt == noDeadline {
		l.growAt = r.at + l.gone
	}
	if l.leaseEnd == 0 && l.held == 0 { // it starts without Redis; the floor is reserved for it
		l.held, l.free = l.floor, l.floor
	}
	l.full, l.scarce, l.more = 0, true, promise{}
	l.dispatch(now)
	l.evict(now, math.MaxUint64)
}

// active reports whether the next exchange is due soon. If not, the next Acquire requests one.
func (l *slots) active() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance()
	used := l.waiting
	for _, n := range l.busy {
		used += n
	}
	l.dozing = used == 0 && !l.mustReport
	return !l.dozing
}

// close refuses all current and future waiters.
func (l *slots) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.disarm()
	for queue := range l.queues {
		for w := range l.queues[queue].all() {
			l.leave(w)
			w.err = prepaid.ErrClosed
			close(w.ready)
		}
	}
}

// inUse is what remains on the account of a replica that leaves.
func (l *slots) inUse() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance()
	return l.held - l.free
}

// owned is what this replica owns.
func (l *slots) owned() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance()
	return l.held
}
