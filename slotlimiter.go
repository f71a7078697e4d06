package prepaid

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"
)

const (
	// defaultAllowance and defaultWindow are the service's limit per whitelisted address.
	defaultAllowance = 1000
	defaultWindow    = 10 * time.Second
	// defaultMaxPause is the longest Retry-After that pauses the client in full.
	defaultMaxPause = 15 * time.Second

	// pacedShare is the part of the allowance that spaced requests use. Gateways that weigh two windows reject
	// a fully used allowance that arrives with jitter.
	pacedShare = 0.995
	// heldWeight is the number of requests over which the time that they hold their slots is averaged, roughly.
	heldWeight = 64
	// maxPassed is how many slots in a row may pass a waiting lane by.
	maxPassed = 15
	// slotBlock is how many slots are made in one allocation.
	slotBlock = 32

	queueCall  = 2 // from this rank on requests are spaced next to a backlog
	queueCount = 4
)

// queueOf orders the lanes by rank: 0 goes first.
func queueOf(lane Lane) int {
	switch lane {
	case laneToken:
		return 0
	case LaneMoney:
		return 1
	case LaneBulk:
		return 3
	default:
		return queueCall
	}
}

// slotLimiter holds one slot per request that the allowance permits in a window. A slot rests for one window
// after its response headers came, or its attempt failed. No two uses of a slot can then fall into one window of
// the service, fixed or sliding, whatever time the requests spend on the way; a token bucket, or a log of send
// times, cannot promise that.
//
// Slots alone would be used up in a burst and return in a burst one window later, for ever, and whatever arrives in
// between would wait. So calls and bulk are also spaced, as soon as one of them has to wait: at the pace at which all
// slots are used once in the time that each takes to return. What money uses counts, but money itself is not spaced.
// While none of them waits, the pace is saved up, for a burst of the whole allowance after a window without requests.
//
// There is no goroutine: waiters park on channels, and one timer runs only while somebody waits. Every operation
// takes O(1), but for the start of a pause, which looks at each waiter once.
type slotLimiter struct {
	size     int
	window   time.Duration
	least    time.Duration // of interval
	slack    time.Duration // by which a late request may be caught up; under half a percent with pacedShare
	maxPause time.Duration // for one 429
	maxDraw  time.Duration // of a pause that no response named
	start    time.Time     // origin of the limiter's clock

	mu          sync.Mutex
	held        time.Duration // average from taking a slot to its release
	interval    time.Duration // between two spaced requests
	next        time.Duration // when the next spaced request is due; further in the past while pace is saved up
	free        int
	resting     timeRing
	block       []slot // not handed out yet
	queues      [queueCount]waitQueue
	waiting     int           // in all queues
	paced       bool          // after a 429: every lane is spaced, and nothing is saved up
	pausedAt    time.Duration // when the last pause began; -1 before the first
	pausedUntil time.Duration
	timer       *time.Timer
	armed       time.Duration // when timer fires; 0 when stopped
}

// newClientLimiter is the limiter of a client that was given none.
func newClientLimiter(config Config) *slotLimiter {
	l := newSlotLimiter(defaultAllowance, defaultWindow, config.RateShare, config.Retry.MaxRetryAfter)
	l.maxDraw = min(l.maxDraw, config.Retry.MaxWait)
	return l
}

// newSlotLimiter returns a limiter of share times allowance requests per window, at least one. A 429 pauses it
// for at most maxPause. A share outside (0, 1] means 1, and a maxPause not above 0 means 15 s.
func newSlotLimiter(allowance int, window time.Duration, share float64, maxPause time.Duration) *slotLimiter {
	if !(share > 0 && share <= 1) {
		share = 1
	}
	if maxPause <= 0 {
		maxPause = defaultMaxPause
	}
	size := max(1, int(math.Floor(float64(allowance)*share+1e-9))) // a share of 1-0.9 is a tenth
	l := &slotLimiter{
		size:     size,
		window:   window,
		least:    time.Duration(float64(window) / (float64(size) * pacedShare)),
		slack:    window / 500,
		maxPause: maxPause,
		maxDraw:  maxPause,
		start:    time.Now(),
		pausedAt: -1,
		free:     size,
		resting:  timeRing{at: make([]time.Duration, size)},
	}
	l.interval = l.least
	l.next = -l.saved()
	return l
}

// Acquire implements Limiter.
func (l *slotLimiter) Acquire(ctx context.Context, lane Lane) (Slot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	queue := queueOf(lane)
	l.mu.Lock()
	now := l.advance()
	at := l.predict(now, queue, l.queues[queue].n)
	if at <= now && l.waiting == 0 {
		s := l.take(now)
		l.mu.Unlock()
		return s, nil
	}
	w := &waiter{ready: make(chan struct{}), deadline: deadlineOf(ctx, now)}
	if at > now && at >= w.deadline {
		if queue >= queueCall {
			l.space(now)
		}
		l.mu.Unlock()
		return nil, &ThrottledError{Wait: at - now}
	}
	l.queues[queue].push(w)
	l.waiting++
	l.dispatch(now)
	l.mu.Unlock()

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

// advance reads the clock and frees the slots that have rested. The mutex is held here and in all that follows.
func (l *slotLimiter) advance() time.Duration {
	now := time.Since(l.start)
	l.free += l.resting.dropUntil(now)
	if l.queues[queueCall].n > 0 || l.queues[queueCall+1].n > 0 {
		l.space(now)
	}
	return now
}

// space drops the pace that was saved up, but for the slack.
func (l *slotLimiter) space(now time.Duration) { l.next = max(l.next, now-l.slack) }

// saved is how much pace can be saved up: a burst of all slots, or once paced none.
func (l *slotLimiter) saved() time.Duration {
	if l.paced {
		return l.slack
	}
	return time.Duration(l.size) * l.interval
}

// observe adds the time that a request held its slot to the average, and spaces requests as slots return: each after its
// use and a window. A request that holds its slot for more than a window is an exception.
func (l *slotLimiter) observe(held time.Duration) {
	l.held += (min(held, l.window) - l.held) / heldWeight
	l.interval = max(l.least, (l.window+l.held)/time.Duration(l.size))
}

// take hands out a free slot.
func (l *slotLimiter) take(now time.Duration) *slot {
	l.free--
	l.next = max(l.next, now-l.saved()) + l.interval
	if len(l.block) == 0 {
		l.block = make([]slot, slotBlock)
	}
	s := &l.block[0]
	l.block = l.block[1:]
	s.limiter, s.taken = l, now
	return s
}

// dispatch hands out what can be had now and sets the timer for the next.
func (l *slotLimiter) dispatch(now time.Duration) {
	for l.waiting > 0 {
		top := 0
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
		queue := l.turn(top)
		w := l.queues[queue].head
		l.leave(w)
		w.slot = l.take(now)
		close(w.ready)
		l.queues[queue].passed = 0
		for i := queue + 1; i < queueCount; i++ {
			l.queues[i].passed++
		}
	}
	l.disarm()
}

// turn returns whose slot the next one is: top's, the highest lane that waits, unless it has passed another by too
// often. That one then goes at top's pace: at its own it might never go.
func (l *slotLimiter) turn(top int) int {
	for i := top + 1; i < queueCount; i++ {
		if l.queues[i].n > 0 && l.queues[i].passed >= maxPassed {
			return i
		}
	}
	return top
}

// leave takes w out of its queue.
func (l *slotLimiter) leave(w *waiter) {
	w.queue.remove(w)
	l.waiting--
}

// abandon ends the wait of a cancelled caller. A slot that came at the same moment goes to the next.
func (l *slotLimiter) abandon(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	switch {
	case w.queue != nil:
		l.leave(w)
	case w.slot != nil:
		w.slot.taken = released
		l.unuse()
	}
	l.dispatch(now)
}

// unuse frees a slot whose request was not sent.
func (l *slotLimiter) unuse() {
	l.free++
	l.next -= l.interval
}

// arm sets the timer.
func (l *slotLimiter) arm(now, at time.Duration) {
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
func (l *slotLimiter) disarm() {
	if l.armed != 0 {
		l.timer.Stop()
		l.armed = 0
	}
}

// wake is run by the timer. One that comes too late to be stopped does no harm.
func (l *slotLimiter) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = 0
	l.dispatch(l.advance())
}

// slot is one use of a slot. It is never used again, so that a second Release, however late, cannot touch the
// request of another caller; blocks of them keep this cheap.
type slot struct {
	limiter *slotLimiter
	taken   time.Duration // released afterwards
}

// released is the taken of a slot that was given back.
const released time.Duration = -1

// Release implements Slot.
func (s *slot) Release(f Feedback) {
	l := s.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := s.taken
	if taken == released {
		return
	}
	s.taken = released
	now := l.advance()
	if f.NotSent && f.StatusCode == 0 {
		l.unuse()
	} else {
		l.resting.push(now + l.window)
		l.observe(now - taken)
	}
	if f.StatusCode == http.StatusTooManyRequests {
		l.pause(now, f.RetryAfter, taken <= l.pausedAt)
	}
	l.dispatch(now)
}
