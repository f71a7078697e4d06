package prepaidredis

import (
	"math"
	"time"

	"github.com/cardprograms/prepaid"
)

// report is what an exchange tells Redis.
type report struct {
	seq   uint64
	at    time.Duration
	held  int
	need  [laneCount]int
	extra int
	pause time.Duration
	known bool
}

// answer is what Redis tells.
type answer struct {
	granted  int
	give     int // of what was reported as held
	allot    int // what this replica may hold in the end
	replicas int
	paused   time.Duration
	pauses   uint64
	opens    time.Duration // until when nothing is granted
}

// report begins an exchange. What this replica has no use for is given away first: what is reported is all that it owns.
// While Redis is away it is kept, since nobody would get it.
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
	if queue := l.backlog(); queue < laneCount { // it will use what is free as well, at its pace
		r.need[queue] += l.free
		total += l.free
	}
	stock := 0 // for calls that come before the next exchange
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
	if l.tell {
		r.pause = l.pausedUntil - now
	}
	return r
}

// settle ends an exchange that worked. The lease counts from when it began, at which Redis cannot have known of it yet.
func (l *slots) settle(r report, a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	if a.granted < 0 { // an answer to a repetition of the command; the first was lost
		return
	}
	if l.held > r.held { // it has grown meanwhile, which Redis has to hear first
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
		l.tell = false
	}
	l.heard(now, a.paused, a.pauses)
	now = l.advance()
	l.dispatch(now)
	l.evict(now, r.seq)
}

// fail ends an exchange that did not work. What this replica owns it goes on with.
func (l *slots) fail(r report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	if l.growAt == noDeadline {
		l.growAt = r.at + l.gone
	}
	if l.leaseEnd == 0 && l.held == 0 { // it starts without Redis; the floor has been set aside for it
		l.held, l.free = l.floor, l.floor
	}
	l.full, l.scarce, l.more = 0, true, promise{}
	l.dispatch(now)
	l.evict(now, math.MaxUint64)
}

// active says whether the next exchange is due soon. If not, the next Acquire asks for one.
func (l *slots) active() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.advance()
	used := l.waiting
	for _, n := range l.busy {
		used += n
	}
	l.dozing = used == 0 && !l.tell
	return !l.dozing
}

// close refuses all that wait and all that come.
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

// inUse is what stays on the account of a replica that leaves.
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
