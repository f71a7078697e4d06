// Package slots limits the rate of requests to an allowance per window, in lanes of different priority.
//
// A [Limiter] has one slot per request that the allowance permits in a window. A slot rests for one window after its
// response headers arrived or its attempt failed. So no two uses of a slot fall into the same window of the service,
// fixed or sliding, however long the requests take. A token bucket, or a log of send times, cannot promise that.
//
// Slots alone would be used up in a burst and return in a burst one window later, again and again, and requests in between
// would wait. So [Call] and [Bulk] are also spaced, as soon as one of them must wait: at the rate at which all slots are used
// once in the time that each takes to return. [Money] counts, but is not spaced itself. While none of them waits, unused pace
// is saved, up to a burst of the whole allowance after a window without requests.
//
// A 429 pauses all lanes. From then on all of them are spaced, and nothing is saved.
//
// The package promises:
//   - each lane is first in, first out; higher lanes go first; no lane starves: after 15 slots in a row for lanes above
//     it, a lane gets the next one;
//   - a wait that would outlast the deadline of its context does not start, and the end of a context ends its wait at once;
//   - no slot is lost or used twice, even after cancellation or a second release;
//   - no goroutines: callers wait on channels, and one timer runs only while there are waiters;
//   - every operation takes O(1), except the start of a pause, which examines each waiter once.
//
// It does not know what was used before the process started, or by other processes with the same address.
package slots

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

const (
	// spacedShare is the part of the allowance that spaced requests use. Gateways that average two windows reject
	// a fully used allowance that arrives with jitter.
	spacedShare = 0.995
	// meanUseWeight is roughly the number of requests over which their times of use are averaged.
	meanUseWeight = 64
	// maxPassed is how many slots in a row may go to higher lanes while a lane waits.
	maxPassed = 15
	// slotBlock is how many slots are allocated together.
	slotBlock = 32
)

// Lane is a queue of the limiter. Each lane goes before those that follow it here.
type Lane int

const (
	// Token is for requests that every other lane depends on.
	Token Lane = iota
	// Money is for requests that should not wait.
	Money
	// Call is for other requests. This lane and the following are spaced while one of them waits.
	Call
	// Bulk is for requests that can wait.
	Bulk

	laneCount = int(Bulk) + 1
)

// Options are the settings of a [Limiter]. All durations are above zero.
type Options struct {
	// Allowance is the number of requests that the service admits in a Window.
	Allowance int
	// Window is the time for which an allowance counts.
	Window time.Duration
	// Share is the part of the allowance to use, above 0 and at most 1. At least one slot remains.
	Share float64
	// MaxPause limits the pause after a 429.
	MaxPause time.Duration
	// MaxRandomPause limits it further if the 429 had no Retry-After.
	MaxRandomPause time.Duration
}

// Limiter admits requests. It is safe for concurrent use.
type Limiter struct {
	size           int
	window         time.Duration
	minInterval    time.Duration
	slack          time.Duration // how much a late request may catch up; less than spacedShare leaves free
	maxPause       time.Duration
	maxRandomPause time.Duration
	start          time.Time // when the limiter's clock is 0

	mu          sync.Mutex
	meanUse     time.Duration // mean time from taking a slot to its release
	interval    time.Duration // between two spaced requests
	next        time.Duration // when the next spaced request is due; in the past while pace is saved
	free        int
	resting     timeRing
	block       []Slot // allocated, not yet used
	queues      [laneCount]waitQueue
	waiting     int           // waiters in all queues
	paced       bool          // after a 429: every lane is spaced, and nothing is saved
	pausedAt    time.Duration // when the last pause began; -1 before the first
	pausedUntil time.Duration
	timer       *time.Timer
	armed       time.Duration // when timer fires; 0 if stopped
}

// New returns a limiter with all slots free.
func New(o Options) *Limiter {
	size := max(1, int(math.Floor(float64(o.Allowance)*o.Share+1e-9))) // a share of 1-0.9 is a tenth
	l := &Limiter{
		size:           size,
		window:         o.Window,
		minInterval:    time.Duration(float64(o.Window) / (float64(size) * spacedShare)),
		slack:          o.Window / 500,
		maxPause:       o.MaxPause,
		maxRandomPause: o.MaxRandomPause,
		start:          time.Now(),
		pausedAt:       -1,
		free:           size,
		resting:        timeRing{at: make([]time.Duration, size)},
	}
	l.interval = l.minInterval
	l.next = -l.saved()
	return l
}

// Refused means that the wait for a slot would outlast the deadline of its context.
type Refused struct {
	// Wait is how long the wait would be.
	Wait time.Duration
}

func (r *Refused) Error() string {
	return fmt.Sprintf("a slot needs %s, longer than the deadline", r.Wait)
}

// Acquire waits for a slot. It returns ctx.Err() as soon as ctx is done. If the wait would outlast the deadline of ctx, it
// returns a [*Refused] at once.
func (l *Limiter) Acquire(ctx context.Context, lane Lane) (*Slot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	now := l.advance()
	at := l.predict(now, lane, l.queues[lane].n)
	if at <= now && l.waiting == 0 {
		s := l.take(now)
		l.mu.Unlock()
		return s, nil
	}
	w := &waiter{ready: make(chan struct{}), deadline: deadlineOf(ctx, now)}
	if at > now && at >= w.deadline {
		if lane >= Call {
			l.space(now)
		}
		l.mu.Unlock()
		return nil, &Refused{Wait: at - now}
	}
	l.queues[lane].push(w)
	l.waiting++
	l.dispatch(now)
	l.mu.Unlock()

	select {
	case <-w.ready:
		if w.refused != nil {
			return nil, w.refused
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

// advance reads the clock and frees the slots that have rested. The caller holds mu, here and in all methods that follow.
func (l *Limiter) advance() time.Duration {
	now := time.Since(l.start)
	l.free += l.resting.dropUntil(now)
	if l.queues[Call].n > 0 || l.queues[Bulk].n > 0 {
		l.space(now)
	}
	return now
}

// space drops the saved pace, except the slack.
func (l *Limiter) space(now time.Duration) { l.next = max(l.next, now-l.slack) }

// saved returns how much pace can be saved: a burst of all slots or, once paced, only the slack.
func (l *Limiter) saved() time.Duration {
	if l.paced {
		return l.slack
	}
	return time.Duration(l.size) * l.interval
}

// observe updates the mean time of use and the interval: requests are spaced as slots return, each after its use and a window.
// A use of more than a window is exceptional and counts as one window.
func (l *Limiter) observe(use time.Duration) {
	l.meanUse += (min(use, l.window) - l.meanUse) / meanUseWeight
	l.interval = max(l.minInterval, (l.window+l.meanUse)/time.Duration(l.size))
}

// take takes a free slot.
func (l *Limiter) take(now time.Duration) *Slot {
	l.free--
	l.next = max(l.next, now-l.saved()) + l.interval
	if len(l.block) == 0 {
		l.block = make([]Slot, slotBlock)
	}
	s := &l.block[0]
	l.block = l.block[1:]
	s.limiter, s.taken = l, now
	return s
}

// refund frees a slot whose request was not sent.
func (l *Limiter) refund() {
	l.free++
	l.next -= l.interval
}

// dispatch gives waiters the slots that are available now and sets the timer for the next one.
func (l *Limiter) dispatch(now time.Duration) {
	for l.waiting > 0 {
		top := Token
		for l.queues[top].n == 0 {
			top++
		}
		at, known := l.earliest(now, top, 0)
		if !known { // until a request in flight is released
			break
		}
		if at > now {
			l.arm(now, at)
			return
		}
		lane := l.nextLane(top)
		w := l.queues[lane].head
		l.unqueue(w)
		w.slot = l.take(now)
		close(w.ready)
		l.queues[lane].passed = 0
		for i := int(lane) + 1; i < laneCount; i++ {
			l.queues[i].passed++
		}
	}
	l.disarm()
}

// nextLane returns the lane that gets the next slot: top, the highest waiting lane, unless another lane was passed too often.
// That one then gets it at top's pace, because at its own it might never get one.
func (l *Limiter) nextLane(top Lane) Lane {
	for lane := top + 1; int(lane) < laneCount; lane++ {
		if l.queues[lane].n > 0 && l.queues[lane].passed >= maxPassed {
			return lane
		}
	}
	return top
}

// unqueue removes w from its queue.
func (l *Limiter) unqueue(w *waiter) {
	w.queue.remove(w)
	l.waiting--
}

// abandon ends the wait of a cancelled caller. If it got a slot at the same moment, the next waiter gets it.
func (l *Limiter) abandon(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	switch {
	case w.queue != nil:
		l.unqueue(w)
	case w.slot != nil:
		w.slot.taken = released
		l.refund()
	}
	l.dispatch(now)
}

// arm sets the timer.
func (l *Limiter) arm(now, at time.Duration) {
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

// disarm stops the timer.
func (l *Limiter) disarm() {
	if l.armed != 0 {
		l.timer.Stop()
		l.armed = 0
	}
}

// wake is called by the timer. An extra call is harmless.
func (l *Limiter) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = 0
	l.dispatch(l.advance())
}
