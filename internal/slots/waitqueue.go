package slots

import (
	"iter"
	"math"
	"time"
)

// noDeadline is the deadline of a waiter whose context has none.
const noDeadline = time.Duration(math.MaxInt64)

// waiter is one waiting Acquire. The limiter's mutex guards its fields; slot or refused is set before ready is closed.
type waiter struct {
	ready      chan struct{}
	slot       *Slot
	refused    *Refused
	deadline   time.Duration // on the limiter's clock
	prev, next *waiter
	queue      *waitQueue // nil once removed
}

// waitQueue holds the waiters of one lane: first in, first out, with removal from the middle, all in O(1).
type waitQueue struct {
	head, tail *waiter
	n          int
	passed     int // slots that went to higher lanes since this lane last got one
}

// push appends w.
func (q *waitQueue) push(w *waiter) {
	if q.n == 0 {
		q.head, q.passed = w, 0
	} else {
		q.tail.next, w.prev = w, q.tail
	}
	q.tail, w.queue = w, q
	q.n++
}

// remove removes w from any position.
func (q *waitQueue) remove(w *waiter) {
	if w.prev == nil {
		q.head = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		q.tail = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.prev, w.next, w.queue = nil, nil, nil
	q.n--
}

// all yields the waiters in order; the one yielded may be removed.
func (q *waitQueue) all() iter.Seq[*waiter] {
	return func(yield func(*waiter) bool) {
		for w := q.head; w != nil; {
			next := w.next
			if !yield(w) {
				return
			}
			w = next
		}
	}
}

// timeRing holds the return times of resting slots, earliest first. They arrive in order, because every slot rests for the
// same time, and there are never more of them than slots.
type timeRing struct {
	at    []time.Duration
	first int
	n     int
}

// push appends t.
func (r *timeRing) push(t time.Duration) {
	r.at[r.index(r.n)] = t
	r.n++
}

// get returns the i-th earliest time.
func (r *timeRing) get(i int) time.Duration { return r.at[r.index(i)] }

// dropUntil removes the times up to now and returns how many there were.
func (r *timeRing) dropUntil(now time.Duration) int {
	dropped := 0
	for r.n > 0 && r.at[r.first] <= now {
		r.first = r.index(1)
		r.n--
		dropped++
	}
	return dropped
}

// index returns the index in at of the i-th time.
func (r *timeRing) index(i int) int {
	if i += r.first; i >= len(r.at) {
		i -= len(r.at)
	}
	return i
}
