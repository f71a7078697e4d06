package fleet

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
)

const (
	// pacedShare is the fraction of the slots that spaced requests use, as in the limiter of one process.
	pacedShare = 0.995
	// usedWeight is roughly the number of requests over which the time that they hold their slots is averaged.
	usedWeight = 64
	// floorParts is the fraction of its share that a replica keeps whatever the others need.
	floorParts = 10
	// strangers is how many replicas are assumed if no number is configured and the pool has not been reached yet.
	strangers = 10
)

// slots are the slots that this replica owns. A slot rests for one window after the response headers arrived, or the
// attempt failed; only then is it reused, here or, if the pool grants it to another, there. Since no two replicas own one
// slot, no two uses of it fall into one window of the service.
//
// Beyond its lease a replica owns at most its equal share, and no less once the leases of all others must have ended too.
// This is computed from the clock alone, so nothing that the pool or the network does can delay it.
//
// When the pool has no more slots for calls or bulk, they are spaced as in the limiter of one process, at the pace at which
// all slots of this replica are used once in the time that each takes to return. Otherwise slots used in a burst would
// return in a burst one window later, for ever, and money would wait in between.
type slots struct {
	size     int
	window   time.Duration
	lease    time.Duration
	gone     time.Duration // after its last exchange, until a replica owns at most its share and all it used has rested
	replicas int           // as configured; 0 to learn it
	floor    int
	maxPause time.Duration
	start    time.Time // origin of the clock
	kick     func()    // requests an exchange; does not block

	mu       sync.Mutex
	held     int // free, in use and resting
	limit    int // owned slots beyond it are given away once rested
	free     int
	busy     [LaneCount]int // in use or resting, by the lane of the use
	resting  restQueue
	queues   [LaneCount]waitQueue
	waiting  int // in all queues
	timer    *time.Timer
	armed    time.Duration // when timer fires; 0 when stopped
	closed   bool
	leaseEnd time.Duration // 0 when the pool has not been reached
	growAt   time.Duration // when the share is this replica's own, without the pool
	more     promise
	full     int    // the pool had no more for lanes from this rank on
	scarce   bool   // this has been so since calls or bulk began to wait; they are spaced
	asked    uint64 // exchanges begun
	dozing   bool   // no exchange is due soon
	learnt   int    // replicas, as last reported by the pool

	used        time.Duration // average from taking a slot to its release
	next        time.Duration // when the next spaced request is due; further in the past while pace is saved up
	paced       bool          // after a 429: every lane is spaced, and nothing is saved up
	pausedUntil time.Duration
	pauses      uint64 // of this replica and others
	shared      uint64 // pauses that the pool knows of
	mustReport  bool   // the pool must learn of the pause
}

// promise is what may come from others: n slots, one after the other until the time by, or all then.
type promise struct {
	n      int
	by     time.Duration
	spread time.Duration
}

// share is what each replica may use while the pool is unreachable.
func (l *slots) share() int {
	n := l.replicas
	if n == 0 {
		n = l.learnt
	}
	if n == 0 {
		n = strangers
	}
	return max(1, l.size/n)
}

// alone reports whether the lease has ended, so that the share applies.
func (l *slots) alone(now time.Duration) bool { return now >= l.leaseEnd }

// acquire implements Acquire.
func (l *slots) acquire(ctx context.Context, lane prepaid.Lane) (prepaid.Slot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	queue := queueOf(lane)
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, prepaid.ErrClosed
	}
	now := l.advance()
	woken := l.dozing
	l.dozing = false
	at := l.predict(now, queue, l.queues[queue].n)
	if at <= now && l.waiting == 0 {
		s := l.take(now, queue)
		l.mu.Unlock()
		if woken {
			l.kick()
		}
		return s, nil
	}
	w := &waiter{ready: make(chan struct{}), deadline: deadlineOf(ctx, now), asked: l.asked}
	ask := at > now && queue < l.full
	if !ask && at > now && at >= w.deadline {
		if queue >= laneCall {
			l.space(now)
		}
		l.mu.Unlock()
		return nil, &prepaid.ThrottledError{Wait: at - now}
	}
	l.queues[queue].push(w)
	l.waiting++
	l.dispatch(now)
	l.mu.Unlock()
	if ask || woken {
		l.kick()
	}
	select {
	case <-w.ready:
		if w.err != nil {
			return nil, w.err
		}
		return w.slot, nil
	case <-ctx.Done():
		l.abandon(w)
		return nil, ctx.Err()
	}
}

// deadlineOf converts the deadline of ctx to the limiter's clock.
func deadlineOf(ctx context.Context, now time.Duration) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return noDeadline
	}
	left := time.Until(deadline)
	if left >= noDeadline-now {
		return noDeadline
	}
	return now + left
}

// advance reads the clock, frees what has rested and applies the end of a lease. The mutex is held here and in everything
// below.
func (l *slots) advance() time.Duration {
	now := time.Since(l.start)
	for l.resting.len() > 0 && l.resting.get(0).until <= now {
		l.busy[l.resting.pop().queue]--
		l.free++
	}
	if l.alone(now) {
		share := l.share()
		l.limit = share
		if l.growAt == noDeadline && now >= l.leaseEnd-l.lease+l.gone { // the process was suspended; others own its slots
			l.limit = 0
		}
		if now >= l.growAt && l.held < share {
			l.free += share - l.held
			l.held = share
		}
	}
	if surplus := min(l.free, l.held-l.limit); surplus > 0 {
		l.free -= surplus
		l.held -= surplus
	}
	if l.backlog() < LaneCount {
		l.space(now)
	}
	return now
}

// spaced reports whether the requests of a queue are spaced.
func (l *slots) spaced(queue int) bool { return l.paced || l.scarce && queue >= laneCall }

// backlog returns the highest queue with waiters that are spaced next to money, or LaneCount.
func (l *slots) backlog() int {
	for queue := laneCall; l.scarce && queue < LaneCount; queue++ {
		if l.queues[queue].n > 0 {
			return queue
		}
	}
	return LaneCount
}

// space drops the saved-up pace, except for the slack.
func (l *slots) space(now time.Duration) { l.next = max(l.next, now-l.slack()) }

// take takes a free slot.
func (l *slots) take(now time.Duration, queue int) *slot {
	l.free--
	l.busy[queue]++
	switch interval := l.interval(); {
	case l.paced:
		l.next = max(l.next, now-l.slack()) + interval
	case l.scarce:
		l.next = max(l.next, now-time.Duration(l.held)*interval) + interval
	default: // the number of slots is still growing
		l.next = now
	}
	return &slot{of: l, queue: queue, taken: now, pauses: l.pauses}
}

// interval is the time between two spaced requests.
func (l *slots) interval() time.Duration {
	n := max(min(l.held, l.limit), 1)
	return max(time.Duration(float64(l.window)/(float64(n)*pacedShare)), (l.window+l.used)/time.Duration(n))
}

// slack is how far a late request may be compensated.
func (l *slots) slack() time.Duration { return l.window / 500 }

// dispatch hands out all available slots and sets the timer for the next.
func (l *slots) dispatch(now time.Duration) {
	for l.waiting > 0 {
		top := 0
		for l.queues[top].n == 0 {
			top++
		}
		at, known := l.earliest(now, top, 0)
		if !known {
			break
		}
		if at > now {
			l.arm(now, at)
			return
		}
		queue := l.turn(top)
		w := l.queues[queue].head
		l.leave(w)
		w.slot = l.take(now, queue)
		close(w.ready)
		l.queues[queue].passed = 0
		for i := queue + 1; i < LaneCount; i++ {
			l.queues[i].passed++
		}
	}
	l.disarm()
}

// turn returns the queue that gets the next slot: top, the highest waiting lane, unless it has passed over another too
// often.
func (l *slots) turn(top int) int {
	for i := top + 1; i < LaneCount; i++ {
		if l.queues[i].n > 0 && l.queues[i].passed >= maxPassed {
			return i
		}
	}
	return top
}

func (l *slots) leave(w *waiter) {
	w.queue.remove(w)
	l.waiting--
}

// abandon ends the wait of a cancelled caller. A slot that arrived at the same moment goes to the next.
func (l *slots) abandon(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	switch {
	case w.queue != nil:
		l.leave(w)
	case w.slot != nil:
		w.slot.released = true
		l.refund(w.slot.queue)
	}
	l.dispatch(now)
}

// refund frees a slot whose request was not sent.
func (l *slots) refund(queue int) {
	l.busy[queue]--
	l.free++
	l.next -= l.interval()
}

func (l *slots) arm(now, at time.Duration) {
	if l.armed == at {
		return
	}
	l.armed = at
	if l.timer == nil {
		l.timer = time.AfterFunc(at-now, l.wake)
		return
	}
	l.timer.Reset(at - now)
}

func (l *slots) disarm() {
	if l.armed != 0 {
		l.timer.Stop()
		l.armed = 0
	}
}

// wake is called by the timer. If it is called too late to be stopped, it does no harm.
func (l *slots) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = 0
	l.dispatch(l.advance())
}

// slot is one use of a slot.
type slot struct {
	of       *slots
	queue    int
	taken    time.Duration
	pauses   uint64 // when it was handed out
	released bool
}

// Release implements prepaid.Slot.
func (s *slot) Release(f prepaid.Feedback) {
	l := s.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.released {
		return
	}
	s.released = true
	now := l.advance()
	if f.NotSent && f.StatusCode == 0 {
		l.refund(s.queue)
	} else {
		l.resting.push(rest{until: now + l.window, queue: s.queue})
		l.used += (min(now-s.taken, l.window) - l.used) / usedWeight
	}
	if f.StatusCode == http.StatusTooManyRequests && l.pause(now, f.RetryAfter, s.pauses != l.pauses) {
		l.kick()
	}
	l.dispatch(now)
}
