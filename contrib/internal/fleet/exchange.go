package fleet

import (
	"math"
	"time"

	"github.com/cardprograms/prepaid"
)

// report begins an exchange. What this replica does not need is given away first: it reports everything that it owns.
// While the pool is unreachable it keeps its slots, since nobody would get them.
func (l *slots) report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	l.asked++
	r := Report{
		Seq: l.asked, Known: l.leaseEnd > 0 || l.held > l.floor, at: now,
		Allowance: l.size, Replicas: l.replicas, Floor: l.floor, Lease: l.lease, Gone: l.gone,
	}
	total := 0
	for queue := range l.queues {
		r.Need[queue] = l.busy[queue] + l.queues[queue].n
		total += r.Need[queue]
	}
	if queue := l.backlog(); queue < LaneCount { // it will use the free ones as well, at its pace
		r.Need[queue] += l.free
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
	r.Held = l.held
	r.Extra = min(stock, max(0, wanted-l.held))
	if l.mustReport && l.pausedUntil > now {
		r.Pause = (l.pausedUntil - now + time.Millisecond - 1).Truncate(time.Millisecond)
	}
	return r
}

// finish ends a successful exchange. The lease counts from its beginning, because the pool cannot have known of it earlier.
func (l *slots) finish(r Report, a Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	if a.Granted < 0 { // response to a repetition of the command; the first was lost
		return
	}
	if l.held > r.Held { // it has grown meanwhile, which the pool must learn first
		a.Granted = 0
	}
	l.leaseEnd, l.growAt, l.learnt = r.at+l.lease, noDeadline, a.Replicas
	l.held += a.Granted
	l.free += a.Granted
	l.limit = l.size
	after := r.Held + a.Granted
	if a.Give > 0 {
		l.limit = after - a.Give
	}
	l.full = LaneCount
	for lane := LaneCount - 1; lane >= 0; lane-- {
		sum := 0
		for _, n := range r.Need[:lane+1] {
			sum += n
		}
		if after < sum {
			l.full = lane
		}
	}
	l.scarce = l.full < LaneCount || l.backlog() < LaneCount
	switch {
	case a.Opens > 0:
		l.more = promise{n: l.size, by: now + a.Opens}
	case a.Allot > after:
		l.more = promise{n: a.Allot - after, by: now + l.window, spread: l.window}
	default:
		l.more = promise{}
	}
	if r.Pause > 0 && l.pausedUntil <= r.at+r.Pause {
		l.mustReport = false
	}
	l.heard(now, a.Paused, a.Pauses)
	now = l.advance()
	l.dispatch(now)
	l.evict(now, r.Seq)
}

// fail ends a failed exchange. The replica continues with what it owns.
func (l *slots) fail(r Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	if l.growAt == noDeadline {
		l.growAt = r.at + l.gone
	}
	if l.leaseEnd == 0 && l.held == 0 { // it starts without the pool; the floor is reserved for it
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
