// Package slots limits the rate of requests to an allowance per window, in lanes of different priority.
//
// A [Limiter] has one slot per request that the allowance permits in a window. A slot rests for one window after its
// response headers arrived or its attempt failed. So no two uses of a slot fall into the same window of the service,
// fixed or sliding, however long the requests take. A token bucket, or a log of send times, cannot promise that.
//
// With slots alone, a burst would use all slots. One window later, they would return in a burst, and so on: requests in between
// would wait. So the lanes Call and Bulk are also spaced as soon as a request in one of them must wait. Their rate uses all slots
// once in the time that one slot takes to return. Requests in the lane Money count towards this rate, but are not spaced. While
// Call and Bulk do not wait, unused pace is saved: a window without requests saves a burst of the whole allowance.
//
// A 429 pauses all lanes. From then on all of them are spaced, and no pace is saved.
//
// The package promises:
//   - each lane is first in, first out; higher lanes go first; no lane starves: after 15 slots in a row went to lanes
//     above a waiting lane, that lane gets the next slot;
//   - a wait that would outlast the deadline of its context does not start, and the end of a context ends its wait at once;
//   - no slot is lost or used twice, even after cancellation or a second release;
//   - no goroutines: callers wait on channels, and one timer runs only while there are waiters;
//   - every operation takes O(1), except the start of a pause and [Limiter.Update], which examine each waiter once.
//
// The package does not know the slots used before the process started. An [Owner] shares slots with other processes.
package slots

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/ratelimit"
)

const (
	// maxPassed is how many slots in a row may go to higher lanes while a lane waits.
	maxPassed = 15
	// slotBlock is how many slots are allocated together.
	slotBlock = 32

	// Token is the lane of token requests: the requests of all other lanes need a token.
	Token ratelimit.Lane = 0
	// LaneCount is how many lanes there are.
	LaneCount = ratelimit.Bulk + 1
)

// Options are the settings of a [Limiter]. All durations are above zero.
type Options struct {
	// Owner, if not nil, changes the number of slots, which is 0 at first. Without an Owner, the number is always Share of Allowance.
	Owner Owner
	// Allowance is the number of requests that the service admits in a Window.
	Allowance int
	// Window is the time for which an allowance counts.
	Window time.Duration
	// Share is the part of the allowance to use, above 0 and at most 1. At least one slot remains.
	Share float64
	// MaxPause limits the pause after a 429.
	MaxPause time.Duration
	// MaxRandomPause limits that pause if the 429 had no Retry-After.
	MaxRandomPause time.Duration
}

// Limiter admits requests. It is safe for concurrent use.
type Limiter struct {
	options Options
	start   time.Time // when the limiter's clock is 0

	mu      sync.Mutex
	stock   Stock
	resting []rest // in the order of their ends: every slot rests for the same time
	block   []Slot // allocated, not yet used
	queues  [LaneCount]waitQueue
	closed  error // the error of all calls after Close
	timer   *time.Timer
	armed   time.Duration // when timer fires; 0 if stopped
}

// New returns a limiter with all slots free.
func New(o Options) *Limiter {
	l := &Limiter{options: o, start: time.Now(), stock: Stock{
		window: o.Window, spacedWindow: time.Duration(float64(o.Window) / spacedShare), slack: o.Window / 1000, pausedAt: -1,
	}}
	l.timer = time.AfterFunc(math.MaxInt64, l.wake)
	l.timer.Stop()
	for lane := range LaneCount {
		l.queues[lane].limiter, l.queues[lane].lane = l, lane
	}
	if o.Owner == nil {
		l.stock.Limit = max(1, int(math.Floor(float64(o.Allowance)*o.Share+1e-9))) // 1e-9: a share of 1-0.9 must count as a tenth
		l.stock.Scarce = true
		l.stock.Add(l.stock.Limit)
	}
	l.stock.adjust()
	l.stock.next = -l.stock.saved()
	return l
}

// Acquire implements [ratelimit.Limiter]. An unknown lane means Call.
func (l *Limiter) Acquire(ctx context.Context, lane ratelimit.Lane) (ratelimit.Slot, error) {
	if lane < Token || lane > ratelimit.Bulk {
		lane = ratelimit.Call
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	if err := l.closed; err != nil {
		l.mu.Unlock()
		return nil, err
	}
	now := l.advance()
	at := l.predict(now, lane, l.queues[lane].Len())
	asks := l.options.Owner != nil && l.options.Owner.Arrive(lane, at > now)
	if at <= now && l.waiting(Token) == LaneCount {
		s := l.take(now, lane)
		l.mu.Unlock()
		return s, nil
	}
	w := &waiter{ready: make(chan struct{}), deadline: noDeadline, exchange: l.stock.Exchange}
	if deadline, ok := ctx.Deadline(); ok {
		w.deadline = now + min(time.Until(deadline), noDeadline-now)
	}
	if at > now && at >= w.deadline && !asks {
		if lane >= ratelimit.Call {
			l.stock.Space(now)
		}
		l.mu.Unlock()
		return nil, &ratelimit.RefusedError{Wait: at - now}
	}
	l.queues[lane].push(w)
	l.stock.Need[lane]++
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

// advance reads the clock and frees the slots that have rested. The caller holds mu, as for all methods that do not lock it.
func (l *Limiter) advance() time.Duration {
	now := time.Since(l.start)
	for len(l.resting) > 0 && l.resting[0].until <= now {
		l.stock.Need[l.resting[0].lane]--
		l.resting = l.resting[1:]
		l.stock.Free++
	}
	if l.options.Owner != nil {
		l.supply(now)
	}
	if l.stock.Scarce && l.waiting(ratelimit.Call) < LaneCount {
		l.stock.Space(now)
	}
	return now
}

// supply lets the owner change the number of slots. The limiter must have an owner.
func (l *Limiter) supply(now time.Duration) {
	l.options.Owner.Advance(now, &l.stock)
	l.stock.adjust()
}

func (l *Limiter) take(now time.Duration, lane ratelimit.Lane) *Slot {
	l.stock.Need[lane]++
	l.stock.Free--
	l.stock.use(now)
	if len(l.block) == 0 {
		l.block = make([]Slot, slotBlock)
	}
	s := &l.block[0]
	l.block = l.block[1:]
	s.queue, s.taken = &l.queues[lane], now
	return s
}

// Slot is one use of a slot. It is never reused, so that a second Release, however late, cannot affect another caller's
// request. Allocation in blocks makes this cheap.
type Slot struct {
	queue *waitQueue    // of its lane
	taken time.Duration // when the slot was taken; the constant released after Release
}

const released time.Duration = -1

// Release returns the slot. Only the first call has an effect.
func (s *Slot) Release(f ratelimit.Feedback) {
	l := s.queue.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := s.taken
	if taken == released {
		return
	}
	s.taken = released
	now := l.advance()
	if f.NotSent && f.StatusCode == 0 {
		l.refund(s.queue.lane)
	} else {
		l.resting = append(l.resting, rest{until: now + l.stock.window, lane: s.queue.lane})
		l.stock.observe(now - taken)
	}
	if f.StatusCode == http.StatusTooManyRequests {
		l.pause(now, f.RetryAfter, taken <= l.stock.pausedAt)
	}
	l.dispatch(now)
}

// refund frees a slot whose request was not sent.
func (l *Limiter) refund(lane ratelimit.Lane) {
	l.stock.Need[lane]--
	l.stock.Free++
	l.stock.next -= l.stock.interval
}

// dispatch gives waiters the slots that are available now and sets the timer for the next slot.
func (l *Limiter) dispatch(now time.Duration) {
	for top := l.waiting(Token); top < LaneCount; top = l.waiting(Token) {
		at, known := l.returned(now, 1-l.stock.Free)
		if !known { // a request in flight must be released first
			break
		}
		if at = l.pacedAt(now, top, 0, at); at > now {
			if l.armed != at {
				l.armed = at
				l.timer.Reset(at - now)
			}
			return
		}
		lane := l.nextLane(top)
		w := l.queues[lane].first()
		l.unqueue(w)
		w.slot = l.take(now, lane)
		close(w.ready)
		l.queues[lane].passed = 0
		for lower := lane + 1; lower < LaneCount; lower++ {
			l.queues[lower].passed++
		}
	}
	if l.armed != 0 {
		l.timer.Stop()
		l.armed = 0
	}
}

// waiting returns the highest lane that has a waiter, among top and the lanes below it; LaneCount if there is none.
func (l *Limiter) waiting(top ratelimit.Lane) ratelimit.Lane {
	for top < LaneCount && l.queues[top].Len() == 0 {
		top++
	}
	return top
}

// nextLane returns the lane that gets the next slot: top, the highest waiting lane, unless a lower lane was passed too often.
// The lower lane then gets the slot at the pace of top: at its own pace it might never get one.
func (l *Limiter) nextLane(top ratelimit.Lane) ratelimit.Lane {
	for lane := top + 1; lane < LaneCount; lane++ {
		if l.queues[lane].Len() > 0 && l.queues[lane].passed >= maxPassed {
			return lane
		}
	}
	return top
}

func (l *Limiter) unqueue(w *waiter) {
	l.stock.Need[w.queue.lane]--
	w.queue.Remove(w.place)
	w.queue, w.place = nil, nil
}

func (l *Limiter) refuse(w *waiter, err error) {
	l.unqueue(w)
	w.err = err
	close(w.ready)
}

// abandon ends the wait of a cancelled caller. If the caller got a slot at the same moment, the next waiter gets that slot.
func (l *Limiter) abandon(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.advance()
	switch {
	case w.queue != nil:
		l.unqueue(w)
	case w.slot != nil:
		w.slot.taken = released
		l.refund(w.slot.queue.lane)
	}
	l.dispatch(now)
}

// wake is called by the timer. An extra call is harmless.
func (l *Limiter) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = 0
	l.dispatch(l.advance())
}

// pacedAt returns when a lane gets a slot: at the time at, or later if its pace requires that. ahead counts the slots before that slot.
func (l *Limiter) pacedAt(now time.Duration, lane ratelimit.Lane, ahead int, at time.Duration) time.Duration {
	if !l.stock.paced && (!l.stock.Scarce || lane < ratelimit.Call) { // not spaced
		return at
	}
	first := at
	if ahead > 0 {
		first, _ = l.returned(now, 1-l.stock.Free)
	}
	first = max(l.stock.next, max(first, l.stock.PausedUntil)-l.stock.slack)
	return max(at, l.stock.PausedUntil, first+time.Duration(ahead)*l.stock.interval)
}

// returned computes when the given number of slots will have returned. known is false if that depends on slots that arrive or are
// used later, or on a request in flight. The slot of such a request is assumed to start its rest now.
func (l *Limiter) returned(now time.Duration, returns int) (at time.Duration, known bool) {
	at, known = now, true
	if busy := l.stock.Held - l.stock.Free; returns > busy {
		// Slots that are used from now on must return too, which takes more rounds of all slots.
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

// predict computes when the waiter at an index of a lane gets its slot, if no waiter gives up and none arrives in a higher lane.
func (l *Limiter) predict(now time.Duration, lane ratelimit.Lane, index int) time.Duration {
	above, top := 0, lane
	for higher := lane - 1; higher >= Token; higher-- {
		if n := l.queues[higher].Len(); n > 0 {
			above += n
			top = higher
		}
	}
	if own := maxPassed*(index+1) - min(l.queues[lane].passed, maxPassed); own < above { // this waiter gets a slot before the last one above it
		above, lane = own, top
	}
	ahead := index + above
	lacking := ahead + 1 - l.stock.Free
	at := now
	if lacking > 0 {
		if at, _ = l.returned(now, lacking); l.options.Owner != nil {
			at = min(at, l.options.Owner.Expect(now, &l.stock, lacking))
		}
	}
	return l.pacedAt(now, lane, ahead, at)
}
